"""Skills: folders with a `SKILL.md`, or a file of the name that the user gives, listed by
name and description, and read when they are needed.

Those of a workspace are used only when the user trusts the folder.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct

from steersman.identity.front_matter import parse
from steersman.identity.places import SKILL_META_FILE, file_name, identity, places, read_text
from steersman.identity.settings import config_file
from steersman.records.counting import counted
from steersman.records.errors import UsageProblem
from steersman.records.patterns import pattern
from steersman.records.protection import inside
from steersman.store.contract import Store

FILE = "SKILL.md"
WORKSPACE = (".steersman/skills", ".claude/skills", ".agents/skills")
NAME = pattern(r"[a-z0-9][a-z0-9_-]{0,63}")
MOST_SKILLS, MOST_FILES = 200, 60
MOST_TEXT, MOST_LISTING, LONG_DESCRIPTION = 64_000, 8_000, 400
_MENTION = pattern(r"(?<![\w$\\{])\$([a-z0-9][a-z0-9_-]{0,63})(?![\w-])")


class Skill(Struct, frozen=True):
    """A skill; `source` is the place its folder was found in, `file` what says how it is done."""

    name: str
    description: str
    folder: str
    source: str
    file: str = FILE


class Shelf(Struct, frozen=True):
    """The skills there are, by name, and what was wrong with others."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[str, ...] = ()

    def get(self, name: str) -> Skill:
        """A skill by its name."""
        for skill in self.skills:
            if skill.name == name:
                return skill
        known = ", ".join(skill.name for skill in self.skills[:20]) or "none"
        raise UsageProblem(
            f"There is no skill “{name}”.",
            f"There are: {known}.",
            "`steer skills list` shows more.",
        )


def user_folder(environ: Mapping[str, str]) -> str:
    """Where the user's own skills are, and where others are installed."""
    return str(config_file(environ).parent / "skills")


def folders(workspace: str, environ: Mapping[str, str], *, trusted: bool) -> list[tuple[str, str]]:
    """The folders with skills, the nearest first, each with the folder it must really be in."""
    home = environ.get("HOME") or str(Path.home())
    near = [(os.path.join(workspace, name), workspace) for name in WORKSPACE] if trusted else []
    own = (user_folder(environ), os.path.join(home, ".agents", "skills"))
    told = (*places(environ, workspace, home).skill_folders, *own)
    return [*near, *((folder, "") for folder in told)]


def meta_file(environ: Mapping[str, str], kept: str = "") -> tuple[str, str]:
    """The file that makes a folder a skill, and what is wrong with the name that was given.

    `kept` is what a thread was begun with.
    """
    name, problem = file_name(SKILL_META_FILE, kept or environ.get(SKILL_META_FILE, ""))
    return name or FILE, problem


def find(workspace: str, environ: Mapping[str, str], *, trusted: bool, kept: str = "") -> Shelf:
    """Every skill that can be used in a workspace; the nearest of a name counts."""
    found: dict[str, Skill] = {}
    file, problem = meta_file(environ, kept)
    problems = [problem] if problem else []
    seen: set[object] = set()
    for place, within in folders(os.path.realpath(workspace), environ, trusted=trusted):
        for folder in _inside(place, file):
            if identity(folder) in seen or len(found) >= MOST_SKILLS:
                continue
            seen.add(identity(folder))
            if within and not inside(os.path.realpath(folder), within):
                problems.append(f"The skill in {folder} is not used: it leads out of the folder.")
                continue
            skill = read_skill(folder, place, file)
            if isinstance(skill, str):
                problems.append(skill)
            elif skill.name in found:
                first = found[skill.name].folder
                problems.append(f"The skill in {folder} is hidden by the one in {first}.")
            else:
                found[skill.name] = skill
    skills = tuple(sorted(found.values(), key=lambda skill: skill.name))
    return Shelf(skills, tuple(problems))


def _inside(place: str, file: str) -> list[str]:
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return []
    below = [os.path.join(place, name) for name in names if not name.startswith(".")]
    return [folder for folder in below if os.path.isfile(os.path.join(folder, file))]


def read_skill(folder: str, source: str = "", file: str = FILE) -> Skill | str:
    """The skill in a folder, or a sentence on what is wrong with it."""
    path = os.path.join(folder, file)
    if not inside(os.path.realpath(path), os.path.realpath(folder)):
        return f"The skill in {folder} is not used: its {file} leads out of it."
    try:
        text, _ = read_text(path, MOST_TEXT)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}."
    fields, body = parse(text)
    name = fields.get("name") or os.path.basename(os.path.realpath(folder)).lower()
    if NAME.fullmatch(name) is None:
        return (
            f"The skill in {folder} has no valid name: “{name[:80]}” should be at most 64 "
            "lowercase letters, digits, - and _."
        )
    described = fields.get("description") or next(iter(body.strip().splitlines()), "").lstrip("# ")
    if not described:
        return f"The skill in {folder} has no description: add one at the top of {file}."
    found = source or os.path.dirname(folder)
    return Skill(name, " ".join(described.split()), folder, found, file)


def listing(shelf: Shelf, disabled: Collection[str] = ()) -> str:
    """The skills as a part of a prompt; the same skills always give the same bytes."""
    lines: list[str] = []
    left = MOST_LISTING
    usable = [skill for skill in shelf.skills if skill.name not in disabled]
    for skill in usable:
        line = f"- {skill.name}: {_cut(skill.description)}"
        left -= len(line) + 1
        if left < 0:
            lines.append(f"- and {len(usable) - len(lines)} more that are not listed here")
            break
        lines.append(line)
    if not lines:
        return ""
    return "\n\n".join([OPENING, "\n".join(lines)])


OPENING = (
    "# Skills\n\n"
    "Ways of working that were written down for certain kinds of tasks. When a task fits one, read "
    "it with read_skill before you begin, and follow it unless the user says otherwise."
)


def _cut(text: str) -> str:
    return text if len(text) <= LONG_DESCRIPTION else f"{text[: LONG_DESCRIPTION - 1]}…"


def mentioned(text: str, shelf: Shelf, disabled: Collection[str] = ()) -> list[Skill]:
    """The skills that a person named as `$name`, each once, in order."""
    names = dict.fromkeys(_MENTION.findall(text))
    known = {skill.name: skill for skill in shelf.skills if skill.name not in disabled}
    return [known[name] for name in names if name in known]


def load(skill: Skill, named: str = FILE) -> str:
    """A file of a skill as the model reads it; of `SKILL.md`, with the names of the other files."""
    file = skill.file if named == FILE else named
    top = os.path.realpath(skill.folder)
    path = "" if "\0" in file else os.path.realpath(os.path.join(top, file))
    if not inside(path, top):
        raise UsageProblem(
            f"{file} is not a file of the skill {skill.name}.",
            try_this="Name a file below the skill's folder.",
        )
    try:
        text, size = read_text(path, MOST_TEXT)
    except OSError as error:
        raise UsageProblem(
            f"{file} of the skill {skill.name} cannot be read.",
            error.strerror or str(error),
            f"Its files: {', '.join(contents(skill)) or 'none'}.",
        ) from error
    if size > MOST_TEXT:
        text += f"\n[Steersman: cut here; the file has {counted(size, 'byte')}.]"
    if file != skill.file:
        return text
    others = [name for name in contents(skill) if name != file]
    told = f"\n\nFiles of this skill: {', '.join(others)}" if others else ""
    return f'<skill name="{skill.name}">\n{parse(text)[1].strip()}{told}\n</skill>'


def contents(skill: Skill) -> list[str]:
    """The names of a skill's files, at most some dozens."""
    found: list[str] = []
    for folder, below, names in os.walk(skill.folder):
        below[:] = sorted(name for name in below if not name.startswith("."))
        found += [os.path.relpath(os.path.join(folder, name), skill.folder) for name in names]
        if len(found) > MOST_FILES:
            break
    return sorted(found)[:MOST_FILES]


# Enabled or not: kept in the store

SCOPE = "skills"


def disabled(store: Store, shelf: Shelf) -> frozenset[str]:
    """The skills that the user disabled."""
    names = (skill.name for skill in shelf.skills)
    return frozenset(name for name in names if store.setting(SCOPE, name) == "disabled")


def switch(store: Store, name: str, *, on: bool) -> None:
    """Switch a skill on or off, wherever it is found."""
    store.remember(SCOPE, name, None if on else "disabled")
