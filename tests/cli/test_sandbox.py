"""Commands in the sandbox as people meet it: real tools work, hosts are asked about once."""

import json
import sys
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.cli.kit import DONE, decoded, shell
from tests.cli.terminal import Terminal
from tests.operations.network.test_clients import wheel
from tests.world import call

NEAR = "127.0.0.2"  # this machine, by an address that no program takes for the sandbox's own


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        """Say nothing."""


@contextmanager
def serving(folder):
    """Files of a folder on this machine; the answer is the port."""
    server = ThreadingHTTPServer((NEAR, 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()


def bodies(messages, kind):
    return [message["body"] for message in messages if message["kind"] == kind]


def ran(steer, script, *commands, flags=("--approvals", "never")):
    model = script(*({"tool_calls": [shell(command)]} for command in commands), DONE)
    messages = steer.messages("run", "go", "--model", model, *flags)
    return bodies(messages, "tool_result"), messages


def test_everyday_tools_work_in_the_sandbox(steer, script, workspace):
    (workspace / "test_calc.py").write_text(
        "import calc\n\ndef test_add():\n    assert calc.add(3, 1) == 2\n"
    )
    (workspace / "package.json").write_text(
        json.dumps(
            {"name": "x", "version": "1.0.0", "scripts": {"test": "node -e 'console.log(6*7)'"}}
        )
    )
    git = "git -c user.name=n -c user.email=e@example.org"
    results, _ = ran(
        steer, script,
        f"{git} status --short && git add -A && {git} commit -qm first && git log --oneline",
        f"{sys.executable} -m pytest -q -p no:cacheprovider test_calc.py",
        "npm test --silent",
        "printf 'int main(){return 0;}' > a.c && cc a.c -o a.out && ./a.out && echo built",
    )  # fmt: skip
    assert [result["output"]["exit_code"] for result in results] == [0, 0, 0, 0], results
    assert "1 passed" in results[1]["output"]["output"]
    assert "42" in results[2]["output"]["output"]
    assert (workspace / "a.out").exists()


def test_pip_installs_from_a_domain_that_is_allowed_and_from_no_other(
    steer, script, workspace, tmp_path
):
    wheel(tmp_path / "index")
    with serving(tmp_path / "index") as port:
        install = (
            f"{sys.executable} -m pip --isolated install -q --disable-pip-version-check "
            f"--retries 0 --no-deps --target lib --trusted-host {NEAR} "
            f"--index-url http://{NEAR}:{port}/simple/ tiny-harbour"
        )
        refused, messages = ran(steer, script, install)
        assert refused[0]["output"]["exit_code"] != 0
        assert not (workspace / "lib" / "tiny_harbour.py").exists()
        told = bodies(messages, "audit") + bodies(messages, "policy")
        assert NEAR in json.dumps(told)  # every denial is in the log
        allowed, _ = ran(
            steer, script, install, flags=("--approvals", "never", "--domain", f"{NEAR}:{port}")
        )
        assert allowed[0]["output"]["exit_code"] == 0, allowed
    assert (workspace / "lib" / "tiny_harbour.py").exists()


@pytest.mark.parametrize(("key", "questions"), [("n", 2), ("d", 1)])
def test_a_host_is_denied_to_one_command_or_to_the_thread(steer, script, key, questions):
    """A command that tries it again is refused without a question, the next one only after d."""
    fetch = "curl -sS -m 20 http://unknown.example.org/ -o /dev/null -w '%{http_code}'"
    again = shell(f"{fetch}; {fetch}")
    model = script({"tool_calls": [again]}, {"tool_calls": [again]}, DONE)
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        for _ in range(questions):
            terminal.until("unknown.example.org, port 80")
            terminal.until("[n]o, [d] no in this thread, or say what to do instead: ")
            terminal.press(f"{key}\n")
        terminal.until("Done.")
        assert terminal.end() == 0
    thread = decoded(steer("threads", "list", "--json", "--limit", "1").stdout)[0]["id"]
    messages = decoded(steer("replay", thread).stdout)
    assert len(bodies(messages, "confirm_request")) == questions
    outputs = [result["output"]["output"] for result in bodies(messages, "tool_result")]
    assert ["403403" in output for output in outputs] == [True, True]


@pytest.mark.parametrize("said", ["n", "use the copy in vendor/ instead"])
def test_a_no_to_a_host_reaches_the_model_and_is_not_asked_about_by_another_way(
    steer, script, said
):
    """Not the same command outside the sandbox, nor another one to the same host."""
    fetch = "curl -sS -m 20 http://unknown.example.org/a"
    outside = [
        call("workspace_run_command", command=command, outside_sandbox=True)
        for command in (fetch, "curl -s unknown.example.org/a -o a")
    ]
    answers = [{"tool_calls": [one]} for one in (shell(fetch), *outside)]
    with Terminal(steer, "run", "--model", script(*answers, DONE), "go") as terminal:
        terminal.until("unknown.example.org, port 80")
        terminal.until(f"$ {fetch}")
        terminal.until("[n]o, [d] no in this thread, or say what to do instead: ")
        terminal.press(f"{said}\n")
        terminal.until("Done.")
        assert terminal.end() == 0
    thread = decoded(steer("threads", "list", "--json", "--limit", "1").stdout)[0]["id"]
    messages = decoded(steer("replay", thread).stdout)
    words = "" if said == "n" else said
    (asked,) = bodies(messages, "confirm_request")
    assert asked["command"] == fetch
    first, *others = bodies(messages, "tool_result")
    note = first["output"]["note"]
    assert note == f"unknown.example.org:80 was not reached: the user said no. {words}".strip()
    assert [one["status"] for one in others] == ["denied", "denied"]
    no = "Denied: the user said no to unknown.example.org:80."
    assert all(no in one["message"] and words in one["message"] for one in others)


def test_a_host_that_nobody_can_be_asked_about_ends_the_run_with_what_the_command_did(
    steer, script, workspace
):
    fetch = shell("curl -sS -m 20 http://unknown.example.org/ -o /dev/null; echo on > made.txt")
    done = steer("run", "--json", "--model", script({"tool_calls": [fetch]}, DONE), "go")
    assert done.returncode == 4, done.stderr
    messages = decoded(done.stdout)
    (result,) = bodies(messages, "tool_result")
    assert (result["status"], result["output"]["exit_code"]) == ("ok", 0)
    assert (workspace / "made.txt").read_text() == "on\n"
    (asked,) = bodies(messages, "confirm_request")
    assert "unknown.example.org" in asked["reason"]
    assert bodies(messages, "turn_end")[0]["ending"] == "needs_answer"


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest/meta-data", "http://127.0.0.1:22", "http://10.0.0.1/"]
)
def test_addresses_of_the_machine_and_its_network_are_out_of_reach(steer, script, url):
    results, _ = ran(steer, script, f"curl -sS -m 10 {url} || exit 9", flags=("--yes",))
    output = results[0].get("output") or {"exit_code": 9, "output": results[0]["message"]}
    assert output["exit_code"] == 9 or "403" in output["output"] or "not" in output["output"]
    assert "ami" not in output["output"]


def test_leaving_the_sandbox_is_asked_about_and_then_real(steer, script, tmp_path):
    outside = tmp_path / "outside.txt"
    touch = call("workspace_run_command", command=f"echo x > {outside}", outside_sandbox=True)
    model = script({"tool_calls": [touch]}, DONE)
    never = steer.messages("run", "go", "--model", model, "--approvals", "never")
    assert bodies(never, "tool_result")[0]["status"] == "denied"
    assert not outside.exists()
    yes = steer.messages("run", "go", "--model", model, "--yes")
    (request,) = bodies(yes, "confirm_request")
    assert "outside the sandbox" in request["reason"]
    assert outside.exists()


def test_on_failure_a_person_is_asked_for_exactly_what_the_sandbox_refused(steer, script, tmp_path):
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "note").write_text("found outside\n")
    with serving(tmp_path / "page") as port:
        fetch = shell(f"curl -fsS -m 20 http://{NEAR}:{port}/note")
        model = script({"tool_calls": [fetch]}, DONE)
        flags = ("--approvals", "on-failure", "--yes")
        messages = steer.messages("run", "go", "--model", model, *flags)
    (request,) = bodies(messages, "confirm_request")
    assert request["actions"][0]["reaches"] == [f"{NEAR}:{port}"]
    assert "outside" not in request["actions"][0]
    assert f"could not reach {NEAR}:{port}" in request["reason"]
    (result,) = bodies(messages, "tool_result")
    assert result["output"]["output"] == "found outside\n"
    assert "run again with your permission" in result["output"]["note"]


def test_on_failure_nobody_is_asked_to_show_a_command_what_is_secret(steer, script, workspace):
    (workspace / ".env").write_text("TOKEN=abc\n")
    model = script({"tool_calls": [shell("ln -s .env settings; cat settings")]}, DONE)
    messages = steer.messages("run", "go", "--model", model, "--approvals", "on-failure", "--yes")
    assert bodies(messages, "confirm_request") == []
    assert "abc" not in json.dumps(messages)


def test_a_mass_deletion_is_asked_about_with_its_numbers_and_a_no_keeps_everything(
    steer, script, workspace
):
    data = workspace / "data"
    data.mkdir()
    for number in range(120):
        (data / f"{number}.txt").write_text("irreplaceable\n")
    model = script({"tool_calls": [shell("rm -rf data")]}, {"expect": "Denied", "text": "Kept."})
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        terminal.until("deleting 120 untracked files")
        terminal.until("or say what to do instead: ")
        assert len(list(data.iterdir())) == 120  # nothing has happened yet
        terminal.press("n\n")
        terminal.until("Kept.")
        terminal.end()
    assert len(list(data.iterdir())) == 120


@pytest.mark.parametrize("command", ["git checkout -- .", "git reset --hard -q", "git restore ."])
def test_git_is_judged_by_the_work_it_would_throw_away(steer, script, workspace, command):
    git = "git -c user.name=n -c user.email=e@example.org"
    ran(steer, script, f"git add -A && {git} commit -qm first")
    clean, _ = ran(steer, script, command)
    assert clean[0]["status"] == "ok"
    (workspace / "calc.py").write_text("hours of work\n")
    lost, _ = ran(steer, script, command)
    assert lost[0]["status"] == "denied"
    assert "uncommitted work in 1 file (calc.py" in lost[0]["message"]
    assert (workspace / "calc.py").read_text() == "hours of work\n"
