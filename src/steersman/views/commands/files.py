"""Commands that people write: Markdown files in `.steersman/commands`, `.claude/commands` and in
the user's own folders. Their text is said to the model; they never run anything themselves.

Those of a workspace are used only when the user trusts the folder.
"""

import asyncio
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from steersman.host import models
from steersman.host.documents import read_document
from steersman.host.settings import own_file
from steersman.records.errors import SteersmanError
from steersman.records.protection import inside
from steersman.views.commands.registry import Command
from steersman.views.commands.stage import Stage
from steersman.views.commands.template import fill
from steersman.views.commands.turns import in_one_turn

WORKSPACE = (".steersman/commands", ".claude/commands")
MOST, DEEPEST, MOST_TEXT = 300, 6, 64_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
UNUSED = ("allowed-tools", "disallowed-tools")


class Written(Struct, frozen=True):
    """The commands that were found, and what was wrong with others."""

    commands: tuple[Command, ...] = ()
    problems: tuple[str, ...] = ()


def folders(workspace: str, environ: Mapping[str, str], *, trusted: bool) -> list[tuple[str, str]]:
    """Where commands are looked for, the nearest first, each with where it must really be."""
    near = [(os.path.join(workspace, name), workspace) for name in WORKSPACE] if trusted else []
    home = environ.get("HOME") or str(Path.home())
    own = (str(own_file(environ, "commands")), os.path.join(home, ".claude/commands"))
    return [*near, *((folder, "") for folder in own)]


def read_commands(workspace: str, environ: Mapping[str, str], *, trusted: bool) -> Written:
    """Every written command; the nearest of a name counts."""
    found: dict[str, Command] = {}
    problems: list[str] = []
    for folder, within in folders(os.path.realpath(workspace), environ, trusted=trusted):
        for path in _files(folder):
            if len(found) >= MOST:
                problems.append(f"There are more than {MOST} commands; {path} is not used.")
                return Written(tuple(found.values()), tuple(problems))
            one = read_command(path, folder, within)
            if isinstance(one, str):
                problems.append(one)
            elif one.name in found:
                problems.append(f"{path} is hidden by {found[one.name].source}.")
            else:
                found[one.name] = one
    return Written(tuple(sorted(found.values(), key=lambda one: one.name)), tuple(problems))


def _files(folder: str) -> Iterator[str]:
    """The Markdown files below a folder, in order; links to folders are not followed."""
    for place, below, names in os.walk(folder):
        deep = os.path.relpath(place, folder).count(os.sep) + 1
        below[:] = sorted(n for n in below if not n.startswith(".")) if deep < DEEPEST else []
        for name in sorted(names):
            if name.endswith(".md") and not name.startswith("."):
                yield os.path.join(place, name)


def read_command(path: str, folder: str, within: str = "") -> Command | str:
    """The command in a file, or a sentence on what is wrong with it; named by its subfolders."""
    if within and not inside(os.path.realpath(path), within):
        return f"{path} is not used: it leads out of the folder."
    parts = Path(os.path.relpath(path, folder)).with_suffix("").parts
    if not all(NAME.fullmatch(part) for part in parts):
        return f"{path} is not used: names are letters, digits, - and _."
    try:
        document = read_document(path, MOST_TEXT)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}."
    if document.size > MOST_TEXT:
        return f"{path} is not used: it has more than {MOST_TEXT:,} bytes."
    fields, body = document.fields, document.body
    if not body.strip():
        return f"{path} is not used: there is nothing in it."
    first = body.strip().splitlines()[0].lstrip("# ")
    about = " ".join((fields.get("description") or first).split())
    return Command(
        name=":".join(parts),
        about=about if len(about) <= 200 else f"{about[:199]}…",
        usage=" ".join(fields.get("argument-hint", "").split())[:80],
        more=f"Written in {path}.",
        run=_Saying(body, fields),
        source=path,
    )


class _Saying:
    """What running a written command does: its text is said, with the user's words in it."""

    def __init__(self, body: str, fields: Mapping[str, str]) -> None:
        self._body = body
        self._model = fields.get("model", "")
        self._unused = [name for name in UNUSED if name in fields]

    async def __call__(self, stage: Stage, arguments: str) -> None:
        """Say it."""
        filled = fill(self._body, arguments)
        for name in self._unused:
            stage.tell(f"`{name}` is not used: what is allowed is decided by you, not by a file.")
        if filled.commands:
            listed = ", ".join(filled.commands[:5])
            stage.tell(f"Not run, only shown to the model: {listed}.")
        model = await self._usable_model(stage)
        if model:
            await in_one_turn(stage, filled.text, model=model)
        else:
            await stage.say(filled.text)

    async def _usable_model(self, stage: Stage) -> str:
        """The model that the file names; empty if it names none, or one that cannot be used."""
        settings = stage.seat.settings
        if self._model in ("", "inherit"):
            return ""
        model = models.full_name(self._model, settings)
        try:
            await asyncio.to_thread(models.check, model, settings, stage.environ)
        except SteersmanError as problem:
            unused = f"The command wants {model}, which cannot be used; the current model is used."
            stage.tell(f"{unused} {problem.facts}", problem.try_this)
            return ""
        return model
