"""Commands as a model runs them, through the gate: where they run and what is said of it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from steersman.records.action import Execute, Network
from steersman.records.message import (
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Policy,
    ToolResult,
)
from steersman.threads.handle import ThreadHandle
from steersman.views.requests import title
from tests.operations.sandbox.kit import a_folder
from tests.operations.workshop import Workshop
from tests.world import call

RENAME = 'python3 -c \'import os; os.rename("d", "e")\''


def inside_only(message: Message) -> str:
    """Allow what stays in the sandbox."""
    assert isinstance(message.body, ConfirmRequest)
    again = any(isinstance(one, Execute) and one.again for one in message.body.actions)
    return "deny" if again else "allow"


class Shop:
    """A workspace with a command run in it."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.root = folder / "work"
        (self.root / "d").mkdir(parents=True)
        (self.root / "d/f").write_text("f")
        self.workshop = Workshop(self.root, **settings)

    def run(self, command: str, **arguments: Any) -> ToolResult:
        """Run a command."""
        return self.workshop.one("workspace_run_command", command=command, **arguments)

    def run_script(self, script: str, **arguments: Any) -> ToolResult:
        """Run a script, whose words the guard does not see."""
        (self.root / "s.sh").write_text(script)
        return self.run("bash s.sh", **arguments)

    def judged(self) -> list[Any]:
        """What the gate was asked."""
        return [m.body.action for m in self.workshop.messages if isinstance(m.body, Policy)]


def test_what_a_view_cannot_do_is_done_in_the_same_sandbox() -> None:
    """Over a copy, so its effects wait for judgement like those of any other."""
    with a_folder() as folder:
        shop = Shop(folder, answer=inside_only)
        result = shop.run_script(f"{RENAME} && (: > {folder}/out)")
        assert "ran a second time, on a copy" in result.output["note"]
        assert sorted(os.listdir(shop.root)) == ["e", "s.sh"]
        assert os.listdir(folder) == ["work"]
        asked = [action for action in shop.judged() if isinstance(action, Execute)]
        assert [(one.direct, one.again) for one in asked] == [(False, False), (False, True)]


@pytest.mark.parametrize("someone", [True, False])
def test_a_workspace_that_is_too_large_for_a_copy_is_left_alone(monkeypatch, someone) -> None:
    """To leave the sandbox is proposed only where someone can be asked about it."""
    monkeypatch.setattr("steersman.operations.running.copied.MOST_PATHS", 1)
    with a_folder() as folder:
        shop = Shop(folder, answer=(lambda _: "allow") if someone else None)
        result = shop.run_script(RENAME)
        assert result.status == "error"
        assert "too large to be copied" in result.message
        assert ("outside_sandbox" in result.message) is someone
        assert sorted(os.listdir(shop.root)) == ["d", "s.sh"]


def test_in_the_background_it_works_on_the_workspace_itself() -> None:
    """Still confined, and nothing is left of what held the place of missing files."""
    with a_folder() as folder:
        shop = Shop(folder, answer=inside_only)
        script = f"touch made; (: > {folder}/out); ls -d .vs* > seen; touch .vscode/tasks.json"
        result = shop.run_script(script, background=True, wait_timeout=30)
        assert result.output["exit_code"] == 1
        assert sorted(result.output["changes"]) == ["created made", "created seen"]
        assert sorted(os.listdir(shop.root)) == ["d", "made", "s.sh", "seen"]
        assert os.listdir(folder) == ["work"]


def test_a_failure_of_the_sandbox_is_explained() -> None:
    """So that whoever ran it knows what to do."""
    with a_folder() as folder:
        beside = 'pathlib.Path.cwd().with_name("x").touch()'
        result = Shop(folder).run(f"python3 -c 'import pathlib; {beside}'")
        assert "the sandbox is read-only outside the workspace" in result.output["note"]
        assert "outside_sandbox" in result.output["note"]


@pytest.mark.parametrize("background", [False, True])
def test_a_host_that_is_not_allowed(background: bool) -> None:
    """The door asks the gate before a name is looked up, and the command is told."""
    with a_folder() as folder:
        shop = Shop(folder)
        result = shop.run(
            "curl -sS http://steersman.invalid", background=background, wait_timeout=30
        )
        assert "steersman.invalid" in str(result.output)
        if not background:
            assert Network("steersman.invalid", 80) in shop.judged()


def test_in_plan_mode_nothing_changes() -> None:
    """The workspace is mounted to be read."""
    with a_folder() as folder:
        shop = Shop(folder, mode="plan")
        shop.run("cat d/f; touch new; rm -rf d")
        assert [str(path.relative_to(shop.root)) for path in shop.root.rglob("*")] == ["d", "d/f"]


class Asked(Shop):
    """A workspace in a home folder, with a person who is asked and answers in turn."""

    def __init__(self, folder: Path, *answers: ConfirmResponse, **settings: Any) -> None:
        self.asked: list[ConfirmRequest] = []
        left = list(answers)

        def answer(message: Message) -> ConfirmResponse:
            assert isinstance(message.body, ConfirmRequest)
            self.asked.append(message.body)
            return left.pop(0)

        self.home = folder / "home"
        self.home.mkdir()
        (self.home / ".deployed").write_text("old\n")
        environ = {"HOME": str(self.home)}
        super().__init__(folder, answer=answer, environ=environ, **settings)


ONCE, THREAD = ConfirmResponse("allow"), ConfirmResponse("allow", scope="thread")
DENY = ConfirmResponse("deny")


def test_a_command_is_given_exactly_what_its_sandbox_refused() -> None:
    """Not the whole outside: the question quotes it, and nothing else can be written."""
    with a_folder() as folder:
        shop = Asked(folder, ONCE, DENY, approvals="on-failure")
        script = "echo x > $HOME/.deployed || exit 1; echo y > $HOME/other; exit 3"
        result = shop.run_script(script)
        request = shop.asked[0]
        (wanted,) = request.actions
        assert isinstance(wanted, Execute)
        assert (wanted.outside, wanted.writes) == (False, (f"{shop.home}/.deployed",))
        assert request.reason == (
            "`bash s.sh` could not write ~/.deployed. Allow that and run it again?"
            " What it changes there cannot be undone."
        )
        assert [scope for one in request.lasting for scope in one.scopes] == [
            "turn",
            "thread",
            "here",
        ]
        assert result.output["exit_code"] == 3
        assert (shop.home / ".deployed").read_text() == "x\n"
        assert sorted(os.listdir(shop.home)) == [".deployed"]  # and not `other`


def test_given_names_can_be_made_replaced_renamed_and_deleted() -> None:
    """As programs do: with new files beside them, which are not kept."""
    with a_folder() as folder:
        shop = Asked(folder, ONCE, ONCE, DENY, ONCE, ONCE, approvals="review")
        commands = (
            "sed -i s/old/new/ ~/.deployed",
            "mv ~/.deployed ~/.moved && touch ~/other",
            "mkdir -p ~/made/inner && touch ~/made/inner/file",
            "rm ~/.moved",
        )
        results = shop.workshop.do(
            *(("workspace_run_command", {"command": one}) for one in commands)
        )
        assert [one.output["exit_code"] for one in results] == [0] * 4, results
        assert [one.reason.partition("` ")[2].partition(".")[0] for one in shop.asked] == [
            "could not write ~/", "could not write ~/", "could not write ~/",
            "could not write ~/made",
            "could not delete ~/",
        ]  # fmt: skip
        assert (
            f"not kept, because it was not allowed: {shop.home}/other"
            in (results[1].output["note"])
        )
        found = sorted(str(path.relative_to(shop.home)) for path in shop.home.rglob("*"))
        assert found == ["made", "made/inner", "made/inner/file"]


def test_run_again_is_as_if_it_had_not_been_run_before() -> None:
    """What the failed run did is thrown away; on a no it stays, and is in the result."""
    with a_folder() as folder:
        shop = Asked(folder, ONCE, DENY, approvals="review")
        script = "echo ran >> log; mkdir made && cp log $HOME/.deployed"
        result = shop.run_script(script)
        assert result.output["exit_code"] == 0, result
        assert sorted(result.output["changes"]) == ["created log", "created made"]
        assert (shop.root / "log").read_text() == "ran\n"
        assert (shop.home / ".deployed").read_text() == "ran\n"
        denied = shop.run_script("echo ran >> log; rmdir made && cp log $HOME/new")
        assert denied.output["exit_code"] == 1
        assert "not run again: " in denied.output["note"]
        assert sorted(denied.output["changes"]) == ["changed log", "deleted made"]
        assert (shop.root / "log").read_text() == "ran\n" * 2
        assert not (shop.home / "new").exists()


def test_what_a_command_wrote_beside_what_it_was_given_is_asked_about() -> None:
    """Nothing is dropped in silence; and a lasting answer opens its file alone, as it is."""
    with a_folder() as folder:
        here = ConfirmResponse("allow", scope="here")
        shop = Asked(folder, here, ONCE, ONCE, DENY, approvals="review")
        (shop.home / "sub").mkdir()
        (shop.root / "one.sh").write_text("echo 1 >> ~/.deployed\n")
        (shop.root / "s.sh").write_text("echo 1 > ~/one && echo 2 > ~/two && echo 3 > ~/sub/three")
        (shop.root / "silent.sh").write_text("(echo x > ~/four) 2>/dev/null; [ ! -e ~/four ]\n")
        replaced = "sed -i s/old/new/ ~/.deployed"
        commands = ("sh one.sh", "sh s.sh", "sh silent.sh", replaced)
        *results, last = shop.workshop.do(
            *(("workspace_run_command", {"command": one}) for one in commands)
        )
        assert [one.output and one.output["exit_code"] for one in results] == [0, 0, 0], results
        assert [one.reason.partition("` ")[2].partition(". ")[0] for one in shop.asked] == [
            "could not write ~/.deployed",
            "could not write ~/one",
            "could not write ~/one, ~/two and ~/sub/three",
        ]
        assert [(shop.home / name).read_text() for name in ("one", "two", "sub/three")] == [
            "1\n",
            "2\n",
            "3\n",
        ]
        assert last.output["exit_code"] == 0, last
        assert (shop.home / ".deployed").read_text() == "new\n1\n"


def test_what_has_reached_somebody_is_not_run_again() -> None:
    """Neither by itself nor with permission: what it did there would be done twice."""
    with a_folder() as folder, serving() as port:
        shop = Asked(folder, THREAD, approvals="review")
        curl = f"curl -sS http://127.0.0.1:{port}/"
        (shop.root / "s.sh").write_text(f"{curl} > got; echo x > $HOME/new")
        first, again = shop.workshop.do(
            ("workspace_run_command", {"command": curl}),
            ("workspace_run_command", {"command": "sh s.sh"}),
        )
        assert first.output["output"] == "hello"
        assert "not run again, because it has reached other hosts" in again.output["note"]
        assert "try again with outside_sandbox" in again.output["note"]
        assert again.output["changes"] == ["created got"]
        assert len(shop.asked) == 1


@pytest.mark.parametrize("approvals", ["review", "on-request"])
def test_a_refusal_becomes_a_question_and_what_was_denied_is_asked_once_in_a_turn(
    approvals: str,
) -> None:
    """For the model's commands and for the user's own, which ask again whenever they are typed."""
    with a_folder() as folder, serving() as port:
        shop = Asked(folder, ONCE, DENY, ONCE, DENY, DENY, approvals=approvals)
        (shop.root / "s.sh").write_text("echo x > $HOME/.deployed\n")
        notes = "echo x >> ~/.notes"

        async def during(thread: ThreadHandle) -> None:
            await thread.wait()
            for _ in "ab":
                await thread.call("workspace_run_command", {"command": notes})

        shop.workshop.meanwhile = during
        connect = f"""python3 -c 'import socket; socket.create_connection(("127.0.0.1", {port}))'"""
        commands = ("sh s.sh", notes, notes, connect)
        first, *denied, reached = shop.workshop.do(
            *(("workspace_run_command", {"command": one}) for one in commands)
        )[:4]
        assert (shop.home / ".deployed").read_text() == "x\n"
        assert "was run again with your permission" in first.output["note"]
        assert [one.output["exit_code"] for one in (first, *denied, reached)] == [0, 1, 1, 0]
        assert "try again with outside_sandbox" not in denied[0].output["note"]
        told = [one.reason.partition(". ")[0] for one in shop.asked if not one.own]
        assert told == [
            "`sh s.sh` could not write ~/.deployed",
            f"`{notes}` could not write ~/.notes",
            f"`{connect[:59]}…` could not reach 127.0.0.1:{port}",
        ]
        assert [title(one) for one in shop.asked if one.own] == 2 * [
            f"run `{notes}` again with permission to write `{shop.home}/.notes`"
        ]
        assert not (shop.home / ".notes").exists()


@pytest.mark.parametrize("place", ["/tmp", "/var/tmp"])
def test_a_file_beside_a_workspace_in_a_temporary_folder_is_asked_about(place: str) -> None:
    """The sandbox shows that folder read-only there, so it can be given, as anywhere else."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        shop = Asked(Path(folder), ONCE, approvals="review")
        line = "echo x >> ~/.deployed"

        async def during(thread: ThreadHandle) -> None:
            await thread.wait()
            await thread.call("workspace_run_command", {"command": line})

        shop.workshop.meanwhile = during
        shop.workshop.do(("workspace_run_command", {"command": "true"}))
        assert [title(one) for one in shop.asked if one.own] == [
            f"run `{line}` again with permission to write `{shop.home}/.deployed`"
        ]
        assert (shop.home / ".deployed").read_text() == "old\nx\n"


def test_nobody_is_asked_for_what_was_refused_in_plan_mode_or_where_no_one_can_answer() -> None:
    with a_folder() as folder:
        planning = Asked(folder, approvals="review", mode="plan")
        assert planning.run("touch ~/new").output["exit_code"] == 1
        alone = Shop(folder / "alone", approvals="review", environ={"HOME": str(planning.home)})
        result = alone.run("touch ~/new")
        assert "the sandbox is read-only outside the workspace" in result.output["note"]
        assert "confirm_request" not in alone.workshop.kinds()


def test_a_program_that_does_not_use_the_proxy_is_given_the_network_and_no_more() -> None:
    """It stays in the sandbox: what it may write does not change."""
    with a_folder() as folder:
        shop = Asked(folder, ONCE, approvals="review")
        script = "echo x 2>/dev/null > $HOME/new; ip -o link | grep -vc ' lo' && exit 0; "
        result = shop.run_script(f"{script} curl -sS --noproxy '*' http://steersman.invalid")
        (request,) = shop.asked
        assert request.reason == (
            "`bash s.sh` could not reach steersman.invalid: it does not use the sandbox's proxy."
            " Allow that and run it again? It could then reach any host."
        )
        (wanted,) = request.actions
        assert isinstance(wanted, Execute)
        assert (wanted.outside, wanted.online) == (False, True)
        assert request.only_once == "with the whole network, a command could reach any host"
        assert "was run again with your permission" in result.output["note"]
        assert sorted(os.listdir(shop.home)) == [".deployed"]


def test_a_new_file_is_made_where_that_is_allowed_and_for_as_long_as_it_is() -> None:
    """On failure the person is asked at once; remembered, the next command is not asked about."""
    with a_folder() as folder:
        shop = Asked(folder, THREAD, approvals="on-failure")
        (shop.root / "s.sh").write_text("echo $1 >> $HOME/new\n")
        name = "workspace_run_command"
        results = shop.workshop.do(*((name, {"command": f"sh s.sh {n}"}) for n in "ab"))
        assert [result.output["exit_code"] for result in results] == [0, 0], results
        assert "was run again with your permission" in results[0].output["note"]
        assert len(shop.asked) == 1
        assert (shop.home / "new").read_text() == "a\nb\n"


def test_a_new_file_goes_with_the_background_command_that_never_wrote_it() -> None:
    with a_folder() as folder:
        shop = Asked(folder, ONCE, approvals="on-failure")
        script = "[ -e $HOME/new ] && echo seen && exec sleep 600; echo x > $HOME/new"
        result = shop.run_script(script, background=True, wait_timeout=1)
        assert result.output["background_process_id"], result
        assert result.output["output"] == "seen\n"
        assert sorted(os.listdir(shop.home)) == [".deployed"]


def test_a_port_of_this_machine_is_given_alone() -> None:
    """The question names it; no other port of the machine is reached with it."""
    with a_folder() as folder, serving() as port, serving() as other:
        shop = Asked(folder, ONCE, approvals="on-failure")
        curl = "curl -sS http://127.0.0.1:{}/ && "
        result = shop.run_script(f"{curl.format(port)} {curl.format(other)} echo all")
        (wanted,) = shop.asked[0].actions
        assert isinstance(wanted, Execute)
        assert (wanted.outside, wanted.writes, wanted.reaches) == (
            False,
            (),
            (f"127.0.0.1:{port}",),
        )
        assert f"`bash s.sh` could not reach 127.0.0.1:{port}" in shop.asked[0].reason
        assert result.output["output"].startswith("hello")
        assert result.output["exit_code"] == 7


def test_protected_files_are_judged_outside_too() -> None:
    """The person let the command out, and is asked about the hook that it left behind."""
    with a_folder() as folder:
        shop = Asked(folder, ONCE, ConfirmResponse("deny"))
        (shop.root / ".git/hooks").mkdir(parents=True)
        command = "echo evil > .git/hooks/pre-commit; echo fine > made"
        result = shop.run(f"bash -c '{command}'", outside_sandbox=True)
        assert len(shop.asked) == 2, result
        assert "needs your approval" in shop.asked[1].reason
        assert not (shop.root / ".git/hooks/pre-commit").exists()
        assert (shop.root / "made").read_text() == "fine\n"
        assert "Undone: .git/hooks/pre-commit" in result.output["note"]


@contextmanager
def serving() -> Iterator[int]:
    """A server on this machine; the answer is its port."""

    class Hello(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hello)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_what_commands_leave_behind_is_gone_with_their_thread(steer, script, environ):
    """It is removed while the next command runs; what the last one left, before the end."""
    commands = [call("workspace_run_command", command=f"echo {n} > {n}.txt") for n in range(3)]
    model = script({"tool_calls": commands}, {"text": "Done."})
    messages = steer.messages("run", "x", "--model", model)
    results = [message["body"] for message in messages if message["kind"] == "tool_result"]
    assert [result["status"] for result in results] == ["ok"] * 3
    assert os.listdir(f"{environ['STEERSMAN_HOME']}/scratch") == []
