"""A workspace with real companions, and backends asked with the leave a tool would have."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.running.command_run import CommandRun
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.companions import Companions
from steersman.operations.running.guardian import Guardian
from steersman.operations.workspace import Workspace
from steersman.records.action import Action, Read, Search
from steersman.records.errors import ToolProblem
from steersman.records.profile import Profile

REPOS = Path(__file__).parent.parent / "repos"
PATIENCE = 90
T = TypeVar("T")


class Yard:
    """A folder, the programs beside it, and leave to search it."""

    def __init__(
        self, folder: Path, repo: str = "", secret: str = "", *, sandbox: bool = True
    ) -> None:
        self.root = Path(os.path.realpath(folder)) / "ws"
        self._state = folder / "state"
        self._secret = secret
        self._sandbox = sandbox
        if repo:
            shutil.copytree(REPOS / repo, self.root)
        else:
            self.root.mkdir()

    def path(self, name: str) -> str:
        """The real path of a file."""
        return str(self.root / name)

    def bench(self, *granted: Action) -> Any:
        """Leave to search the workspace, or for what is named."""
        workspace = Workspace.open(self.root)
        actions = granted or (Search(workspace.root, ""), Read(workspace.root))
        return SimpleNamespace(workspace=workspace.granted(actions, self._secret))

    def run(self, work: Callable[[Companions], Awaitable[T]]) -> T:
        """Do something with companions; afterwards none of them is left."""
        return asyncio.run(asyncio.wait_for(self._run(work), PATIENCE))

    async def _run(self, work: Callable[[Companions], Awaitable[T]]) -> T:
        guardian = Guardian()
        runs = CommandRuns(Journal(str(self.root), Objects(self._state / "o")), str(self._state))

        async def confine(environ: Mapping[str, str]) -> CommandRun:
            if not self._sandbox:
                raise ToolProblem("There is no sandbox here.")
            return await runs.beside(Profile(files="read", environ=environ))

        companions = Companions(guardian, str(self.root), confine)
        try:
            return await work(companions)
        finally:
            await companions.close()
            await runs.close()
            guardian.close()
