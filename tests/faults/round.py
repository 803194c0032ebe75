"""Plays a round: real processes on a real store, struck as the plan says, then left to settle."""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from tempfile import mkdtemp
from typing import Any

import msgspec

from steersman.host import Host
from steersman.host.attached import Attached
from steersman.records.errors import SteersmanError, TooLate, UsageProblem
from steersman.records.message import ConfirmResponse
from steersman.records.settings import Settings
from tests.faults.checker import Evidence, RequestRow, Written
from tests.faults.plan import LEASE, Fault, Plan, script
from tests.faults.sender import Note

ROOT = Path(__file__).parent.parent.parent
INSIDE = Path(__file__).with_name("inside")
REST = 60.0  # seconds in which a thread must come to rest after the last blow
_WITNESS = (
    "CREATE TABLE witness (thread TEXT NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL, "
    "fence BIGINT NOT NULL, process TEXT NOT NULL)"
)
Strike = Callable[[Fault], None]


class Ground:
    """Where a round takes place: a folder, an environment, and the database in it.

    `url` is what the processes use; empty means SQLite in the data folder. `strike` deals the blows
    that only the database's keeper can. `direct` is the database without what may be in between.
    """

    def __init__(
        self, folder: Path, url: str = "", direct: str = "", strike: Strike | None = None
    ) -> None:
        self.folder = folder
        self.home = folder / "data"
        self.workspace = folder / "work"
        self.effects = folder / "effects"
        self.token = token_hex(8)
        self.started: list[subprocess.Popen[bytes]] = []
        self.strike = strike
        self._direct = direct or url
        self.workspace.mkdir()
        self.effects.touch()
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "STEERSMAN_HOME": str(self.home),
            "STEERSMAN_COMMAND_WAIT": "600",
            "XDG_CONFIG_HOME": str(folder / "config"),
            "STEERSMAN_STORE": url,
            "STEERSMAN_LEASE_SECONDS": str(LEASE),
            "PYTHONPATH": os.pathsep.join(map(str, (INSIDE, ROOT, ROOT / "src"))),
            "FAULTS_ROUND": self.token,
            "FAULTS_BREAK": "",
        }

    def rows(self, query: str, *values: Any) -> list[Any]:
        """What the database says, past the product."""
        if self._direct:
            import psycopg

            with psycopg.connect(self._direct, options="-c search_path=steersman") as database:
                found = database.execute(query.replace("?", "%s"), values)
                return found.fetchall() if found.description else []
        database = sqlite3.connect(self.home / "steersman.db", timeout=30)
        try:
            found = database.execute(query, values)
            database.commit()
            return found.fetchall()
        finally:
            database.close()

    def processes(self) -> Iterator[int]:
        """The processes of this round that live."""
        mark = f"FAULTS_ROUND={self.token}".encode()
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                    yield int(entry.name)

    def clear(self) -> None:
        """End what is left of the round's processes."""
        until = time.monotonic() + 30
        while left := list(self.processes()):
            assert time.monotonic() < until, f"processes {left} do not end"
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        for process in self.started:
            process.wait()


@contextmanager
def folder_for(plan: Plan) -> Iterator[Path]:
    """A folder that stays when the round fails."""
    folder = Path(mkdtemp(prefix=f"steersman-round-{plan.store}-{plan.seed}-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def play(plan: Plan, ground: Ground, broken: str = "") -> Evidence:
    """A whole round, from the first word to the evidence."""
    ground.environ["FAULTS_BREAK"] = broken
    model = ground.folder / "script.json"
    model.write_text(json.dumps(script(str(ground.effects))))
    try:
        thread = asyncio.run(_begin(ground, f"scripted:{model}"))
        senders = _senders(plan, ground, thread)
        Striking(plan, ground, thread, senders).through()
        for sender in senders:
            sender.wait(REST)
        restless = asyncio.run(_settle(ground, thread)) or _lingering(ground)
        if restless:
            _inspect(ground)
        # Looking at a thread closes what a process that died last has left open.
        _start(ground, "replay", "steersman", "replay", thread).wait(REST)
        evidence = _collect(plan, ground, thread, restless)
        (ground.folder / "evidence.json").write_bytes(msgspec.json.encode(evidence))
        return evidence
    finally:
        ground.clear()


def _lingering(ground: Ground) -> str:
    """Which processes have not ended although nothing is left to do."""
    until = time.monotonic() + REST / 2
    while left := list(ground.processes()):
        if time.monotonic() > until:
            return f"processes do not end: {'; '.join(map(_described, left))}"
        time.sleep(0.05)
    return ""


def _described(pid: int) -> str:
    """What a process is, and what it waits for."""
    told = [str(pid)]
    for name in ("cmdline", "wchan", "stat"):
        with suppress(OSError):
            told.append(Path(f"/proc/{pid}/{name}").read_text().replace("\0", " ")[:300])
    return " ".join(told)


def _inspect(ground: Ground) -> None:
    """Let every process say what it waits for; their logs have it."""
    for pid in ground.processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGUSR2)
    time.sleep(1)


async def _begin(ground: Ground, model: str) -> str:
    """A thread that a process in the background runs, and a table for who writes."""
    async with Host.at(ground.home, ground.environ) as host:
        ground.rows(_WITNESS)
        settings = Settings(model=model, command_wait=600)
        handle = await host.start_background(str(ground.workspace), "word-first", settings)
        return handle.id


def _senders(plan: Plan, ground: Ground, thread: str) -> list["subprocess.Popen[bytes]"]:
    started = []
    for number, deeds in enumerate(plan.senders):
        notes = str(ground.folder / f"notes-{number}")
        words = msgspec.json.encode(deeds).decode()
        program = ("tests.faults.sender", thread, notes, words)
        started.append(_start(ground, f"sender-{number}", *program))
    return started


def _start(ground: Ground, log: str, *program: str) -> "subprocess.Popen[bytes]":
    """A process of the round; it ends with it at the latest."""
    with open(ground.folder / f"{log}.log", "ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", *program],
            env=ground.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
    ground.started.append(process)
    return process


class Striking:
    """Deals the blows of a plan."""

    def __init__(
        self, plan: Plan, ground: Ground, thread: str, senders: list["subprocess.Popen[bytes]"]
    ) -> None:
        self._plan = plan
        self._ground = ground
        self._thread = thread
        self._senders = senders
        self._asleep: list[tuple[float, int]] = []
        self._rivals: list[float] = []

    def through(self) -> None:
        """Deal all of them, each when its time has come or nothing more will."""
        for fault in self._plan.faults:
            self._await(fault.head)
            time.sleep(fault.delay)
            self._deal(fault)
        while self._asleep or self._rivals:
            self._wake()
            time.sleep(0.02)

    def _await(self, head: int) -> None:
        until = time.monotonic() + 6
        while time.monotonic() < until:
            self._wake()
            (found,) = self._ground.rows("SELECT head FROM threads WHERE id = ?", self._thread)
            if found[0] >= head:
                return
            if not (self._asleep or self._rivals) and all(
                sender.poll() is not None for sender in self._senders
            ):
                return
            time.sleep(0.02)

    def _deal(self, fault: Fault) -> None:
        match fault.blow:
            case "kill owner":
                self._signal(self._owner(), signal.SIGKILL)
            case "stop owner":
                self._stop(self._owner(), fault.seconds)
                self._rivals.append(time.monotonic() + LEASE)
            case "kill sender":
                self._signal(self._sender(fault), signal.SIGKILL)
            case "stop sender":
                self._stop(self._sender(fault), fault.seconds)
            case _:
                assert self._ground.strike is not None
                self._ground.strike(fault)

    def _owner(self) -> int | None:
        found = self._ground.rows(
            "SELECT p.pid FROM leases l JOIN processes p ON p.id = l.process WHERE l.name = ?",
            self._thread,
        )
        return found[0][0] if found and found[0][0] in self._ground.processes() else None

    def _sender(self, fault: Fault) -> int | None:
        sender = self._senders[fault.sender]
        return sender.pid if sender.poll() is None else None

    def _signal(self, pid: int | None, number: signal.Signals) -> None:
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _stop(self, pid: int | None, seconds: float) -> None:
        if pid is not None:
            self._signal(pid, signal.SIGSTOP)
            self._asleep.append((time.monotonic() + seconds, pid))

    def _wake(self) -> None:
        now = time.monotonic()
        for until, pid in [one for one in self._asleep if one[0] <= now]:
            self._signal(pid, signal.SIGCONT)
            self._asleep.remove((until, pid))
        if self._rivals and self._rivals[0] <= now:
            self._rivals.pop(0)
            _start(self._ground, "rivals", "steersman", "carry", self._thread)


async def _settle(ground: Ground, thread: str) -> str:
    """Let the thread come to rest, answering whatever it asks; the answer says why it did not."""
    async with Host.at(ground.home, ground.environ) as host:
        handle = await host.attach(thread)
        try:
            async with asyncio.timeout(REST):
                # One that lives may only seem to have lost the thread, on a busy machine.
                while not await _rests(host, handle) or any(ground.processes()):
                    await asyncio.sleep(0.05)
                return ""
        except TimeoutError:
            alive = "; ".join(map(_described, ground.processes()))
            return f"{await handle.state()}; processes: {alive or 'none'}"
        except SteersmanError as problem:
            return f"{problem}"


async def _rests(host: Host, handle: Attached) -> bool:
    """Whether nothing is left to do; if something is, it is seen to."""
    state = await handle.state()
    doing = state.activity
    # Somebody else may have seen to it meanwhile.
    with suppress(TooLate, UsageProblem):
        if doing.waiting:
            await handle.answer(doing.waiting[0].corr, ConfirmResponse("allow"))
        elif state.requests:
            await host.carry(handle.id)
        elif doing.queued and not (state.owner and doing.turn):
            await handle.go_on()
        elif state.owner and not doing.turn:
            await handle.close()
    return not (doing.waiting or state.requests or doing.queued or state.owner)


def _collect(plan: Plan, ground: Ground, thread: str, restless: str) -> Evidence:
    host = Host.at(ground.home, ground.environ)
    try:
        messages = tuple(host.messages(thread))
        flaws = tuple(str(flaw) for flaw in host.verify(thread))
    finally:
        host.store.close()
    requests = ground.rows("SELECT id, outcome, logged FROM requests WHERE thread = ?", thread)
    written = ground.rows(
        "SELECT first, last, fence, process FROM witness WHERE thread = ?", thread
    )
    return Evidence(
        messages=messages,
        flaws=flaws,
        requests=tuple(
            RequestRow(name, outcome or "", bool(done)) for name, outcome, done in requests
        ),
        written=tuple(Written(*row) for row in written),
        notes=tuple(_notes(plan, ground)),
        effects=tuple(ground.effects.read_text().split()),
        restless=restless,
    )


def _notes(plan: Plan, ground: Ground) -> Iterator[Note]:
    for number in range(len(plan.senders)):
        path = ground.folder / f"notes-{number}"
        lines = path.read_bytes().splitlines() if path.exists() else []
        yield from (msgspec.json.decode(line, type=Note) for line in lines)
