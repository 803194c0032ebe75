"""Commands without a view: what they did is judged afterwards, and what is refused is undone."""

import asyncio
import os
import re
import signal
import socket
import stat
import time
from pathlib import Path
from typing import ClassVar

import pytest

from steersman.operations.running import containment
from steersman.operations.running.alone import Hold
from steersman.operations.running.bubblewrap import Unavailable
from steersman.records.action import Execute
from steersman.records.message import Checkpoint, ConfirmRequest, Error, Message, ToolResult
from steersman.threads.handle import ThreadHandle
from tests.operations.sandbox.kit import EVERYBODY, World, a_folder, as_somebody
from tests.operations.transactions.tree import tree
from tests.operations.workshop import PATIENCE, Deed, Workshop

TEXT = "precious words of mine that are long enough to be missed "
HOOK = ".git/hooks/post-checkout"


@pytest.fixture(autouse=True)
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has none."""
    missing = Unavailable("No bubblewrap was found.")
    monkeypatch.setattr(containment, "find", lambda *_: missing)


@pytest.fixture(scope="module", autouse=True)
def everything_is_imported() -> None:
    """An ordinary user may be unable to read the interpreter's modules later."""
    with a_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(containment, "find", lambda *_: Unavailable("No bubblewrap was found."))
        Workshop(folder).one("workspace_run_command", command="echo evil > .envrc")


def direct(root: Path, *scripts: str) -> Workshop:
    """Run scripts of the repository, so that the guard knows nothing of what they do."""
    (root / "u").mkdir()
    (root / ".envrc").write_text("ok\n")
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    for number in range(80):
        (root / f"u/{number}.txt").write_text(f"{TEXT}{number}\n")
    calls = []
    for number, text in enumerate(scripts):
        (root / f"step{number}.sh").write_text(text)
        calls.append(("workspace_run_command", {"command": f"sh step{number}.sh"}))
    shop = Workshop(root)
    results = shop.do(*calls)
    assert all("ran directly" in str(result.output) for result in results), results
    return shop


def results(shop: Workshop) -> list[object]:
    """What the model gets to see."""
    return [m.body.output for m in shop.messages if isinstance(m.body, ToolResult)]


def voided(shop: Workshop) -> set[int]:
    """The entries of the journal that never happened."""
    found = [m.body for m in shop.messages if isinstance(m.body, Checkpoint)]
    return {seq for body in found if body.cause == "void" for seq in body.undoes}


class Undone(Workshop):
    """A person undoes the turn as soon as it has ended."""

    undo = True

    async def during(self, thread: ThreadHandle) -> None:
        """Undo it."""
        await thread.wait()
        if self.undo:
            await thread.undo(await thread.plan_undo())


def of_command(message: Message) -> bool:
    """Whether a question is about a command, not about what it did."""
    body = message.body
    return isinstance(body, ConfirmRequest) and isinstance(body.actions[0], Execute)


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize(
    "script",
    [
        "rm -rf u; echo w > u",
        "rm -rf u; ln -s /tmp u",
        "rm -rf u; mkfifo u",
        "rm -rf u",
        "rm .envrc; mkdir -p .envrc/y; echo evil > .envrc/x; mkfifo .envrc/y/p",
        "rm -rf .git/hooks; mkfifo .git/hooks",
    ],
)
def test_nothing_that_stands_in_the_way_keeps_a_loss(script: str, who: str) -> None:
    """All is as it was, and the journal knows of nothing that failed."""

    def do(world: World) -> None:
        shop = direct(world.root, script)
        assert {path.read_text() for path in (world.root / "u").iterdir()} == {
            f"{TEXT}{number}\n" for number in range(80)
        }
        assert (world.root / ".envrc").read_text() == "ok\n"
        assert (world.root / ".git/hooks").is_dir()
        assert not voided(shop)

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_what_a_command_makes_that_cannot_be_kept_is_left_out_and_said(who: str) -> None:
    """Nothing of it stands in the way when the folder around it is undone."""

    def do(world: World) -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(world.root / "socket"))
        shop = direct(world.root, "mkdir new; mkfifo pipe new/pipe; cp -a socket new/socket")
        assert (world.root / "socket").is_socket()
        assert list((world.root / "new").iterdir()) == []
        assert not (world.root / "pipe").exists()
        said = str(results(shop))
        assert all(f"Not kept: {what}" in said for what in ("pipe", "new/pipe", "new/socket"))

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_a_socket_in_the_place_of_something_is_not_in_the_way_of_its_undo(who: str) -> None:
    def do(world: World) -> None:
        os.symlink("elsewhere", world.root / "latest")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(world.root / "socket"))
        shop = direct(world.root, "rm latest; cp -a socket latest")
        assert (world.root / "socket").is_socket()
        assert os.readlink(world.root / "latest") == "elsewhere"
        assert "Not kept: latest is a socket." in str(results(shop))

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("answer", ["allow", "deny"])
@pytest.mark.parametrize(
    "script",
    [
        "rm a.txt; mkdir a.txt; cp -a socket a.txt/s",
        "rm latest; mkdir latest; cp -a socket latest/s",
        "rm a.txt; mkdir -p a.txt/b; cp -a socket a.txt/s; cp -a socket a.txt/b/s",
        "rm u/1.txt; mkdir u/1.txt; cp -a socket u/1.txt/s; chmod 000 u/1.txt",
    ],
)
def test_a_socket_in_a_folder_that_replaced_something_is_not_in_the_way(
    script: str, answer: str, who: str
) -> None:
    """Allowed and undone, or denied: all is as it was, and nothing says that it cannot be."""

    def do(world: World) -> None:
        (world.root / "a.txt").write_text(TEXT)
        (world.root / "u").mkdir()
        (world.root / "u/1.txt").write_text(TEXT)
        os.symlink("elsewhere", world.root / "latest")
        (world.root / "step.sh").write_text(script)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(world.root / "socket"))
        before = tree(world.root, times=False)
        shop = Undone(world.root, answer=lambda m: "allow" if of_command(m) else answer)
        shop.undo = answer == "allow"
        shop.one("workspace_run_command", command="sh step.sh")
        said = str(results(shop))
        assert tree(world.root, times=False) == before
        assert "/s is a socket." in said
        assert "Cannot be undone" not in said

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("rm latest; cp -a socket latest", "latest is a socket."),
        ("rm a.txt; mkfifo a.txt", "a.txt is a pipe."),
        ("mkdir -p n/m; mkfifo n/m/p; echo x > n/x", "n/m/p is a pipe."),
        ("rm a.txt; mkdir a.txt; cp -a socket a.txt/s", "a.txt/s is a socket."),
        ("rm .envrc; cp -a socket .envrc", ".envrc is a socket."),
    ],
)
def test_what_a_command_outside_the_sandbox_leaves_in_the_way_goes_with_its_undo(
    script: str, what: str, who: str
) -> None:
    """It stays until then, and the result says so."""

    def do(world: World) -> None:
        (world.root / "a.txt").write_text(TEXT)
        (world.root / ".envrc").write_text("ok\n")
        os.symlink("elsewhere", world.root / "latest")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(world.root / "socket"))
        before = tree(world.root, times=False)
        shop = Undone(world.root, answer=lambda _: "allow")
        result = shop.one("workspace_run_command", command=script, outside_sandbox=True)
        assert f"{what} Undo removes it; redo cannot bring it back." in str(result.output)
        assert tree(world.root, times=False) == before

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_what_else_it_leaves_is_said_to_stay_when_it_is_undone(who: str) -> None:
    """A socket in a folder that was there may be that of a program someone just started."""

    def do(world: World) -> None:
        shop = Undone(world.root, answer=lambda _: "allow")
        script = "echo x > x; mkfifo pipe"
        result = shop.one("workspace_run_command", command=script, outside_sandbox=True)
        assert "Cannot be undone: pipe is a pipe." in str(result.output)
        assert (world.root / "pipe").is_fifo()
        assert not (world.root / "x").exists()

    as_somebody(who, do)


class Served(Undone):
    """A person starts a program that listens in the folder which the agent made."""

    async def during(self, thread: ThreadHandle) -> None:
        """Start it, then undo what the agent did."""
        await thread.wait()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.folder / "n/server"))
        await super().during(thread)


def test_an_undo_removes_no_socket_of_a_person() -> None:
    def do(world: World) -> None:
        shop = Served(world.root, answer=lambda _: "allow")
        script = "mkdir n; mkfifo n/p; echo x > n/x"
        shop.one("workspace_run_command", command=script, outside_sandbox=True)
        assert (world.root / "n/server").is_socket()
        assert not (world.root / "n/x").exists()

    as_somebody(EVERYBODY[0], do)


def test_a_pipe_of_a_person_that_goes_is_judged_and_named() -> None:
    """What is protected was refused, even where that comes too late."""

    def do(world: World) -> None:
        os.mkfifo(world.root / "pipe")
        os.mkfifo(world.root / ".mcp.json")
        shop = direct(world.root, "rm pipe .mcp.json")
        said = str(results(shop))
        assert "Cannot be restored once it is gone: pipe is a pipe." in said
        assert "It could not be undone: .mcp.json" in said

    as_somebody(EVERYBODY[0], do)


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("mode", ["777", "400"])
def test_nobody_else_is_let_into_the_workspace_and_its_owner_is(mode: str, who: str) -> None:
    """A refused mode of the folder itself is undone, too."""

    def do(world: World) -> None:
        before = world.root.stat().st_mode
        direct(world.root, f"chmod {mode} .")
        assert world.root.stat().st_mode == before

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
def test_a_folder_that_may_not_be_written_in_stays_so_when_a_bit_is_dropped_in_it(who: str) -> None:
    """A file in it that would run as its owner loses that, and the folder keeps its mode."""

    def do(world: World) -> None:
        direct(world.root, "mkdir d; echo x > d/runs; chmod 4755 d/runs; chmod 555 d")
        modes = [stat.S_IMODE(os.stat(world.root / path).st_mode) for path in ("d", "d/runs")]
        assert modes == [0o555, 0o755]

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize(
    "scripts",
    [
        (f"echo evil > {HOOK}; chmod 000 .git/hooks", "chmod 755 .git/hooks"),
        (f"echo evil > {HOOK}; chmod 000 .git",),
        (f"echo evil > {HOOK}; chmod 000 .",),
        ("mkdir .husky; echo evil > .husky/pre-commit; chmod 311 .husky",),
        ("chmod 000 u", "chmod 755 u; rm -rf u"),
    ],
)
def test_nothing_hides_in_a_folder_made_unreadable(scripts: tuple[str, ...], who: str) -> None:
    """Neither what is protected nor what is lost."""

    def do(world: World) -> None:
        direct(world.root, *scripts)
        for folder in (
            world.root,
            world.root / ".git",
            world.root / ".git/hooks",
            world.root / "u",
        ):
            os.chmod(folder, 0o755)
        assert not (world.root / HOOK).exists()
        assert not (world.root / ".husky/pre-commit").exists()
        assert len(list((world.root / "u").iterdir())) == 80

    as_somebody(who, do)


def test_what_changed_files_is_not_run_again_over_them() -> None:
    """A command that changed nothing is: with permission for exactly what was refused."""

    def do(world: World) -> None:
        home = world.root.parent / "given"
        home.mkdir()
        (home / "notes").write_text("old\n")
        for name, before in (("first", "echo ran >> log; "), ("second", "")):
            (world.root / f"{name}.sh").write_text(f"{before}echo new > {home}/notes")
        shop = Workshop(
            world.root, answer=lambda _: "allow", approvals="review", environ={"HOME": str(home)}
        )
        changed, again = shop.do(
            ("workspace_run_command", {"command": "sh first.sh"}),
            ("workspace_run_command", {"command": "sh second.sh"}),
        )
        assert "not run again, because it has changed files" in changed.output["note"], changed
        assert changed.output["changes"] == ["created log"]
        assert (world.root / "log").read_text() == "ran\n"
        assert "was run again with your permission" in again.output["note"], again
        assert (home / "notes").read_text() == "new\n"

    as_somebody(EVERYBODY[0], do)


class InTurn(Workshop):
    """Background first: the second command starts when the first one goes on alone."""

    def overlapping(self, first: str, second: str) -> list[ToolResult]:
        """Run two scripts of the repository that want to work at the same time."""
        for name, text in (("first.sh", first), ("second.sh", second)):
            (self.folder / name).write_text(text)
        return self.do(
            ("workspace_run_command", {"command": "sh first.sh", "background": True}),
            ("workspace_run_command", {"command": "sh second.sh"}),
        )


UNTIL_ASKED = "until [ -e go ]; do sleep 0.05; done"


@pytest.mark.parametrize("who", EVERYBODY)
def test_two_commands_cannot_hide_a_hook_behind_each_other(who: str) -> None:
    """The second one would write the hook again when that of the first was undone."""

    def do(world: World) -> None:
        write = f"echo evil > {HOOK}"
        shop = InTurn(world.root)
        first, second = shop.overlapping(
            f"{write}; {UNTIL_ASKED}",
            f"touch go; while [ -e {HOOK} ]; do sleep 0.05; done; {write}",
        )
        assert first.status == "ok"
        assert "another one is working on this folder" in second.message
        assert not (world.root / HOOK).exists()

    as_somebody(who, do)


def test_two_commands_cannot_hide_a_loss_behind_each_other() -> None:
    """What both delete is judged once, and comes back."""

    def do(world: World) -> None:
        (world.root / "u").mkdir()
        for number in range(80):
            (world.root / f"u/{number}.txt").write_text(f"{TEXT}{number}\n")
        InTurn(world.root).overlapping(
            f"rm -rf u; {UNTIL_ASKED}",
            "touch go; until [ -e u/79.txt ]; do sleep 0.05; done; rm -rf u",
        )
        assert len(list((world.root / "u").iterdir())) == 80

    as_somebody(EVERYBODY[0], do)


class Cancelled(Workshop):
    """The person ends the turn as soon as the command has done something."""

    async def during(self, thread: ThreadHandle) -> None:
        """Cancel it."""
        while not (self.folder / "go").exists():
            await asyncio.sleep(0.01)
        await thread.cancel()


def test_what_a_cancelled_command_did_is_judged_all_the_same() -> None:
    """Nothing stands because nobody waited for it."""

    def do(world: World) -> None:
        (world.root / "step.sh").write_text(f"echo evil > {HOOK}; echo a > a; touch go; sleep 60")
        shop = Cancelled(world.root)
        shop.one("workspace_run_command", command="sh step.sh")
        assert not (world.root / HOOK).exists()
        assert any(isinstance(m.body, Checkpoint) for m in shop.messages)
        assert (world.root / "a").exists()

    as_somebody(EVERYBODY[0], do)


@pytest.mark.parametrize(("other", "free"), [("", False), ("sub", False), ("..", False),
                                             ("../beside", True)])  # fmt: skip
def test_a_command_has_all_of_its_folder_for_itself(tmp_path: Path, other: str, free: bool) -> None:
    """In whatever thread or process the other one runs; folders beside it are free."""
    root = tmp_path / "w"
    held, another = (
        Hold(str(tmp_path / "locks"), os.path.normpath(path)) for path in (root, root / other)
    )
    assert held.try_take()
    assert another.try_take() == free
    held.release()
    another.release()
    assert another.try_take()
    another.release()


@pytest.mark.parametrize(
    ("first", "second", "free"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_who_was_let_out_shares_a_folder_only_with_such(
    tmp_path: Path, first: bool, second: bool, free: bool
) -> None:
    """A command that is judged by what changes in the folder is alone."""
    one, other = (Hold(str(tmp_path / "locks"), "/w", shared=how) for how in (first, second))
    assert one.try_take()
    assert other.try_take() == free
    one.release()
    other.release()


def test_a_command_that_was_let_out_does_not_run_beside_one_that_is_judged() -> None:
    """Its changes would be taken for those of the other one, and undone with them."""
    with a_folder() as folder:
        shop = Workshop(folder, answer=lambda _: "allow")
        name = "workspace_run_command"
        first, second, third = shop.do(
            (name, {"command": "sleep 60", "background": True, "wait_timeout": 0.01}),
            (name, {"command": "touch out", "outside_sandbox": True}),
            ("workspace_list_processes", {}),
        )
        assert (first.status, third.status) == ("ok", "ok")
        assert "another one is working on this folder" in second.message
        assert not (folder / "out").exists()


class Beside(Workshop):
    """A person works in the folder while a command runs there that does nothing."""

    kept: ClassVar[dict[str, str]] = {}

    def meanwhile(self) -> None:
        """What the person does."""
        (self.folder / ".vscode").mkdir()
        (self.folder / ".vscode/settings.json").write_text("person\n")
        (self.folder / ".envrc").write_text("person, too\n")
        (self.folder / HOOK).symlink_to("/bin/true")

    async def during(self, thread: ThreadHandle) -> None:
        """Work, then see what is kept; the host's folder is there no longer than the host."""
        while not (self.folder / "go").exists():
            await asyncio.sleep(0.01)
        self.meanwhile()
        (self.folder / "done").touch()
        await thread.wait()
        while not (found := [m.body for m in self.told if isinstance(m.body, ToolResult)]):
            await asyncio.sleep(0.01)
        if named := re.search(r"kept in (/[\w./-]+)", str(found[0].output)):
            folder = Path(named[1])
            self.kept = {
                str(path.relative_to(folder)): os.readlink(path)
                if path.is_symlink()
                else path.read_text()
                for path in folder.rglob("*")
                if path.is_symlink() or path.is_file()
            }


IDLE = "touch go; until [ -e done ]; do sleep 0.05; done"


@pytest.mark.parametrize("who", EVERYBODY)
def test_nothing_that_a_person_does_meanwhile_is_lost(who: str) -> None:
    """Nobody can tell whose it is: it is undone, and the result says where it is kept."""

    def do(world: World) -> None:
        (world.root / ".envrc").write_text("before\n")
        shop = Beside(world.root)
        shop.one("workspace_run_command", command=IDLE)
        assert (world.root / ".envrc").read_text() == "before\n"
        assert shop.kept == {
            ".vscode/settings.json": "person\n",
            ".envrc": "person, too\n",
            HOOK: "/bin/true",
        }

    as_somebody(who, do)


@pytest.mark.parametrize("answer", ["allow", "deny"])
def test_a_person_who_can_be_asked_hears_that_it_may_be_their_own(answer: str) -> None:
    """And decides; a copy is kept in any case."""

    def do(world: World) -> None:
        reasons: list[str] = []

        def answered(message: Message) -> str:
            assert isinstance(message.body, ConfirmRequest)
            if isinstance(message.body.actions[0], Execute):
                return "allow"
            reasons.append(message.body.reason)
            return answer

        shop = Beside(world.root, answer=answered)
        shop.one("workspace_run_command", command=IDLE)
        assert all("it may be your own change" in reason for reason in reasons)
        assert reasons
        assert (world.root / ".envrc").exists() == (answer == "allow")
        assert (".envrc" in shop.kept) == (answer == "deny")

    as_somebody(EVERYBODY[0], do)


class Killed(Workshop):
    """A thread whose host dies while a command works on the folder; then another, in the same home.

    The second one only lists files, and a person undoes what is named.
    """

    def at(self, home: Path, *calls: Deed) -> None:
        """Carry out calls with a home that lasts."""
        asyncio.run(asyncio.wait_for(self._work(home, calls), PATIENCE))

    def killed(self, home: Path, script: str) -> None:
        """Run a script until it makes a file `go`, and kill the host then."""
        (self.folder / "step.sh").write_text(f"{script}; touch go; sleep 60")
        child = os.fork()
        if child == 0:
            try:
                self.at(home, ("workspace_run_command", {"command": "sh step.sh"}))
            finally:
                os._exit(1)
        while not (self.folder / "go").exists():
            assert os.waitpid(child, os.WNOHANG) == (0, 0)
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class Undoing(Killed):
    """A person undoes at once what the start of the thread named."""

    async def during(self, thread: ThreadHandle) -> None:
        """Undo it."""
        await thread.wait()
        await thread.undo(await thread.plan_undo(turn=0))


@pytest.mark.parametrize("who", EVERYBODY)
def test_what_a_command_did_whose_host_was_killed_is_named_and_can_be_undone(who: str) -> None:
    """A hook and 80 deleted files; what the person did since is none of it."""

    def do(world: World) -> None:
        home = world.folder / "host"
        home.mkdir()
        (world.root / "u").mkdir()
        for number in range(80):
            (world.root / f"u/{number}.txt").write_text(f"{TEXT}{number}\n")
        shop = Undoing(world.root)
        shop.killed(home, f"echo evil > {HOOK}; rm -rf u; echo a > a")
        (world.root / "mine.txt").write_text("person\n")
        shop.at(home, ("workspace_list_files", {}))
        (said,) = [m.body.what for m in shop.messages if isinstance(m.body, Error)]
        assert "was cut off before it was judged" in said
        assert f"created {HOOK}" in said
        assert "mine.txt" not in said
        assert not (world.root / HOOK).exists()
        assert len(list((world.root / "u").iterdir())) == 80
        assert (world.root / "mine.txt").read_text() == "person\n"
        shop = Killed(world.root)
        shop.at(home, ("workspace_list_files", {}))
        assert not any(isinstance(m.body, Error) for m in shop.messages)

    as_somebody(who, do)


class Waiting(Killed):
    """The folder is somebody else's until the thread has begun."""

    hold: Hold

    async def during(self, thread: ThreadHandle) -> None:
        """Let the command begin."""
        self.hold.release()


def test_a_command_names_what_a_killed_one_left_before_it_begins() -> None:
    """Nothing of it is held for its own or for what was there before."""

    def do(world: World) -> None:
        home = world.folder / "host"
        home.mkdir()
        shop = Waiting(world.root)
        shop.hold = Hold(str(home / "data/direct"), str(world.root))
        shop.killed(home, f"echo evil > {HOOK}")
        assert shop.hold.try_take()
        shop.at(home, ("workspace_run_command", {"command": "echo b > b"}))
        kinds = [m.kind for m in shop.messages if m.kind in ("tool_call", "error", "tool_result")]
        assert kinds == ["tool_call", "error", "tool_result"]
        assert f"created {HOOK}" in str([m.body for m in shop.messages if m.kind == "error"])
        assert [m.body.count for m in shop.messages if isinstance(m.body, Checkpoint)] == [1, 1]

    as_somebody(EVERYBODY[0], do)
