"""The tools of files in a folder: learned before they are listed, and one of them checked."""

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from steersman.host.alone import alone
from steersman.identity.extensions import find, read, unread
from steersman.operations.tools.run_extension import spec
from steersman.records.dialogue import ToolSpec
from steersman.records.errors import UsageProblem
from steersman.records.extensions import Extension
from steersman.threads.extensions import clash, learned, listed, usable_of

if TYPE_CHECKING:
    from steersman.host.application import Host


class Checked(Struct, frozen=True):
    """What a file is as a tool, and what is wrong with it; it can be used if nothing is."""

    tool: Extension | None
    spec: ToolSpec | None
    problems: tuple[str, ...]


class Origins(Struct, frozen=True):
    """The files that tools of a folder come from, by names, and why others are not used."""

    files: Mapping[str, str]
    problems: tuple[str, ...]


async def learn(host: "Host", folder: str, environ: Mapping[str, str]) -> Origins:
    """Know every tool file of a folder; those that nobody knows yet are run once, in a sandbox."""
    root = os.path.realpath(folder)
    trusted = (await asyncio.to_thread(host.permissions.folder, root)).loads
    found = await asyncio.to_thread(lambda: find(root, environ, trusted=trusted))
    if not found.files:
        return Origins({}, found.problems)
    async with alone(root, environ, host.permissions) as (workspace, guardian):
        known = await learned(found.files, workspace, guardian)
    files = {one.name: path for path, one in listed(found, workspace.machine.state)}
    return Origins(files, (*found.problems, *usable_of(known)[1]))


async def check(host: "Host", path: str, folder: str, environ: Mapping[str, str]) -> Checked:
    """Run a file in a sandbox to hear what it is, and say everything that is wrong with it."""
    where = os.path.abspath(os.path.expanduser(path))
    try:
        file = await asyncio.to_thread(read, where)
    except FileNotFoundError as error:
        raise UsageProblem(f"There is no file {path}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"{path} cannot be read.", unread(error)) from error
    others = await learn(host, folder, environ)
    async with alone(os.path.realpath(folder), environ, host.permissions) as (workspace, guardian):
        ((_, known),) = await learned([file], workspace, guardian, afresh=True)
    problems, tool = known.problems, known.tool
    if not where.endswith(".py"):
        problems = ("Its name does not end with .py, so it would not be found.", *problems)
    if tool is None:
        return Checked(None, None, problems)
    taken = {name: one for name, one in others.files.items() if one != where}
    wrong = clash(tool.name, taken)
    return Checked(tool, spec(tool), (*problems, wrong) if wrong else problems)
