"""A workspace with a real gate, a real log, real servers and one loop for as long as it stands."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from steersman.governance.approvals import Desk
from steersman.governance.gate import Gate
from steersman.governance.policy import Circumstances
from steersman.operations.admission import Refused
from steersman.operations.code.serena_home import environment, prepare_home
from steersman.operations.journal.journal import Journal
from steersman.operations.journal.objects import Objects
from steersman.operations.mcp.cache import Cache
from steersman.operations.mcp.connection import Connection
from steersman.operations.mcp.eras import Eras
from steersman.operations.mcp.gateway import Gateway
from steersman.operations.mcp.starting import Ground
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.companions import Companions
from steersman.operations.running.guardian import Guardian
from steersman.operations.tool import Bench
from steersman.operations.workspace import Workspace
from steersman.records.action import Action, Read, Search, Verdict
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Wishes
from steersman.records.message import Message
from steersman.records.profile import Profile
from tests import provision
from tests.store.logs import a_lane, stored

REPOS = Path(__file__).parent.parent / "repos"
PATIENCE = 150
T = TypeVar("T")


class Station:
    """One workspace: what stands in it, who may be asked about it, and what was logged."""

    def __init__(self, root: Path, state: Path, servers: Sequence[Server], lane: Any) -> None:
        self.root = os.path.realpath(root)
        self.state = state
        self.lane = lane
        self.environ = dict(os.environ)
        self.links: dict[str, Connection] = {}
        self._runner = asyncio.Runner()
        self._workspace = Workspace.open(root)
        self.journal = Journal(self.root, Objects(state / "objects"))
        self.gate = Gate(Circumstances(self.root, approvals="never"), Desk(attended=False))
        self._guardian = Guardian()
        self._runs = CommandRuns(self.journal, str(state))
        self.companions = Companions(
            self._guardian,
            self.root,
            lambda environ: self._runs.beside(Profile(files="read", environ=environ)),
        )
        self.gateway = Gateway(servers, self.connect, Cache(None))

    def connect(self, server: Server) -> Connection:
        """A way to a server that is not started yet."""
        made = Connection(
            server, self.companions, Eras(None), Wishes(), Ground(self.root, self.environ)
        )
        self.links[server.name] = made
        return made

    def kill(self, server: str) -> None:
        """End a server as a power cut would."""
        pid = self.links[server].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    def bench(self, *granted: Action, secret: str = "") -> Bench:
        """Leave to look at the workspace, or for what is named; more must be asked for."""
        actions = granted or (Search(self.root, ""),)
        files = [Path(top, name) for top, _, names in os.walk(self.root) for name in names]
        reads = [Read(str(file)) for file in files] if not granted else []

        async def admit(wanted: Sequence[Action]) -> Any:
            answer = await self.gate.admit("call_1", "a_tool", wanted, self.lane)
            if isinstance(answer, Verdict):
                raise Refused(f"Denied: {answer.reason}.", f"Rule: {answer.rule}.")
            return answer

        async def record(wanted: Sequence[Action]) -> None:
            return None

        return Bench(
            workspace=self._workspace.granted((*actions, *reads), secret),
            journal=self.journal,
            lane=self.lane,
            call="call_1",
            progress=lambda text: None,
            admit=admit,
            record=record,
        )

    def path(self, name: str) -> str:
        """The real path of a file."""
        return os.path.join(self.root, name)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something; servers that it started stay."""
        return self._runner.run(asyncio.wait_for(work, PATIENCE))

    def logged(self) -> list[Message]:
        """What the log has."""
        return stored(self.lane.log)

    def close(self) -> None:
        """End everything."""

        async def ending() -> None:
            await self.gateway.close()
            await self.companions.close()
            await self._runs.close()

        self._runner.run(ending())
        self._runner.close()
        self._guardian.close()


@contextmanager
def a_station(
    folder: Path, *, repo: str | Path = "", servers: Sequence[Server] = ()
) -> Iterator[Station]:
    """A station over a copy of a repository: one of `repos/`, or any folder."""
    source = REPOS / repo if isinstance(repo, str) else repo
    root = folder / "ws"
    if repo:
        shutil.copytree(source, root, symlinks=True)
    else:
        root.mkdir()
    with ExitStack() as stack:
        station = Station(root, folder / "state", servers, stack.enter_context(a_lane()))
        stack.callback(station.close)
        yield station


def serena(folder: Path, name: str = "serena") -> Server:
    """A real Serena for the workspace in a folder, with a home of its own in it."""
    home = folder / "serena-home"
    prepare_home(str(home), ty=str(Path(sys.prefix, "bin", "ty")))
    fetched = provision.serena_home() / "language_servers"
    if fetched.is_dir() and not (home / "language_servers").exists():
        shutil.copytree(fetched, home / "language_servers", symlinks=True)
    return Server(
        name=name,
        transport="stdio",
        command=str(provision.serena()),
        arguments=(
            "start-mcp-server", "--project", str(folder / "ws"), "--context", "ide",
            "--agent-interface", "tools",
        ),
        environ={**provision.serena_environ(), **environment(str(home))},
        timeout=120,
    )  # fmt: skip
