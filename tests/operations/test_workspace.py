"""A folder does only what leave was given for, to what was looked at when it was given.

Reading is tested on the workspace itself, changes through the tool that makes them.
"""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.operations.workspace import Workspace
from steersman.records.action import Execute, List, Read, Write
from steersman.records.errors import ToolProblem, UsageProblem
from steersman.records.message import Message, ToolResult
from tests.operations.workshop import Workshop
from tests.store.elsewhere import PATIENCE, ROOT

OLD, NEW = "old\n", "new\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace with a file, a folder, links out of it, and something beside it."""
    folder = tmp_path / "ws"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text(OLD)
    (folder / "sub" / "b.txt").write_text(OLD)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret\n")
    (folder / "out").symlink_to(outside)
    (folder / "away.txt").symlink_to(outside / "secret.txt")
    return folder


def tree(folder: Path) -> dict[str, object]:
    """Everything below a folder."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        kind = os.readlink(path) if path.is_symlink() else stat.S_IFMT(path.lstat().st_mode)
        found[str(path.relative_to(folder))] = (
            path.read_bytes() if path.is_file() and not path.is_symlink() else kind
        )
    return found


def refused(folder: Path, deed: Callable[[], object]) -> str:
    """A deed that is refused and leaves everything as it was; the answer is what was said."""
    before = tree(folder)
    with pytest.raises(ToolProblem) as refusal:
        deed()
    assert tree(folder) == before
    return str(refusal.value)


# Looking, with leave

OTHERS = [
    (),
    (List("{a}"),),
    (Execute("cat a.txt", "{ws}"),),
    (Read("{a}x"),),
    (Read("{ws}"),),
    (Write("{ws}/sub/b.txt"),),
]


@pytest.mark.parametrize("granted", OTHERS, ids=repr)
def test_nothing_is_looked_at_without_leave_for_the_very_thing(home, granted):
    path = str(home / "a.txt")
    actions = [
        type(a)(*(getattr(a, f).format(a=path, ws=home) for f in a.__struct_fields__[:2]))
        for a in granted
    ]
    workspace = Workspace(str(home), actions)
    for deed in (
        lambda: workspace.read(path),
        lambda: workspace.open_file(path),
        lambda: workspace.exists(path),
        lambda: workspace.listing(str(home)),
        lambda: workspace.below(str(home)),
    ):
        assert "did not allow" in refused(home.parent, deed)


def test_leave_lets_just_that_be_looked_at(home):
    path = str(home / "a.txt")
    workspace = Workspace(str(home))
    assert workspace.granted([Read(path)]).read(path) == OLD.encode()
    assert workspace.granted([Read(path)]).exists(path)
    names = [entry.name for entry in workspace.granted([List(str(home))]).listing(str(home))]
    assert names == ["a.txt", "away.txt", "out", "sub"]


def test_leave_to_list_a_folder_is_leave_to_list_what_is_below_and_nothing_beside(home):
    workspace = Workspace(str(home), [List(str(home / "sub"))])
    assert [entry.name for entry in workspace.listing(str(home / "sub"))] == ["b.txt"]
    (home / "sub2").mkdir()
    for path in (home, home / "sub2", home.parent / "outside"):
        with pytest.raises(ToolProblem):
            workspace.listing(str(path))


# What changed between the question and the answer


def spoil(kind: str, path: Path) -> None:
    """Someone else does something to a file."""
    if path.exists():
        path.unlink()
    match kind:
        case "changed":
            path.write_text("theirs\n")
        case "link-out":
            path.symlink_to(path.parents[1] / "outside" / "secret.txt")
        case "link-in":
            (path.parent / "twin.txt").write_text(OLD)
            path.symlink_to("twin.txt")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(os.path.relpath(path))


def swap(folder: Path) -> None:
    """The folder is moved away and becomes a link to one outside that looks the same."""
    twin = folder.parents[1] / "outside" / folder.name
    folder.rename(twin)
    folder.symlink_to(twin)


def written(home: Path, name: str, meanwhile: Callable[[], object]) -> tuple[ToolResult, bool]:
    """Write a file with something done while the person thinks; and whether only that was done."""
    after: dict[str, object] = {}

    def answer(request: Message) -> str:
        meanwhile()
        after.update(tree(home.parent))
        return "allow"

    result = Workshop(home, answer=answer).one("workspace_write_file", path=name, content=NEW)
    return result, tree(home.parent) == after


@pytest.mark.parametrize(
    "kind", ["changed", "gone", "link-out", "link-in", "folder", "pipe", "socket"]
)
def test_a_file_that_changed_after_leave_was_given_is_not_written(home, kind):
    result, untouched = written(home, "a.txt", lambda: spoil(kind, home / "a.txt"))
    assert result.status == "error", result
    assert untouched


@pytest.mark.parametrize("kind", ["changed", "link-out", "link-in", "folder", "pipe"])
def test_what_appeared_after_leave_was_given_is_not_replaced(home, kind):
    result, untouched = written(home, "new.txt", lambda: spoil(kind, home / "new.txt"))
    assert result.status == "error", result
    assert untouched


@pytest.mark.parametrize(
    "name", ["sub/b.txt", "sub/new.txt", "sub/deep/new.txt", "sub/deep/er/new.txt"]
)
def test_nothing_is_written_or_made_through_a_folder_that_became_a_link(home, name):
    result, untouched = written(home, name, lambda: swap(home / "sub"))
    assert result.status in ("error", "denied"), result
    assert untouched


def test_what_stayed_as_it_was_is_written(home):
    result, untouched = written(home, "a.txt", lambda: None)
    assert result.status == "ok", result
    assert not untouched
    assert (home / "a.txt").read_text() == NEW


@pytest.mark.parametrize("kind", ["link-out", "link-in", "folder", "pipe", "socket", "gone"])
def test_what_is_not_the_plain_file_it_was_is_not_read_and_nobody_waits(home, kind):
    path = home / "a.txt"
    workspace = Workspace(str(home), [Read(str(path))])
    spoil(kind, path)
    said = refused(home.parent, lambda: workspace.read(str(path)))
    assert "Error" not in said


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_not_read(device):
    with pytest.raises(ToolProblem):
        Workspace("/", [Read(device)]).read(device)


def test_a_folder_that_became_a_link_is_not_read_through(home):
    path = home / "sub" / "b.txt"
    workspace = Workspace(str(home), [Read(str(path))])
    swap(home / "sub")
    refused(home.parent, lambda: workspace.read(str(path)))


def test_a_folder_that_became_a_link_is_not_listed_through(home):
    workspace = Workspace(str(home), [List(str(home))])
    swap(home / "sub")
    refused(home.parent, lambda: workspace.listing(str(home / "sub")))
    refused(home.parent, lambda: workspace.below(str(home / "sub")))


def test_someone_who_swaps_a_folder_all_the_time_never_gets_anything_written_outside(home):
    """A race: whoever wins it, what is outside stays as it was."""
    outside = home.parent / "outside"
    (outside / "race").mkdir()
    before = tree(outside)
    place = home / "race"
    stop = threading.Event()

    def swapping() -> None:
        steps = (
            lambda: place.symlink_to(outside / "race"),
            place.unlink,
            place.mkdir,
            lambda: shutil.rmtree(place),
        )
        while not stop.is_set():
            for step in steps:
                with suppress(OSError):
                    step()

    swapper = threading.Thread(target=swapping)
    swapper.start()
    try:
        for number in range(8):
            calls = [
                ("workspace_write_file", {"path": f"race/d{number}{n}/x", "content": NEW})
                for n in range(5)
            ]
            Workshop(home).do(*calls)
    finally:
        stop.set()
        swapper.join(PATIENCE)
    assert tree(outside) == before


# Writing


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o640, 0o700])
def test_the_mode_of_a_file_is_kept(home, mode):
    path = home / "a.txt"
    path.chmod(mode)
    assert written(home, "a.txt", lambda: None)[0].status == "ok"
    assert path.read_text() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o027])
def test_a_new_file_gets_the_mode_any_program_would_give_it(home, umask):
    before = os.umask(umask)
    try:
        assert written(home, "deep/er/new.txt", lambda: None)[0].status == "ok"
    finally:
        os.umask(before)
    path = home / "deep" / "er" / "new.txt"
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o777 & ~umask
    assert path.read_text() == NEW


def test_no_one_else_can_read_a_private_file_while_it_is_written(home):
    """Every file that is in the folder at any moment is as private as the one it replaces."""
    path = home / "sub" / "b.txt"
    path.chmod(0o600)
    seen: set[int] = set()
    stop = threading.Event()

    def looking() -> None:
        while not stop.is_set():
            for entry in os.scandir(home / "sub"):
                with suppress(FileNotFoundError):
                    found = entry.stat(follow_symlinks=False).st_mode
                    if stat.S_ISREG(found):
                        seen.add(stat.S_IMODE(found))

    watcher = threading.Thread(target=looking)
    watcher.start()
    try:
        for number in range(10):
            text = "x" * 200_000 + str(number)
            result = Workshop(home).one("workspace_write_file", path="sub/b.txt", content=text)
            assert result.status == "ok"
    finally:
        stop.set()
        watcher.join(PATIENCE)
    assert not [mode for mode in seen if mode & 0o077]


@pytest.mark.parametrize("step", ["fsync", "rename", "replace", "fchmod", "write", "link"])
def test_a_write_that_fails_leaves_no_trace(home, monkeypatch, step):
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    before = tree(home.parent)
    with monkeypatch.context() as patch:
        patch.setattr(os, step, full)
        workshop = Workshop(home)
        result = workshop.one("workspace_write_file", path="sub/b.txt", content=NEW)
    if result.status == "ok":  # this way of writing has no such step
        assert (home / "sub" / "b.txt").read_text() == NEW
    else:
        assert result.status == "error"
        assert "No space left" in result.message
        assert tree(home.parent) == before
        assert "diff_ready" not in workshop.kinds()


@pytest.mark.parametrize("name", ["x" * 250 + ".txt", "-rf", " ", "a\nb", "ü", "*", ".hidden"])
def test_names_of_all_kinds_can_be_written(home, name):
    assert written(home, name, lambda: None)[0].status == "ok"
    assert (home / name).read_text() == NEW
    assert sorted(os.listdir(home)) == sorted([name, "a.txt", "away.txt", "out", "sub"])


def test_a_name_that_is_too_long_is_refused_in_a_sentence(home):
    before = tree(home)
    name = "x" * 300
    for tool, more in (("workspace_write_file", {"content": NEW}), ("workspace_read_file", {})):
        result = Workshop(home).one(tool, path=name, **more)
        assert result.status == "error"
        assert result.message
    assert tree(home) == before


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=20)
def test_any_text_is_written_as_it_is(before, after):
    with TemporaryDirectory() as folder:
        path = Path(folder, "x")
        path.write_bytes(before.encode())
        result = Workshop(Path(folder)).one("workspace_write_file", path="x", content=after)
        assert result.status == "ok"
        assert path.read_bytes() == after.encode()
        assert os.listdir(folder) == ["x"]


def test_what_is_not_permitted_is_told_in_a_sentence():
    with TemporaryDirectory() as made:
        folder = Path(os.path.realpath(made))
        (folder / "secret.txt").write_text("secret\n")
        (folder / "fixed").mkdir()
        (folder / "fixed" / "kept.txt").write_text("kept\n")
        (folder / "locked").mkdir()
        modes = {"secret.txt": 0o000, "fixed": 0o555, "locked": 0o000, ".": 0o755}
        for name, mode in modes.items():
            (folder / name).chmod(mode)
        done = subprocess.run(
            [sys.executable, "-m", "tests.operations.nobody", str(folder)],
            cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        (folder / "locked").chmod(0o700)
        (folder / "fixed").chmod(0o755)
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert set(said) == {"read", "list", "create", "replace"}
        for status, message in said.values():
            assert status == "error"
            assert "ermission denied" in message
        assert (folder / "fixed" / "kept.txt").read_text() == "kept\n"
        assert os.listdir(folder / "fixed") == ["kept.txt"]


def test_what_is_passed_over_is_never_read_from_outside(home):
    """A `.gitignore` that is a link is no `.gitignore`, as git itself has it."""
    (home.parent / "outside" / "rules").write_text("*.txt\n")
    for folder in (home, home / "sub"):
        (folder / ".gitignore").symlink_to(home.parent / "outside" / "rules")
    for path in (".", "sub"):
        result = Workshop(home).one("workspace_list_files", path=path)
        assert "b.txt" in str(result.output), path


# Names


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.txt", "ws/a.txt"),
        ("./sub//b.txt", "ws/sub/b.txt"),
        ("sub/../a.txt", "ws/a.txt"),
        ("..", ""),
        ("../outside/secret.txt", "outside/secret.txt"),
        ("out/secret.txt", "outside/secret.txt"),
        ("out/../ws/a.txt", "ws/a.txt"),
        ("away.txt", "outside/secret.txt"),
        ("out/new.txt", "outside/new.txt"),
        ("nowhere/../a.txt", "ws/a.txt"),
        (".", "ws"),
    ],
)
def test_a_name_means_the_place_it_leads_to_with_links_followed(home, name, found):
    assert Workspace(str(home)).locate(name) == str(home.parent / found).rstrip("/")


def test_an_absolute_name_means_itself(home):
    assert Workspace(str(home)).locate("/") == "/"
    assert Workspace(str(home)).locate(str(home / "away.txt")).endswith("outside/secret.txt")


@pytest.mark.parametrize("name", ["", "a\0b", "\0"])
def test_a_name_that_cannot_be_one_is_refused(home, name):
    with pytest.raises(ToolProblem):
        Workspace(str(home)).locate(name)


def test_links_that_go_round_are_refused_when_they_are_used(home):
    (home / "loop").symlink_to("loop")
    before = tree(home)
    for tool, more in (("workspace_write_file", {"content": NEW}), ("workspace_read_file", {})):
        assert Workshop(home).one(tool, path="loop", **more).status == "error"
    assert tree(home) == before


def test_a_workspace_is_where_its_folder_really_is(home, tmp_path):
    (tmp_path / "link").symlink_to(home)
    assert Workspace.open(tmp_path / "link").root == str(home)
    assert Workspace.open(tmp_path / "link").shown(str(home / "sub" / "b.txt")) == "sub/b.txt"
    assert Workspace.open(home).shown("/etc/passwd") == "/etc/passwd"
    assert not Workspace.open(home).contains(f"{home}-evil/x")


@pytest.mark.parametrize("name", ["nowhere", "ws/a.txt"])
def test_a_workspace_must_be_a_folder(home, name):
    with pytest.raises(UsageProblem):
        Workspace.open(home.parent / name)
