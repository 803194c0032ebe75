"""Roles: agents that people describe in Markdown files, with a name, tools and a model in front.

They are read, checked and listed. Those of a workspace count only when the user trusts the folder.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from steersman.identity.front_matter import parse
from steersman.identity.places import read_text
from steersman.identity.settings import config_file
from steersman.records.errors import UsageProblem
from steersman.records.protection import inside
from steersman.records.tool_names import MCP, chosen

WORKSPACE = (".steersman/agents", ".claude/agents")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
MOST, MOST_TEXT = 200, 64_000


class Role(Struct, frozen=True):
    """A role: when it is used, and how it works; without `tools` it has those of whoever calls it.

    `model` is empty for the same model.
    """

    name: str
    description: str
    prompt: str
    source: str
    tools: tuple[str, ...] = ()
    model: str = ""


class Roles(Struct, frozen=True):
    """The roles there are, by name, and what was wrong with others."""

    roles: tuple[Role, ...] = ()
    problems: tuple[str, ...] = ()


def find(workspace: str, environ: Mapping[str, str], *, trusted: bool) -> Roles:
    """Every role for a workspace; the nearest of a name counts."""
    root = os.path.realpath(workspace)
    home = environ.get("HOME") or str(Path.home())
    own = (str(config_file(environ).with_name("agents")), os.path.join(home, ".claude", "agents"))
    near = [(os.path.join(root, name), root) for name in WORKSPACE] if trusted else []
    found: dict[str, Role] = {}
    problems: list[str] = []
    for folder, within in (*near, *((one, "") for one in own)):
        for path in _files(folder):
            if within and not inside(os.path.realpath(path), within):
                problems.append(f"{path} is not used: it leads out of the folder.")
                continue
            role, wrong = read_role(path)
            problems += [f"{path}: {one}" for one in wrong]
            if role is None:
                continue
            if role.name in found:
                problems.append(f"{path} is hidden by {found[role.name].source}.")
            elif len(found) < MOST:
                found[role.name] = role
    return Roles(tuple(sorted(found.values(), key=lambda one: one.name)), tuple(problems))


def read_role(path: str) -> tuple[Role | None, list[str]]:
    """The role of a file, if it is one, and what is wrong with it."""
    try:
        text, size = read_text(path, MOST_TEXT)
    except OSError as error:
        return None, [f"It cannot be read: {error.strerror or error}."]
    if size > MOST_TEXT:
        return None, [f"It is longer than {MOST_TEXT:,} bytes."]
    fields, body = parse(text)
    name = fields.get("name") or Path(path).stem
    about = " ".join(fields.get("description", "").split())
    checks = (
        (bool(fields), "It has no front matter: lines between `---` with name and description."),
        (not fields or bool(about), "It has no `description`: it says when the role is used."),
        (NAME.fullmatch(name) is not None, f"“{name[:60]}” is no name: a-z, 0-9, - and _."),
        (bool(body.strip()), "It has no text below its front matter: that is how the role works."),
    )
    if wrong := [sentence for right, sentence in checks if not right]:
        return None, wrong
    tools, wrong = _tools(fields.get("tools", ""))
    model = fields.get("model", "")
    return Role(name, about, body.strip(), path, tools, "" if model == "inherit" else model), wrong


def _tools(listed: str) -> tuple[tuple[str, ...], list[str]]:
    """The tools of a list by our names; those of MCP servers by theirs."""
    found: list[str] = []
    wrong: list[str] = []
    for word in re.split(r"[,\s\[\]\"']+", listed):
        try:
            found += [word.removeprefix(MCP)] if "__" in word else chosen([word])
        except UsageProblem as problem:
            wrong.append(problem.what)
    return tuple(dict.fromkeys(found)), wrong


def _files(folder: str) -> Iterator[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    yield from (os.path.join(folder, name) for name in names if name.endswith(".md"))
