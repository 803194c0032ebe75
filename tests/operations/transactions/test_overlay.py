"""Commands over the overlay: what they did is known exactly, and nothing of them is left."""

import asyncio
import errno
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from steersman.operations.journal.commit import Conflict, apply
from steersman.operations.running import bubblewrap, overlay
from steersman.operations.running.bubblewrap import Unavailable
from steersman.operations.running.guardian import NO_VIEW, Handed, View
from steersman.operations.running.guardian_process import UNSEEN
from steersman.operations.running.overlay import NoOverlay, Transaction, available, stumbled
from steersman.operations.running.processes import Processes
from steersman.operations.running.scratch import sweep
from steersman.records.change import Change, FileState
from steersman.records.errors import ToolProblem
from steersman.records.names import written
from steersman.records.profile import PLAIN, Profile
from tests.operations.transactions.test_undo_property import Author, check_one
from tests.operations.transactions.tree import FOLDER, Yard, made, tree

SHELL = ("bash", "--norc", "--noprofile", "-c")
NAP = f"987.{os.getpid()}"


def kinds(changes: list[Change]) -> dict[str, tuple[str, str]]:
    """What became of each path."""
    return {change.path: (change.before.kind, change.after.kind) for change in changes}


def test_three_deleted_one_rewritten_two_created(yard: Yard) -> None:
    """The changeset is exact, the workspace untouched until it is committed, and undo restores."""
    for name in ("a", "b", "c", "rewritten"):
        (yard.root / name).write_text(name)
    before = tree(yard.root)
    done = yard.try_out("rm a b c; echo new > rewritten; echo 1 > one; mkdir d; echo 2 > d/two")
    assert tree(yard.root) == before
    assert kinds(done.changes) == {
        "a": ("file", "absent"),
        "b": ("file", "absent"),
        "c": ("file", "absent"),
        "d": ("absent", "folder"),
        "d/two": ("absent", "file"),
        "one": ("absent", "file"),
        "rewritten": ("file", "file"),
    }
    yard.commit(done)
    assert (yard.root / "rewritten").read_text() == "new\n"
    yard.apply(*(change.reversed() for change in done.changes))
    assert tree(yard.root, times=False) == {k: v._replace(mtime_ns=0) for k, v in before.items()}


def test_only_what_differs_is_a_change(yard: Yard) -> None:
    """Touching, rewriting the same text, and making then removing change nothing."""
    yard.apply(made("a", yard.file(b"a\n")), made("d", FOLDER), made("d/b", yard.file(b"b")))
    script = "touch a; echo a > a; chmod 600 a; chmod 644 a; echo x > n; rm n; rm -rf d; mkdir d;"
    assert yard.try_out(script + "printf b > d/b").changes == []


def test_a_folder_that_goes_is_told_path_by_path(yard: Yard) -> None:
    """Also behind an opaque folder, and where a file or link takes its place."""
    yard.apply(made("d", FOLDER), made("d/e", FOLDER), made("d/e/f", yard.file(b"f")))
    gone = {"d/e": ("folder", "absent"), "d/e/f": ("file", "absent")}
    assert kinds(yard.try_out("rm -rf d").changes) == {"d": ("folder", "absent"), **gone}
    assert kinds(yard.try_out("rm -rf d; mkdir d").changes) == gone
    inner = yard.try_out("rm -rf d; mkdir -p d/e").changes
    assert kinds(inner) == {"d/e/f": ("file", "absent")}
    assert kinds(yard.try_out("rm -rf d; echo > d").changes) == {"d": ("folder", "file"), **gone}
    done = yard.try_out("rm -rf d; ln -s x d")
    assert kinds(done.changes) == {"d": ("folder", "link"), **gone}


def test_modes_links_and_times(yard: Yard) -> None:
    """Modes of files, folders and the workspace; where links lead; the times commands gave."""
    yard.apply(
        made("a", yard.file(b"a")), made("d", FOLDER), made("l", FileState("link", target="a"))
    )
    done = yard.run("chmod 4711 a; chmod 1770 d; ln -sfn b l; chmod 750 .; touch -d @5 t")
    assert [(c.path, oct(c.after.mode), c.after.target) for c in done.changes] == [
        (".", "0o750", ""),
        ("a", "0o711", ""),
        ("d", "0o1770", ""),
        ("l", "0o0", "b"),
        ("t", oct(0o666 & ~umask()), ""),
    ]
    assert os.stat(yard.root / "t").st_mtime == 5
    assert stat.S_IMODE(os.stat(yard.root).st_mode) == 0o750


def umask() -> int:
    """The umask of this process."""
    value = os.umask(0o022)
    os.umask(value)
    return value


def test_names_of_a_linked_file_change_together(yard: Yard) -> None:
    """Both are told and both are written; a name outside is neither."""
    yard.apply(made("one", yard.file(b"text")))
    os.link(yard.root / "one", yard.root / "other")
    (yard.folder / "outside").write_bytes(b"safe")
    os.link(yard.folder / "outside", yard.root / "inside")
    done = yard.run("echo new > one; echo new > inside")
    assert sorted(kinds(done.changes)) == ["inside", "one", "other"]
    assert os.stat(yard.root / "one").st_nlink == 2
    assert (yard.root / "other").read_text() == "new\n"
    assert (yard.folder / "outside").read_bytes() == b"safe"


def test_pipes_sockets_and_odd_names(yard: Yard) -> None:
    """Never waited for: said in a note, not taken over, and removable."""
    os.mkfifo(yard.root / "old pipe")
    (yard.root / "d").mkdir()
    os.mkfifo(yard.root / "d" / "pipe")
    (yard.root / "file").write_text("x")
    os.mkfifo(yard.root / "turned")
    done = yard.run(
        "rm turned; echo x > turned;"
        "mkfifo pipe; rm file; mkfifo file; rm -r 'old pipe' d; printf x > $'bad\\xff';"
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'"
    )
    assert kinds(done.changes) == {
        "d": ("folder", "absent"),
        "file": ("file", "absent"),
        "turned": ("absent", "file"),
        written(os.fsdecode(b"bad\xff")): ("absent", "file"),
    }
    assert sorted(done.remove) == ["d/pipe", "old pipe", "turned"]
    assert sum("is a pipe" in note for note in done.notes) >= 3
    assert sorted(os.listdir(os.fsencode(yard.root))) == [b"bad\xff", b"turned"]
    assert (yard.root / "turned").read_text() == "x\n"


def test_the_rest_of_the_disk_is_read_only(yard: Yard) -> None:
    """Writing elsewhere fails; temporary folders are writable and private."""
    beside = yard.folder / "beside"
    beside.mkdir()
    marker = f"steersman-{os.getpid()}"
    script = (
        f"echo x > /usr/{marker}; echo x > $TMPDIR/{marker} && cat $TMPDIR/{marker};"
        f"echo x > /var/tmp/{marker} && echo var; ls {yard.folder}"
    )
    assert yard.try_out(script).changes == []
    assert yard.last is not None
    assert "Read-only file system" in yard.last.stderr
    assert yard.last.stdout.split()[:2] == ["x", "var"]
    assert not any(Path(place, marker).exists() for place in ("/tmp", "/var/tmp", "/usr"))


def test_extra_folders_and_network(yard: Yard) -> None:
    """A profile can add writable folders and take the network away."""
    beside = yard.folder / "beside"
    beside.mkdir()
    profile = Profile(environ={"WORD": "heard"}, writable=(str(beside),))
    yard.try_out(f"echo $WORD > {beside}/w; cat /proc/net/dev > {beside}/n", profile)
    assert (beside / "w").read_text() == "heard\n"
    devices = (beside / "n").read_text().splitlines()[2:]
    assert [line.split(":")[0].strip() for line in devices] == ["lo"]


def test_someone_elses_change_during_the_run(yard: Yard) -> None:
    """Told by the changeset; and if it comes later, refused by the commit."""
    (yard.root / "a").write_text("a")
    with yard.overlay().begin(str(yard.root), str(yard.scratch)) as run:
        time.sleep(0.02)
        (yard.root / "a").write_text("mine")
        line = run.argv(["sh", "-c", "echo theirs > a; echo b > b"], str(yard.root))
        subprocess.run(line, check=True, pass_fds=run.descriptors)
        done = run.changes(yard.objects)
    assert done.meanwhile == ["a"]
    (yard.root / "a").write_text("mine again")
    before = tree(yard.root)
    with pytest.raises(Conflict, match="Changed by someone else: a"):
        yard.commit(done)
    assert tree(yard.root) == before


def test_renaming_an_old_folder_is_recognised(yard: Yard) -> None:
    """The one thing an overlay cannot do; a shell's `mv` copies instead."""
    (yard.root / "d").mkdir()
    assert kinds(yard.try_out("mv d e").changes) == {
        "d": ("folder", "absent"),
        "e": ("absent", "folder"),
    }
    yard.try_out('python3 -c \'import os; os.rename("d", "e")\'')
    assert yard.last is not None
    assert stumbled(yard.last.returncode, yard.last.stderr)
    assert not stumbled(0, yard.last.stderr)
    assert not stumbled(1, "No such file or directory")


@pytest.mark.parametrize("name", ["a,b", "a:b", "a\\b", "a b", "ü", "a\nb", "-x", "a=b"])
def test_workspaces_with_odd_names(name: str, tmp_path: Path) -> None:
    """Characters that mean something to mount are only characters."""
    (tmp_path / name).mkdir()
    yard = Yard(tmp_path / name)
    assert kinds(yard.run("echo x > file").changes) == {"file": ("absent", "file")}


def test_where_an_overlay_cannot_be(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole disk, a workspace around the scratch folder, a disk inside the workspace."""
    overlay = yard.overlay()
    for root in ("/", str(yard.folder), "/dev"):
        with pytest.raises(NoOverlay):
            overlay.begin(root, str(yard.scratch))
    within = Path(overlay.bubblewrap.program).parent
    monkeypatch.setenv("STEERSMAN_HOME", str(yard.folder / "file" / "no folder"))
    (yard.folder / "file").touch()
    found = available(str(within), str(yard.scratch))
    assert isinstance(found, Unavailable)
    assert "cannot be copied out of the workspace" in found.reason


def test_an_old_or_broken_bubblewrap_is_passed_over(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first on PATH that really works is taken."""
    for folder, body in (("old", "echo bubblewrap 0.8.0"), ("broken", "echo 0.12; exit 9")):
        program = yard.folder / folder / "bwrap"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert not yard.overlay().bubblewrap.program.startswith(str(yard.folder))


def test_a_command_that_cannot_start(yard: Yard) -> None:
    """It is known that nothing ran."""
    with yard.overlay().begin(str(yard.root), str(yard.scratch)) as run:
        line = run.argv(["/no/such/program"], str(yard.root))
        done = subprocess.run(line, capture_output=True, check=False, pass_fds=run.descriptors)
        assert done.returncode != 0
        assert not run.ran()
    assert os.listdir(yard.scratch) == []


def test_nothing_is_left_after_kill_9(yard: Yard) -> None:
    """The command dies with its host, and the next start sweeps the scratch folder."""
    yard.overlay()
    script = f"""
import subprocess, sys
sys.path[:0] = {sys.path!r}
from steersman.operations.running.overlay import available
root, scratch = {str(yard.root)!r}, {str(yard.scratch)!r}
run = available(root, scratch).begin(root, scratch)
line = "setsid sleep {NAP} & mkdir -m 000 shut; echo started; sleep {NAP}"
subprocess.run(run.argv(["bash", "-c", line], root), pass_fds=run.descriptors)
"""
    host = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    try:
        assert host.stdout.readline() == "started\n"
        assert wait_for_sleepers(2) == 2
        assert sweep(str(yard.scratch)) == 0
    finally:
        host.send_signal(signal.SIGKILL)
        host.wait()
        host.stdout.close()
    assert wait_for_sleepers(0) == 0
    assert len(os.listdir(yard.scratch)) == 2
    assert sweep(str(yard.scratch)) == 1
    assert os.listdir(yard.scratch) == []
    assert os.listdir(yard.root) == []


def wait_for_sleepers(count: int) -> int:
    """How many processes of the test above live, when they are as many or time is up."""
    deadline = time.monotonic() + 10
    while (found := _sleepers()) != count and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _sleepers() -> int:
    lines = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                lines.append((entry / "cmdline").read_bytes())
    return sum(line.startswith(b"sleep\x00" + NAP.encode()) for line in lines)


def as_ordinary_user(do: Callable[[Path], None]) -> None:
    """Do something as user 1000 when the tests run as root, in a folder of that user."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(dir=memory) as name:
        if os.geteuid() != 0:
            do(Path(name))
            return
        os.chown(name, 1000, 1000)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.setgroups([])
                os.setgid(1000)
                os.setuid(1000)
                do(Path(name))
                code = 0
            except BaseException as error:
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
                raise
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_ordinary_user_can_do_it_all() -> None:
    """Random histories, and folders and files that their owner may not write or even read."""

    def do(folder: Path) -> None:
        for seed in range(5000, 5020):
            (folder / str(seed)).mkdir()
            check_one(Yard(folder / str(seed)), Author(seed, harsh=False))
        (folder / "shut").mkdir()
        yard = Yard(folder / "shut")
        script = "mkdir -p d/e; echo x > d/e/f; chmod 000 d/e/f; chmod 555 d/e; mkdir -m 000 n;"
        done = yard.run(script + "chmod 300 d")
        assert [c.path for c in done.changes] == ["d", "d/e", "d/e/f", "n"]
        again = yard.run("chmod 700 d/e; echo y > d/e/g; chmod 555 d/e; chmod 600 d/e/f")
        assert [c.path for c in again.changes] == ["d/e/f", "d/e/g"]
        assert stat.S_IMODE(os.stat(yard.root / "d/e").st_mode) == 0o555
        yard.apply(*(change.reversed() for change in again.changes))
        yard.apply(*(change.reversed() for change in done.changes))
        assert os.listdir(yard.root) == []
        assert os.listdir(yard.scratch) == []
        os.makedirs(yard.root / "shut" / "in")
        for mode in (0o000, 0o300, 0o400):
            (yard.root / "shut").chmod(mode)
            opened = yard.run_directly("chmod 700 shut")
            assert [c.path for c in opened.changes] == ["shut"]
            assert opened.notes == []

    as_ordinary_user(do)


def test_no_permission_is_said() -> None:
    """A folder of someone else: a clear error, and nothing is changed."""
    if os.geteuid() != 0:
        pytest.skip("needs root: to become another user")

    def do(folder: Path) -> None:
        (folder / "mine").mkdir()
        yard = Yard(folder / "mine")
        change = made("steersman-test", yard.file(b"x"))
        with pytest.raises(ToolProblem, match=r"as it was[^$]*ermission denied"):
            apply("/etc", [change], yard.objects)

    as_ordinary_user(do)


def test_changes_of_nothing_are_nothing(yard: Yard) -> None:
    """An empty run has an empty changeset."""
    done = yard.run("true")
    assert (done.changes, done.notes, done.remove, done.meanwhile) == ([], [], [], [])


def test_very_deep_folders(yard: Yard) -> None:
    """Too deep for a path: said, and still removed; deep enough: committed and undone."""
    deep = "for i in $(seq {}); do mkdir {} && cd {} || exit 1; done"
    with pytest.raises(ToolProblem, match="cannot be read"):
        yard.try_out(deep.format(60, "x" * 100, "x" * 100))
    assert os.listdir(yard.scratch) == []
    done = yard.run(deep.format(100, "d", "d"))
    assert len(done.changes) == 100
    gone = yard.run("rm -rf d")
    assert len(gone.changes) == 100
    assert os.listdir(yard.root) == []


def test_root_cannot_leave_its_mounts(yard: Yard) -> None:
    """Neither by mounting again nor by making a device."""
    yard.try_out("mount -o remount,rw,bind / && echo out; mknod disk b 8 0 && echo made")
    assert yard.last is not None
    assert yard.last.stdout == ""


def swapped(yard: Yard) -> None:
    """Somebody puts another folder, with files as old as the others, in the place of one."""
    (yard.root / "d").rename(yard.root / "d.old")
    (yard.root / "e").rename(yard.root / "d")


def moved_away(yard: Yard) -> None:
    (yard.root / "d").rename(yard.root / "d.old")


def deleted(yard: Yard) -> None:
    (yard.root / "d" / "x").unlink()


@pytest.mark.parametrize(
    ("command", "meanwhile", "late"),
    [
        ("echo c >> d/x", swapped, ["d/x"]),
        ("rm -rf d", swapped, ["d", "d/sub", "d/sub/y", "d/x"]),
        ("rm -rf d; mkdir d; echo c > d/x", swapped, ["d/sub", "d/sub/y", "d/x"]),
        ("echo c > d/new", swapped, ["d/new"]),
        ("echo c >> d/sub/y", swapped, ["d/sub/y"]),
        ("echo c >> d/x", moved_away, ["d", "d/x"]),
        ("echo c >> d/x", deleted, ["d/x"]),
    ],
)
def test_a_folder_that_somebody_moved_meanwhile_is_theirs(
    yard: Yard, command: str, meanwhile: Callable[[Yard], None], late: list[str]
) -> None:
    for folder in ("d", "e"):
        (yard.root / folder / "sub").mkdir(parents=True)
        (yard.root / folder / "x").write_text(folder)
        (yard.root / folder / "sub" / "y").write_text(folder)
    done = yard.try_out(command, meanwhile=lambda: meanwhile(yard))
    assert done.meanwhile == late


def test_what_a_command_moves_itself_is_nobody_elses(yard: Yard) -> None:
    for name in ("a", "b", "c", "e", "f"):
        (yard.root / name).write_text(name)
    (yard.root / "d").mkdir()
    moves = "mv a d/a; mv b t; mv c b; mv t c; mv e f; echo more >> d/a"
    assert yard.try_out(moves).meanwhile == []


def test_what_somebody_adds_to_a_folder_meanwhile_contests_nothing_else(yard: Yard) -> None:
    (yard.root / "d").mkdir()
    (yard.root / "d" / "x").write_text("x")
    done = yard.try_out("echo c >> d/x", meanwhile=(yard.root / "d" / "theirs").touch)
    assert done.meanwhile == []
    assert kinds(done.changes) == {"d/x": ("file", "file")}


def test_a_pipe_whose_mode_or_time_a_command_changes_is_still_there(yard: Yard) -> None:
    """Of it nothing is taken over; a command that deletes it says so."""
    (yard.root / "d").mkdir()
    os.mkfifo(yard.root / "d/pipe", 0o644)
    done = yard.run("chmod -R 700 d; touch d/pipe")
    assert [change.path for change in done.changes] == ["d"]
    assert done.notes == ["Not kept: d/pipe is a pipe."]
    assert stat.S_IMODE((yard.root / "d/pipe").lstat().st_mode) == 0o644
    assert yard.run("rm d/pipe").remove == ["d/pipe"]
    assert not (yard.root / "d/pipe").exists()


def test_the_guard_mounts_a_view_that_is_never_written_back(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it cannot, the command is not started, and the next get a view in another way.

    It is tried again later, if that may help; a command that was killed says nothing about views.
    """
    if yard.overlay().bubblewrap.own_users:
        pytest.skip("only root's guards can mount")
    (yard.root / "a").write_text("a")
    place = str(yard.root)
    script = "grep -c ' /.*volatile' /proc/self/mountinfo; echo b >> a; mkdir c"

    async def run(run: Transaction, *, spoil: bool) -> tuple[int | None, str, int]:
        line = run.guarded([*SHELL, script], place, PLAIN)
        options = "lowerdir=/no/such" if spoil else run.view.options
        view = View(run.view.place, options) if run.view.place else NO_VIEW
        processes = Processes(yard.folder / "spool")
        try:
            handed = Handed(run.descriptors, view=view)
            running = await processes.start(line, place, {}, call="c", handed=handed)
            assert await running.wait(60)
            return running.state.exit_code, running.output.text(), running.unseen
        finally:
            await processes.close()

    seen, other, failed = (0, "1\n", 0), (0, "0\n", 0), (UNSEEN, "", errno.ENOENT)
    monkeypatch.setattr(overlay, "_REST", 1)
    for spoil, said in ((False, seen), (True, failed), (False, other), (False, seen)):
        with yard.overlay().begin(place, str(yard.scratch)) as one:
            assert asyncio.run(run(one, spoil=spoil)) == said
            assert one.unmade(said[2]) == spoil
            changed = [change.path for change in one.changes(yard.objects).changes]
            assert changed == ([] if spoil else ["a", "c"])
    assert os.listdir(yard.scratch) == []
    with yard.overlay().begin(place, str(yard.scratch)) as one:
        one.guarded([*SHELL, script], place, PLAIN)
        assert one.unmade(errno.EPERM)
    with yard.overlay().begin(place, str(yard.scratch)) as one:
        one.guarded([*SHELL, script], place, PLAIN)
        assert one.view == NO_VIEW
    overlay._unseen.clear()


def test_trying_the_sandbox_leaves_nothing_when_its_host_is_killed(tmp_path):
    """The next host removes it."""
    program, scratch = tmp_path / "bwrap", tmp_path / "scratch"
    scratch.mkdir()
    child = os.fork()
    if child == 0:
        try:
            known = "[ $1 = --version ] && echo bubblewrap 0.11.0"
            program.write_text(f"#!/bin/sh\n{known} || kill -9 {os.getpid()}\n")
            program.chmod(0o700)
            bubblewrap._probe(str(program), str(scratch))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert os.listdir(scratch)
    sweep(str(scratch))
    assert os.listdir(scratch) == []
