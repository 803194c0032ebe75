"""The weaker sandbox: what it holds, and, just as plainly, what it does not."""

import ctypes
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from steersman.operations.running import containment, landlock
from steersman.operations.running.bubblewrap import Unavailable
from steersman.operations.running.containment import Containment
from tests.operations.sandbox.attempts import ATTEMPTS
from tests.operations.sandbox.kit import EVERYBODY, World, as_somebody, attack

# Landlock knows no rule below a rule, so the workspace is open as a whole; and it does not watch
# over the modes, owners, times and marks of files.
NOT_HELD = {
    "cat a secret", "read a secret with python", "read a secret through a link",
    "read a secret through a hard link", "read a copy of a secret", "archive a secret",
    "search for a secret", "move a secret's folder away", "rename a secret's folder",
    "move a secret away", "change a secret's mode", "map a secret",
    "open a secret without reading", "exchange a secret with a file", "unmount a cover",
    "look for it in git", "change modes outside", "change times outside", "mark files outside",
    "reach the host's own folders",
}  # fmt: skip


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("name", [name for name in ATTEMPTS if name not in NOT_HELD])
def test_what_it_holds(name: str, who: str) -> None:
    """The same attempts as in the full sandbox."""

    def do(world: World) -> None:
        attack(world, ATTEMPTS[name], "landlock")

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_secrets_outside_the_workspace_are_held_back(who: str) -> None:
    """Their names are seen; their neighbours can be read."""

    def do(world: World) -> None:
        script = "cat ~/.ssh/id ~/.netrc $OUTSIDE/also 'secret link'; ls ~/.ssh; cat link"
        said = attack(world, script, "landlock")
        assert said.count("Permission denied") == 4
        assert "id\n" in said
        assert "precious" in said

    as_somebody(who, do)


def test_secrets_inside_the_workspace_are_not() -> None:
    """Said plainly, because it is so."""

    def do(world: World) -> None:
        world.try_out("cat .env; echo x > .envrc", "landlock")
        assert world.done.stdout == "s3cret-words-nobody-may-read"
        assert (world.root / ".envrc").read_text() == "x\n"

    as_somebody("me", do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_work_is_done(who: str) -> None:
    """In the workspace and in a temporary folder."""

    def do(world: World) -> None:
        script = (
            "echo a > new && mkdir -p d/e && mv new d/e && cat d/e/new && mktemp && id && "
            "python3 -c 'import asyncio; asyncio.run(asyncio.sleep(0))' && env"
        )
        world.try_out(script, "landlock")
        assert world.done.returncode == 0, world.said
        assert "HOST_KEY" not in world.said

    as_somebody(who, do)


def test_it_is_announced_as_weaker(monkeypatch: pytest.MonkeyPatch) -> None:
    """And where it does not work either, there is nothing."""

    def do(world: World) -> None:
        def found() -> Containment:
            return containment.means(str(world.root), str(world.scratch)).containment

        assert found() == Containment("full")
        monkeypatch.setattr(containment, "find", lambda *_: Unavailable("No bubblewrap."))
        assert found().level == "weaker"
        assert found().reason.startswith("No bubblewrap. Landlock only: secrets inside the work")
        monkeypatch.setattr(containment, "_WEAKER", {})
        monkeypatch.setattr(landlock, "NEEDED", 99)
        assert found().level == "none"
        assert "Landlock does not help: Landlock 99 is needed" in found().reason

    as_somebody("me", do)


REACHING_OUT = """
import ctypes, os, resource
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
who, memory, file = int(os.environ["WHO"]), int(os.environ["MEMORY"]), os.environ["FILE"]
low = os.sched_getaffinity(0)
def attempt(what, do):
    try:
        print(what, "done" if do() is not False else "refused")
    except OSError:
        print(what, "refused")
attempt("limit", lambda: resource.prlimit(who, resource.RLIMIT_NOFILE, (3, 3)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, who, 19))
attempt("processors", lambda: os.sched_setaffinity(who, low))
attempt("schedule", lambda: os.sched_setscheduler(who, os.SCHED_BATCH, os.sched_param(0)))
attempt("memory", lambda: libc.shmat(memory, None, 0) not in (None, 2**64 - 1))
attempt("removal", lambda: libc.shmctl(memory, 0, None) == 0)
attempt("messages", lambda: libc.msgget(0, 0o1600) >= 0)
attempt("semaphores", lambda: libc.semget(0, 1, 0o1600) >= 0)
attempt("reading", lambda: open(file).read())
attempt("writing", lambda: open(file, "w").write("evil"))
attempt("making", lambda: open(file + ".new", "w").write("evil"))
attempt("own limit", lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
attempt("own priority", lambda: os.nice(1))
"""


@contextmanager
def things_of_a_person() -> Iterator[dict[str, str]]:
    """A process, shared memory and a file in `/dev/shm`."""
    libc = ctypes.CDLL(None, use_errno=True)
    memory = libc.shmget(0, 4096, 0o1600)
    assert memory >= 0
    file = Path("/dev/shm", f"steersman-{os.getpid()}")
    file.write_text("person")
    try:
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
            yield {"WHO": str(process.pid), "MEMORY": str(memory), "FILE": str(file)}
            assert resource.prlimit(process.pid, resource.RLIMIT_NOFILE)[0] > 3
            assert os.getpriority(os.PRIO_PROCESS, process.pid) == os.nice(0)
        assert file.read_text() == "person"
    finally:
        libc.shmctl(memory, 0, None)
        file.unlink()
        Path(f"{file}.new").unlink(missing_ok=True)


@pytest.mark.parametrize("who", EVERYBODY)
def test_other_processes_and_what_they_share_are_out_of_reach(who: str) -> None:
    """Its own limits and priority a command may change."""

    def do(world: World) -> None:
        with things_of_a_person() as facts:
            environ = {**world.profile.environ, **facts}
            (world.root / "reach.py").write_text(REACHING_OUT)
            world.try_out("python3 reach.py", "landlock", replace(world.profile, environ=environ))
        done = [line for line in world.done.stdout.splitlines() if line.endswith("done")]
        assert done == ["own limit done", "own priority done"], world.said
        assert world.done.stdout.count("refused") == 11, world.said

    as_somebody(who, do)
