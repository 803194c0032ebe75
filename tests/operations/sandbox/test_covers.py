"""What is hidden, what is protected, and what a command finds round it."""

import os
import signal
import socket
import subprocess
import sys
import threading

import pytest
from msgspec.structs import replace

from steersman.operations.running.bubblewrap import Bubblewrap
from steersman.operations.running.masks import outermost
from steersman.operations.running.overlay import Overlay
from steersman.operations.running.scratch import sweep
from steersman.records.profile import Profile
from tests.operations.sandbox.attempts import REACHING
from tests.operations.sandbox.kit import EVERYBODY, Ground, World, as_somebody, attack
from tests.operations.transactions.tree import tree


@pytest.mark.parametrize("ground", ["view", "copy", "read"])
@pytest.mark.parametrize("who", EVERYBODY)
def test_a_hidden_file_says_so(who: str, ground: Ground) -> None:
    """It is there, it cannot be read, it is no ordinary file, and nothing of it changes."""

    def do(world: World) -> None:
        before = tree(world.root)
        script = "for one in .env sub/key.pem ~/.netrc ~/.ssh/id; do cat $one; done; "
        script += "test -e .env && test ! -f .env && rm -f .env; touch .env; ls ~/.ssh"
        done = world.try_out(script, ground)
        assert world.said.count("Permission denied") >= 5
        assert done is None or done.changes == []
        assert tree(world.root) == before

    as_somebody(who, do)


def test_a_workspace_inside_a_hidden_folder() -> None:
    """The workspace is there, and what lies beside it is not."""

    def do(world: World) -> None:
        profile = replace(world.profile, hidden=(str(world.folder),))
        for ground in ("view", "copy", "read"):
            script = f"cat open.txt .env; ls {world.folder}; cat {world.outside}/precious"
            world.try_out(script, ground, profile)
            assert world.done.stdout == "opens3cret-words-nobody-may-read"
            assert "Permission denied" in world.done.stderr

    as_somebody("me", do)


@pytest.mark.parametrize("ground", ["read", "landlock"])
@pytest.mark.parametrize("who", EVERYBODY)
def test_what_is_opened_inside_what_is_hidden(who: str, ground: Ground) -> None:
    """A folder of a hidden home is seen without its own secrets, another is written, no more."""

    def do(world: World) -> None:
        for made in ("docs", "docs/inner", "own", "other"):
            (world.home / made).mkdir()
            (world.home / made / "file").write_text(made)
        (world.root / "out").mkdir()
        profile = replace(
            world.profile,
            files="read",
            hidden=(*world.profile.hidden, str(world.home), str(world.home / "docs/inner")),
            readable=(str(world.home / "docs"),),
            granted=(str(world.home / "own"), str(world.root / "out")),
        )
        script = (
            "cat ~/docs/file; cat ~/docs/inner/file ~/other/file ~/.ssh/id; "
            "for one in ~/own ~/docs ~/other ~ . out sub; do echo x > $one/new; done; "
            "mv out sub/; mv ~/own ~/docs/"
        )
        world.try_out(script, ground, profile)
        assert world.done.stdout == "docs"
        made = [path for path in world.folder.rglob("new") if "state" not in path.parts]
        assert sorted(made) == [world.home / "own/new", world.root / "out/new"], world.said

    as_somebody(who, do)


def test_a_workspace_to_be_read_only() -> None:
    """Nothing in it can be changed, while temporary folders and what is writable can."""

    def do(world: World) -> None:
        before = tree(world.root)
        profile = replace(world.profile, writable=(str(world.outside), "/proc/no/such"))
        script = "cat open.txt; echo x > open.txt; echo x > new; rm open.txt; git init .; "
        script += (
            f"chmod 700 open.txt; touch open.txt; echo x > /tmp/x && echo y > {world.outside}/y"
        )
        world.try_out(script, "read", profile)
        assert world.done.returncode == 0, world.said
        assert world.said.count("Read-only file system") >= 5
        assert tree(world.root) == before
        assert (world.outside / "y").read_text() == "y\n"

    as_somebody("me", do)


PLANTS = {
    "a hook": "echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    "a setting": "git config core.pager evil; echo evil >> .git/config; mv .git/config x",
    "a setting in place of another": "cp .git/config x; echo evil >> x; mv x .git/config; rm -f x",
    "another repository": "mv .git old && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
    "a new start file": "echo evil > .envrc; ln -s open.txt .envrc; mkdir .envrc",
    "a new folder": "mkdir -p .vscode/x; echo evil > .vscode/tasks.json; ln -s sub .vscode",
    "a new file in a missing folder": "mkdir -p .git/info; echo evil > .git/info/exclude",
    "a rename over it": "echo evil > x; mv -f x .envrc; mv -T sub .vscode; rm -f x; true",
    "a mode": "chmod -R 777 .git/hooks .git/config .envrc .vscode",
    "its absence": "rm -rf .git/hooks .git/config .envrc .vscode",
}


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("name", PLANTS)
def test_what_runs_later_cannot_be_planted(name: str, who: str) -> None:
    """Nothing of it is in the workspace before it was judged, and what was done is seen whole."""

    def do(world: World) -> None:
        before = tree(world.root)
        done = world.try_out(PLANTS[name], "copy")
        assert done is not None
        assert done.changes
        assert tree(world.root) == before

    as_somebody(who, do)


def test_over_a_view_the_gate_judges_what_is_planted() -> None:
    """There nothing is pinned: a change of a protected path is an effect like any other."""

    def do(world: World) -> None:
        done = world.try_out("echo evil > .git/hooks/pre-commit; echo x > .envrc")
        assert done is not None
        assert [c.path for c in done.changes] == [".envrc", ".git/hooks/pre-commit"]

    as_somebody("me", do)


def test_nothing_is_left_when_the_host_is_killed() -> None:
    """The command dies with its host, and the next start removes the scratch folder."""

    def do(world: World) -> None:
        script = (
            "import os, sys\n"
            f"sys.path[:0] = {sys.path!r}\n"
            "from pathlib import Path\n"
            "from tests.operations.sandbox import kit\n"
            "world = kit.World.__new__(kit.World)\n"
            f"world.root, world.scratch = Path({str(world.root)!r}), Path({str(world.scratch)!r})\n"
            f"profile = kit.Profile(writable=({str(world.outside)!r},),\n"
            f"  environ={{'PATH': {os.environ['PATH']!r}}})\n"
            f"script = 'touch {world.outside}/started; setsid sleep 600 & sleep 600'\n"
            "world.try_out(script, 'copy', profile)\n"
        )
        host = subprocess.Popen([sys.executable, "-c", script], cwd=os.getcwd())
        while not (world.outside / "started").exists():
            assert host.poll() is None
        assert sweep(str(world.scratch)) == 0
        host.send_signal(signal.SIGKILL)
        host.wait()
        while _living_in(str(world.root)):
            pass
        assert sweep(str(world.scratch)) == 1
        assert os.listdir(world.scratch) == []

    as_somebody("me", do)


def _living_in(folder: str) -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd") == folder:
                found.append(pid)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("who", EVERYBODY)
def test_only_the_environment_it_was_given(who: str) -> None:
    """Nothing of the host's, nothing on a command line, and no open file but the three."""

    def do(world: World) -> None:
        profile = replace(world.profile, environ={"PATH": os.environ["PATH"], "WORD": "heard it"})
        world.try_out(["env"], "view", profile)
        lines = dict(line.split("=", 1) for line in world.done.stdout.splitlines())
        for name in ("TAR_OPTIONS", "GIT_DISCOVERY_ACROSS_FILESYSTEM"):
            lines.pop(name, None)
        assert lines == {
            **profile.environ,
            "TMPDIR": "/tmp",
            "PWD": str(world.root),
            "HOST_KEY": "",
        }
        with Overlay(world.bubblewrap()).begin(str(world.root), str(world.scratch)) as run:
            assert "heard it" not in " ".join(run.argv(["env"], str(world.root), profile))
        world.try_out("ls /proc/self/fd; ls -d /proc/[0-9]* | wc -l", "view")
        assert world.done.stdout.split()[:4] == ["0", "1", "2", "3"]
        assert int(world.done.stdout.split()[-1]) < 10

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_a_socket_made_while_it_runs(who: str) -> None:
    """A listener that comes later is as far away as one that was there."""

    def do(world: World) -> None:
        path = str(world.home / "late")
        listener = socket.socket(socket.AF_UNIX)
        timer = threading.Timer(0.3, lambda: (listener.bind(path), listener.listen()))
        timer.start()
        world.try_out(
            "python3 - <<'END'\nimport os, socket, time\n"
            f"while 'late' not in os.listdir({str(world.home)!r}): time.sleep(0.01)\n"
            f"socket.socket(1).connect({path!r})\nEND"
        )
        timer.join()
        listener.close()
        assert "Connection refused" in world.said

    as_somebody(who, do)


@pytest.mark.parametrize("name", REACHING)
def test_where_nothing_can_be_sealed_there_are_no_sockets(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without overlays sockets of the host could be reached, so a command can make none."""

    def plain(world: World) -> Bubblewrap:
        return replace(found(world), attributes="")

    found = World.bubblewrap
    monkeypatch.setattr(World, "bubblewrap", plain)

    def do(world: World) -> None:
        attack(world, REACHING[name], "copy")
        world.try_out("python3 -c 'import socket; socket.socketpair(); socket.socket(1)'", "copy")
        assert "PermissionError" in world.said

    as_somebody("me", do)


def test_outermost_paths() -> None:
    """What is in a folder goes with it; what only begins alike does not."""
    assert outermost(["/a/b", "/a", "/ab", "/a/c/d"]) == ["/a", "/ab"]


def test_plain_profiles_confine() -> None:
    """Who says nothing gets the sandbox."""
    assert (Profile().sandbox, Profile().network) == (True, "none")
