"""Whoever holds a token for a folder over HTTPS says yes to everything, and forges the log.

They speak the line by themselves: no gate of theirs judges anything. What they get is at most what
the settings of the other machine give to a command in the sandbox of that folder.
"""

import asyncio
import hashlib
import os
import socket
import stat
import subprocess
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from types import NoneType
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from steersman.hands import MOST
from steersman.host.reaching_web import dialing
from steersman.host.token_workplaces import MOST_LINES
from steersman.records.action import Execute, Write
from steersman.records.change import ABSENT, Change, FileState
from steersman.records.dialogue import Call
from steersman.records.errors import Denied, SteersmanError
from steersman.records.far import far
from steersman.records.judgement import CommandPlace, Judgement
from steersman.records.message import Checkpoint, ToolResult
from steersman.records.profile import Profile
from steersman.records.settings import Settings
from steersman.records.thread import Activity, Thread
from steersman.records.undo import UndoPlan
from steersman.threads.remote.calling import Caller
from steersman.threads.remote.line import Line
from steersman.threads.remote.words import (
    Admit,
    Admitted,
    Confine,
    Do,
    Done,
    Drafted,
    Grounding,
    Guarded,
    Leave,
    Names,
    Open,
    Opened,
    Reading,
    Reverse,
    Stored,
    Way,
    heard,
    spoken,
)
from tests.remote.conftest import SECRET
from tests.remote.served import Webbox

ANYTHING = Profile(
    sandbox=False, files="write", writable=("/",), granted=("/",), given=("/",), readable=("/",),
    network="host", nearby=("127.0.0.1:1",), reaches=("127.0.0.1:1",), escalate="anything",
    sockets=("/run/docker.sock",), environ={"PATH": os.environ["PATH"], "FORGED": "1"},
)  # fmt: skip
WIDE = Settings(
    trust="untrusted", approvals="never", sandbox="none", add_dir=("/",), domains=("*",),
    environment=("BOX_API_TOKEN",), sockets=("/run/docker.sock",),
)  # fmt: skip
LANE = "steersman/operations"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webbox]:
    """A machine with a project, and things beside it that are nobody else's business."""
    home = tmp_path_factory.mktemp("attacked") / "box"
    project = home / "project"
    project.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / "a.txt").write_text("a\n")
    (project / "conf").mkdir()
    (project / "conf" / "production").write_text("also secret\n")
    (project / ".env.production").symlink_to("conf/production")
    (project / "private").mkdir()
    (project / "private" / "notes").write_text("of this machine alone\n")
    (home / ".config/steersman").mkdir(parents=True)
    (home / ".config/steersman/config.toml").write_text('deny = ["Read(./private/**)"]\n')
    (project / ".env").write_text("PASSWORD=hunter2-hunter2\n")
    (home / "beside.txt").write_text("beside\n")
    (project / "way").symlink_to(home)
    made = Webbox(home, project)
    yield made
    errors = made.stop()
    assert "Traceback" not in errors, errors


class Attacker:
    """A host that allows everything; `log` is what it says was logged."""

    def __init__(self, box: Webbox) -> None:
        self.box, self.root = box, os.path.realpath(box.project)
        self.thread = f"t{token_hex(4)}"
        self.log: list[Stored] = []
        self.asked: list[Admit] = []
        self.unknown: list[str] = []  # what it was asked and has no forged answer to
        self.line = Line(token_hex(16), self._answer, lambda method, body: None)
        place, environ = far(box.address), {"STEERSMAN_TOKEN": box.for_project}
        self.caller = Caller(dialing(place, environ), self.line)

    async def open(self, settings: Settings = WIDE, **more: Any) -> Opened:
        await self.caller.open()
        given: dict[str, Any] = {"thread": self.thread, "head": 0, "settings": settings} | more
        return await self.line.ask("open", Open(**given), Opened)

    async def do(self, tool: str, **arguments: Any) -> ToolResult:
        """What comes of a call that this host allows."""
        call = Call(token_hex(4), tool, arguments)
        done = await self.line.ask("do", Do(call, LANE, 1, 0), Done)
        result = heard(done.result)
        assert isinstance(result, ToolResult)
        return result

    def forge(self, *changes: Change, **more: Any) -> None:
        """Have the log say that changes were made."""
        body = Checkpoint("effect", changes, **more)
        at = len(self.log) + 1
        self.log.append(Stored(at, datetime.now(UTC), 1, LANE, None, spoken(body)))

    async def _answer(self, method: str, raw: Raw) -> Any:
        match method:
            case "admit" | "glance":
                self.asked.append(msgspec.msgpack.decode(raw, type=Admit))
                return Admitted(0, leave=Leave(ANYTHING, ""))
            case "append":
                drafts = msgspec.msgpack.decode(raw, type=list[Drafted])
                at, now = len(self.log), datetime.now(UTC)
                made = [Stored(at + place, now, one.turn, one.path, one.corr, one.said)
                        for place, one in enumerate(drafts, 1)]  # fmt: skip
                self.log += made
                return made
            case "read":
                asked = msgspec.msgpack.decode(raw, type=Reading)
                if asked.back:
                    return self.log[::-1] if asked.until is None else []
                return self.log if asked.after == 0 else []
            case "thread":
                now = datetime.now(UTC)
                return Thread(self.thread, "forged", self.root, "cli", now, now)
        self.unknown.append(method)
        return None


def played(
    attack: Callable[[Attacker], Coroutine[Any, Any, None]],
) -> Callable[[Webbox], None]:
    """An attack on the machine, over a line of its own."""

    def play(box: Webbox) -> None:
        async def whole() -> None:
            attacker = Attacker(box)
            try:
                await attack(attacker)
                assert not attacker.unknown
            finally:
                await attacker.caller.close()

        asyncio.run(asyncio.wait_for(whole(), 300))

    play.__name__, play.__doc__ = attack.__name__, attack.__doc__
    return play


def file(content: str, mode: int = 0o644) -> FileState:
    data = content.encode()
    return FileState("file", mode, hashlib.sha256(data).hexdigest(), len(data))


@played
async def test_i_run_a_command_without_a_sandbox(me: Attacker) -> None:
    await me.open()
    beside = me.box.home / "made-by-command"
    shown = await me.do("workspace_run_command", command=f"touch {beside}; echo $FORGED-")
    assert not beside.exists()
    assert shown.output["output"].splitlines()[-1] == "-"  # nor is the environment mine
    out = await me.do("workspace_run_command", command=f"touch {beside}", outside_sandbox=True)
    assert out.status == "denied"
    assert "over HTTPS, commands stay in the sandbox" in out.message
    assert not beside.exists()


@played
async def test_i_reach_a_server_of_that_machine_from_a_command(me: Attacker) -> None:
    await me.open()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"
        got = await me.do("workspace_run_command", command=f"bash -c '{command}'")
        assert "reached" not in str(got.output)
        fetched = await me.do("web_fetch", url=f"http://127.0.0.1:{port}/")
        assert fetched.status == "denied", fetched
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()


@played
async def test_i_reach_any_host_through_the_door(me: Attacker) -> None:
    await me.open()
    fetched = await me.do("web_fetch", url="https://evil.example/")
    assert fetched.status == "denied"
    assert "the settings of the other machine do not allow it" in fetched.message


@pytest.mark.parametrize(
    "path", ["../beside.txt", "way/beside.txt", "/etc/passwd", ".env", "private/notes"]
)
def test_i_read_what_is_not_in_the_workspace_or_secret(box: Webbox, path: str) -> None:
    @played
    async def attack(me: Attacker) -> None:
        await me.open()
        got = await me.do("workspace_read_file", path=path)
        assert got.status in ("denied", "error"), got
        assert not me.asked

    attack(box)


@played
async def test_i_have_secret_files_shown_by_a_pattern_of_mine(me: Attacker) -> None:
    shown = ("!.env", "x\n!.env", "./x\n!.env")
    await me.open(unreadable=shown, exceptions=("!.env",))
    assert (await me.do("workspace_read_file", path=".env")).status == "denied"
    for tool, given in (
        ("workspace_search_pattern", {"pattern": "hunter2"}),
        ("workspace_run_command", {"command": "cat .env; grep -r hunter2 ."}),
    ):
        assert "hunter2" not in str((await me.do(tool, **given)).output)


@pytest.mark.parametrize(
    "path", ["../beside.txt", "way/beside.txt", "{home}/forged", ".git/hooks/pre-commit"]
)
def test_i_write_outside_of_the_workspace_or_what_others_run(box: Webbox, path: str) -> None:
    @played
    async def attack(me: Attacker) -> None:
        await me.open()
        place = os.path.join(me.root, path.format(home=me.box.home))
        given = path.format(home=me.box.home)
        got = await me.do("workspace_write_file", path=given, content="forged\n")
        assert got.status in ("denied", "error"), got
        await me.do("workspace_run_command", command=f"echo forged > {given}")
        assert not os.path.exists(place) or "forged" not in Path(place).read_text()

    attack(box)


@played
async def test_i_undo_what_was_never_done_to_write_what_others_run(me: Attacker) -> None:
    """A yes to an undo is the user's own; here anyone could say so."""
    await me.open()
    await me.line.ask("keep", b"#!/bin/sh\nevil\n", str)
    for path in (".git/hooks/pre-commit", "../forged", "way/forged", ".env"):
        change = Change(path, file("#!/bin/sh\nevil\n", 0o755), ABSENT)
        me.log.clear()
        me.forge(change)
        plan = UndoPlan("undo", (1,), (change.reversed(),))
        with pytest.raises(SteersmanError):
            await me.line.ask("reverse", Reverse(plan, True, LANE, 1, 0), int)
    assert not (Path(me.root) / ".git/hooks/pre-commit").exists()
    assert not (me.box.home / "forged").exists()
    assert "hunter2" in (Path(me.root) / ".env").read_text()


@played
async def test_i_undo_into_a_program_that_runs_as_its_owner(me: Attacker) -> None:
    await me.open()
    await me.line.ask("keep", b"#!/bin/sh\n", str)
    change = Change("tool", file("#!/bin/sh\n", 0o4755), ABSENT)
    me.forge(change)
    plan = UndoPlan("undo", (1,), (change.reversed(),))
    with pytest.raises(SteersmanError, match="cannot be undone over HTTPS"):
        await me.line.ask("reverse", Reverse(plan, True, LANE, 1, 0), int)
    assert not (Path(me.root) / "tool").exists()


@pytest.mark.parametrize("name", [".env", "private/notes", "conf/production"])
def test_i_forge_a_log_to_be_shown_a_secret_file(box: Webbox, name: str) -> None:
    """What an undo would overwrite is kept and named; from its name its content is had.

    Where a link with a secret name leads is as secret as the link.
    """
    played(lambda me: shown_by_a_log(me, name))(box)


async def shown_by_a_log(me: Attacker, name: str) -> None:
    await me.open()
    secret = (Path(me.root) / name).read_bytes()
    digest = hashlib.sha256(secret).hexdigest()
    change = Change(name, ABSENT, file("other\n"))
    hidden = await me.line.ask("keep", msgspec.json.encode((change,)), str)
    beside = await me.line.ask("keep", msgspec.json.encode((change, change)), str)
    plan = UndoPlan("undo", (1,), (change,), others=(change,))
    me.forge(Change("a.txt", file("before\n"), file("a\n")))
    believed = await me.line.ask("way", Way("plan_undo", (me.thread,), {}), UndoPlan)
    assert [one.path for one in believed.changes] == ["a.txt"]  # where nothing is secret
    told = []
    for forged in ({}, {"manifest": hidden, "count": 1}, {"manifest": beside, "count": 0}):
        me.log.clear()
        me.forge(*(() if forged else (change,)), **forged)
        for method, *given in (
            ("plan_undo",), ("made_in_all",), ("plan_rewind", 0), ("conflicts", plan),
            ("describe", plan), ("rest", plan, []), ("since", (change,)), ("stands", plan),
        ):  # fmt: skip
            try:
                way = Way(method, (me.thread, *given), {})
                told.append(str(await me.line.ask("way", way, Any)))
            except SteersmanError as refused:
                told.append(str(refused))
    assert digest not in "".join(told)
    assert "it is a secret file" in "".join(told)
    assert await me.line.ask("blob", digest, bytes | None) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["../../../forged", "", "a/b", ".."])
def test_i_name_a_thread_so_that_folders_are_made_elsewhere(box: Webbox, name: str) -> None:
    @played
    async def attack(me: Attacker) -> None:
        with pytest.raises(SteersmanError, match="no name of a thread"):
            await me.open(thread=name)
        change = Change("a.txt", ABSENT, file("a\n"))
        plan = UndoPlan("undo", (1,), (change,), others=(change,))
        way = Way("copy_others", (name, plan, ["a.txt"]), {})
        with pytest.raises(SteersmanError, match="no name of a thread"):
            await me.line.ask("way", way, str)

    attack(box)


@played
async def test_i_ask_for_the_secrets_of_the_machine(me: Attacker) -> None:
    opened = await me.open()
    assert opened.masks == ()
    got = await me.do("workspace_run_command", command="env | base64 -w0; env")
    assert SECRET not in got.output["output"]
    assert "BOX_API_TOKEN" not in got.output["output"]


@played
async def test_i_read_files_with_what_the_gate_may_ask(me: Attacker) -> None:
    """Questions about paths are answered for the workspace of the token, and for no other."""
    await me.open()
    place = CommandPlace("/etc", "/root", "/etc")
    for method, asked in (
        ("named", Names({"a": "passwd"}, "/etc", "/root")),
        ("protected", Guarded(Write("/etc/passwd"), "/etc")),
        ("grounded", Grounding(Judgement("allow", "guard.none", ""), place, "", False, False)),
        ("profile", Confine(Execute("npm ci", "/etc"), "code", "sandboxed", "full", (), (),
                            None, ())),
    ):  # fmt: skip
        with pytest.raises(SteersmanError, match=r"another workspace|no folder of the workspace"):
            await me.line.ask(method, asked, Any)


@played
async def test_i_widen_the_settings_afterwards(me: Attacker) -> None:
    await me.open(Settings())
    await me.line.ask("apply", WIDE, NoneType)
    assert (await me.do("workspace_read_file", path="/etc/passwd")).status == "denied"
    beside = me.box.home / "made-after-apply"
    await me.do("workspace_run_command", command=f"touch {beside}")
    assert not beside.exists()


@played
async def test_i_open_thread_after_thread_on_one_line(me: Attacker) -> None:
    await me.open()
    with pytest.raises(SteersmanError, match="already"):
        await me.line.ask("open", Open("other", 0, Settings()), Opened)


@played
async def test_i_open_two_threads_at_once_on_one_line(me: Attacker) -> None:
    """Nobody would end what the first of them has running."""
    await me.caller.open()
    opened = await asyncio.gather(
        *(me.line.ask("open", Open(f"{me.thread}{n}", 0, WIDE), Opened) for n in range(2)),
        return_exceptions=True,
    )
    assert {type(one) for one in opened} == {Opened, Denied}
    assert "A thread is open on this line already." in str(opened)


@played
async def test_i_open_one_thread_at_once_on_two_lines(me: Attacker) -> None:
    other = Attacker(me.box)
    other.thread = me.thread
    try:
        await asyncio.gather(me.open(), other.open(), return_exceptions=True)
        done = await asyncio.gather(
            *(one.do("workspace_run_command", command="true") for one in (me, other)),
            return_exceptions=True,
        )
        assert {type(one) for one in done} == {ToolResult, SteersmanError}
        assert "Another host has taken the thread up." in str(done)
    finally:
        await other.caller.close()


@played
async def test_i_say_that_a_session_was_cut_off_to_compare_a_secret_file(me: Attacker) -> None:
    """What it has not done to a file, because the file is as it was, is said into the log."""
    await me.open()
    for name, told in (("a.txt", ["effect", "void"]), (".env", ["effect"])):
        path = Path(me.root) / name
        mode = stat.S_IMODE(path.stat().st_mode)
        me.log.clear()
        me.forge(Change(name, file(path.read_text(), mode), file("other\n")))
        await me.line.ask("recover", Activity(), NoneType)
        assert [getattr(heard(one.said), "cause", "") for one in me.log] == told, name


@played
async def test_i_open_line_after_line(me: Attacker) -> None:
    others = [Attacker(me.box) for _ in range(MOST_LINES)]
    try:
        for one in others:
            await one.caller.open()
        with pytest.raises(SteersmanError, match="as many lines to the workspace as one can have"):
            await me.caller.open()
    finally:
        for one in others:
            await one.caller.close()


@played
async def test_i_keep_every_thread_of_the_server_waiting_for_my_answer(me: Attacker) -> None:
    """It has some for me alone; two of them at most look for a way back at a time."""
    reading = asyncio.Semaphore(0)
    mine = me._answer

    async def silent(method: str, raw: Raw) -> Any:
        if method == "read":
            reading.release()
            await asyncio.Event().wait()
        return await mine(method, raw)

    me.line._handle = silent
    await me.open()
    for _ in range(MOST):
        await me.line.send("way", Way("plan_undo", (me.thread,), {}))
        await me.line.send("recover", Activity())
    for _ in range(MOST):
        await reading.acquire()
    for path in ("/readyz", "/api/v0/me", "/api/v0/threads"):
        assert (await asyncio.to_thread(me.box.request, "GET", path)).status == 200


def test_i_continue_the_line_of_another_token(box: Webbox) -> None:
    """Its name is not enough: lines are those of one token."""
    other = box.make_token("other")

    async def attack() -> None:
        me = Attacker(box)
        await me.open()
        thief = Attacker(box)
        thief.caller = Caller(dialing(far(box.address), {"STEERSMAN_TOKEN": other}), thief.line)
        thief.line.name = me.line.name
        try:
            await thief.caller.open()
            with pytest.raises(SteersmanError, match="No thread was opened on this line"):
                await thief.line.ask("results", ["x"], list[Done | None])
            assert (await me.do("workspace_read_file", path="a.txt")).status == "ok"
        finally:
            await thief.caller.close()
            await me.caller.close()

    asyncio.run(asyncio.wait_for(attack(), 120))


def test_i_take_up_the_thread_of_another_token(box: Webbox) -> None:
    """Threads, and what was kept for them, are those of one token, in the same folder as well."""
    other = box.make_token("beside")
    content = "of the first alone\n"

    async def attack() -> None:
        owner, thief = Attacker(box), Attacker(box)
        thief.caller = Caller(dialing(far(box.address), {"STEERSMAN_TOKEN": other}), thief.line)
        thief.thread = owner.thread
        try:
            await owner.open()
            for said in (content, "and not any more\n"):
                await owner.do("workspace_write_file", path="kept.txt", content=said)
            assert await owner.line.ask_for("blob", file(content).digest, bytes) == content.encode()
            await thief.open()
            assert await thief.line.ask_for("blob", file(content).digest, bytes) is None
            assert (await owner.do("workspace_read_file", path="a.txt")).status == "ok"
        finally:
            await thief.caller.close()
            await owner.caller.close()

    asyncio.run(asyncio.wait_for(attack(), 120))


@played
async def test_what_a_token_is_for_works(me: Attacker) -> None:
    """The same line, used as it is meant to be."""
    await me.open()
    done = await me.do("workspace_run_command", command="echo b > b.txt; cat a.txt")
    assert done.status == "ok", done
    assert done.output["output"] == "a\n"
    written = await me.do("workspace_write_file", path="c.txt", content="c\n")
    assert written.status == "ok", written
    assert [(Path(me.root) / name).read_text() for name in ("b.txt", "c.txt")] == ["b\n", "c\n"]
