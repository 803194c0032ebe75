"""The tools of files that there are in a folder: what each is, and those that a thread has."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steersman.identity.extensions import Found
from steersman.operations.extensions import ERRORS, LIMITS, Kept, learn
from steersman.operations.running.guardian import Guardian
from steersman.operations.running.processes import Processes
from steersman.operations.tools.run_extension import RunExtension, spec
from steersman.operations.tools.talking import Talking
from steersman.records.dialogue import ToolSpec
from steersman.records.errors import SteersmanError
from steersman.records.extensions import Extension, Learned, ToolFile
from steersman.records.message import Audit
from steersman.records.tool_names import ALSO, OURS

if TYPE_CHECKING:
    from steersman.threads.resources import WorkspaceResources
    from steersman.threads.systems import Setup, ThreadSystems

Known = Sequence[tuple[ToolFile, Learned]]


class Extensions:
    """The tools of files that one thread has; their processes are its own."""

    def __init__(
        self, found: Found, known: Known, thread: str, systems: "ThreadSystems", setup: "Setup"
    ) -> None:
        usable, problems = usable_of(known)
        self.audits = tuple(Audit("settings", one) for one in (*found.problems, *problems))
        self._processes = _processes(setup.state, setup.resources.guardian, thread)
        runner = Talking(setup.environ, self._processes, systems.runs)
        self.tools = [RunExtension(tool, file, runner) for file, tool in usable]

    async def close(self) -> None:
        """End every tool that runs."""
        await self._processes.close()


def _processes(state: str, guardian: Guardian, owner: str) -> Processes:
    """Processes of their own: nobody sees tools among the jobs, and less is allowed them."""
    spool = Path(state, "output", owner, "tools")
    return Processes(spool, guardian, max_output=ERRORS, limits=LIMITS)


async def learned(
    files: Iterable[ToolFile],
    workspace: "WorkspaceResources",
    guardian: Guardian,
    *,
    afresh: bool = False,
) -> Known:
    """What files are; those that nobody knows yet are run once, in a sandbox, to hear it."""
    state, terms, known = workspace.machine.state, workspace.terms, []
    kept, processes = Kept(state), _processes(state, guardian, "learned")
    try:
        for file in files:
            found = None if afresh else await asyncio.to_thread(kept.of, file)
            if found is None:
                try:
                    found = await learn(
                        file, terms.root, terms.environ, processes, workspace.beside
                    )
                    await asyncio.to_thread(kept.keep, file, found)
                except (SteersmanError, OSError) as error:
                    found = Learned(problems=(f"It could not be run: {error}",))
            known.append((file, found))
    finally:
        await processes.close()
    return known


def usable_of(known: Known) -> tuple[list[tuple[ToolFile, Extension]], list[str]]:
    """The tools that can be used, and why others cannot; of two with a name, the first counts."""
    taken: dict[str, str] = {}
    usable: list[tuple[ToolFile, Extension]] = []
    problems: list[str] = []
    for file, found in known:
        wrong = " ".join(found.problems)
        if found.tool is not None:
            wrong = clash(found.tool.name, taken)
            if not wrong:
                taken[found.tool.name] = file.path
                usable.append((file, found.tool))
        if wrong:
            problems.append(f"{file.path} is not used: {wrong}")
    return usable, problems


def clash(name: str, taken: Mapping[str, str]) -> str:
    """What else has the name of a tool; empty when nothing has."""
    if name in OURS or name in ALSO:
        return f"{name} is a tool of Steersman."
    return f"{taken[name]} has a tool {name} already." if name in taken else ""


def listed(found: Found, state: str) -> list[tuple[str, ToolSpec]]:
    """The tools that are known by now, each with its file, and nothing run."""
    kept = Kept(state)
    known = [(file, one) for file in found.files if (one := kept.of(file)) is not None]
    return [(file.path, spec(tool)) for file, tool in usable_of(known)[0]]
