"""What the tests of the command line are made of: a strict `steer`, calls for scripts, a gate."""

import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

from steersman.store.sqlite import SqliteStore
from tests.world import STEER, Steer, call, run_steer

BROKEN = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"

READ = call("workspace_read_file", path="calc.py")
FIX = call(
    "workspace_edit_files",
    files=[{"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}],
)
WRITE = call("workspace_write_file", path="new.txt", content="new\n")
DONE = {"text": "Done."}


def shell(command: str) -> dict[str, Any]:
    """A call that runs a command."""
    return call("workspace_run_command", command=command)


def outside(command: str) -> dict[str, Any]:
    """A call that runs a command outside the sandbox, about which a person is asked."""
    return call("workspace_run_command", command=command, outside_sandbox=True)


EVENTS = ("diff_commit", "failure")


class Worked(NamedTuple):
    """What `run --json` or `resume --json` came to: the messages, and what follows from them."""

    code: int
    messages: list[dict[str, Any]]
    stderr: str
    events: list[dict[str, Any]]

    @property
    def thread(self) -> str:
        """The thread's id."""
        return self.messages[0]["thread"]

    def kinds(self) -> list[str]:
        """The kinds of all messages, in order."""
        return [message["kind"] for message in self.messages]

    def bodies(self, kind: str) -> list[dict[str, Any]]:
        """The bodies of one kind, without what differs from run to run."""
        return [timeless(m["body"]) for m in self.messages if m["kind"] == kind]


class StrictSteer(Steer):
    """The command line; whatever it is asked, it never answers with a traceback.

    `before` runs in the new process before the command does.
    """

    def __init__(
        self,
        environ: dict[str, str],
        folder: Path,
        before: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(environ, folder)
        self.before = before

    def having(
        self, folder: Path | None = None, before: Callable[[], None] | None = None, **environ: str
    ) -> "StrictSteer":
        """The same command in other circumstances."""
        return StrictSteer({**self.environ, **environ}, folder or self.folder, before)

    def __call__(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        done = run_steer(arguments, self.folder, self.environ, stdin, self.before)
        assert_civil(done.stderr)
        return done

    def work(self, *arguments: str, stdin: str = "") -> Worked:
        """Run with --json: every line fits the schema, the last is `session_end` with the code."""
        place = 1 if arguments[0] in ("run", "resume") else len(arguments)
        done = self(*arguments[:place], "--json", *arguments[place:], stdin=stdin)
        messages = decoded(done.stdout)
        for message in messages:
            schema().validate(message)
        assert messages[-1]["kind"] == "session_end", done.stderr
        assert messages[-1]["body"]["exit"] == done.returncode
        events = [message for message in messages if message["kind"] in EVENTS]
        messages = [message for message in messages if message["kind"] not in EVENTS]
        return Worked(done.returncode, messages, done.stderr, events)


def assert_civil(errors: str) -> None:
    """Errors are sentences; what a programmer would want to see is never shown to a person."""
    assert "Traceback" not in errors, errors
    assert "Steersman has a bug" not in errors, errors


def decoded(text: str) -> list[dict[str, Any]]:
    """The records of JSON lines."""
    return [json.loads(line) for line in text.split("\n") if line]


def timeless(body: dict[str, Any]) -> dict[str, Any]:
    """A body without durations."""
    fields = {name: value for name, value in body.items() if name not in ("ms", "first_token_ms")}
    if isinstance(fields.get("output"), dict):
        fields["output"] = {n: v for n, v in fields["output"].items() if n != "wall_ms"}
    return fields


@cache
def schema() -> Draft202012Validator:
    """What `steer ledger schema` prints, as a validator."""
    printed = subprocess.run(
        [*STEER, "ledger", "schema"], capture_output=True, check=True, timeout=60
    )
    document = json.loads(printed.stdout)
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


def threads_in(home: Path) -> list[str]:
    """The ids of the threads a data folder holds, read without any command."""
    if not (home / "steersman.db").exists():
        return []
    store = SqliteStore(home)
    try:
        return [thread.id for thread in store.threads()]
    finally:
        store.close()


def without_privilege() -> None:
    """Let file permissions hold for root too, as they do for everybody else."""
    if os.geteuid() == 0 and sys.platform == "linux":
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def eventually(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """The first true answer of a condition that comes true soon."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.01)
    raise AssertionError(f"not within {seconds} seconds")


def until(process: "subprocess.Popen[str]", kind: str) -> list[dict[str, Any]]:
    """The messages of a running `--json` process up to the first one of a kind."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(json.loads(line))
        if seen[-1]["kind"] == kind:
            return seen
    raise AssertionError(f"it ended without {kind}: {seen}")


class Gate:
    """A command that waits, with a child, until the test lets it go on.

    It is found by its argument, which no other process has: wherever a command runs, and whatever
    it can see of the files and processes outside, a signal from outside reaches it.
    """

    def __init__(self) -> None:
        number = 1_000 + random.SystemRandom().random()
        self._front, self._back = f"{number:.9f}1", f"{number:.9f}2"

    @property
    def command(self) -> str:
        """The command that waits."""
        return f"sleep {self._back} & sleep {self._front}; true"

    @property
    def wait(self) -> dict[str, Any]:
        """The call that waits."""
        return shell(self.command)

    def waiting(self) -> list[int]:
        """The processes that wait, as soon as all of them do."""
        return eventually(lambda: len(found := self.processes()) == 2 and found)

    def processes(self) -> list[int]:
        """The processes that wait now."""
        return [pid for pid, argv in processes() if argv[1:] in ([self._front], [self._back])]

    def open(self) -> None:
        """Let it go on."""
        self.waiting()
        for pid, argv in processes():
            if argv[1:] == [self._front]:
                os.kill(pid, signal.SIGTERM)

    def release(self) -> None:
        """At the end of a test: leave nothing behind."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def processes() -> Iterator[tuple[int, list[str]]]:
    """Every living process and its arguments."""
    if not Path("/proc/self/cmdline").exists():
        listed = subprocess.run(["ps", "-axo", "pid=,args="], capture_output=True, text=True)
        for line in listed.stdout.splitlines():
            pid, *argv = line.split()
            yield int(pid), argv
        return
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                argv = (entry / "cmdline").read_text(errors="replace").split("\0")[:-1]
                yield int(entry.name), argv
