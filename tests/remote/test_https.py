"""`steer --workspace https://HOST:PORT/PATH`: the agent is a `steer serve` that runs there.

Here it is `http://` on loopback, which is allowed; one test has TLS.
"""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.http.test_connect import self_signed
from tests.remote.conftest import SECRET
from tests.remote.served import Cuttable, Webbox
from tests.remote.test_cuts import commands, until
from tests.remote.test_workspace import kinds, results
from tests.world import Steer, call


@pytest.fixture
def webbox(tmp_path: Path, workspace: Path, environ: dict[str, str]) -> Iterator[Webbox]:
    """Another machine that has the project and serves it; the person's own machine does not."""
    home = tmp_path / "box"
    home.mkdir()
    project = home / "project"
    workspace.rename(project)
    workspace.mkdir()
    made = Webbox(home, project, "--public", "127.0.0.2")
    environ["STEERSMAN_TOKEN"] = made.for_project
    yield made
    errors = made.stop()
    assert "Traceback" not in errors, errors


EDIT = call(
    "workspace_edit_files",
    files=[{"path": "calc.py", "edits": [{"search": "a - b", "replace": "a + b"}]}],
)


def test_files_are_edited_and_commands_run_there_and_undone_from_here(
    webbox: Webbox, steer: Steer, script: Callable[..., str]
) -> None:
    command = "rm README.md; echo two > new.txt; pwd"
    model = script(
        {"tool_calls": [call("workspace_read_file", path="calc.py"), EDIT]},
        {"tool_calls": [call("workspace_run_command", command=command)]},
        {"text": "Done."},
    )
    said = steer.messages("run", "-w", webbox.address, "--model", model, "--yes", "work")
    assert [one["status"] for one in results(said)] == ["ok"] * 3, results(said)
    assert str(webbox.project) in results(said)[2]["output"]["output"]
    assert "a + b" in (webbox.project / "calc.py").read_text()
    assert not (webbox.project / "README.md").exists()
    assert kinds(said).count("checkpoint") == 2
    assert not list(steer.folder.iterdir())  # nothing of it is here

    thread = said[0]["thread"]
    assert "a + b" in steer("undo", thread, "--list").stdout
    undone = steer("undo", thread, "--yes")
    assert undone.returncode == 0, undone.stderr
    assert "a - b" in (webbox.project / "calc.py").read_text()
    assert (webbox.project / "README.md").read_text() == "# Calc\n"
    assert not (webbox.project / "new.txt").exists()
    redone = steer("redo", thread, "--yes")
    assert redone.returncode == 0, redone.stderr
    assert not (webbox.project / "README.md").exists()


def test_a_secret_file_that_a_command_made_stays_when_the_rest_is_undone(
    webbox: Webbox, steer: Steer, script: Callable[..., str]
) -> None:
    command = "echo PASSWORD=0123456789 > .env; echo two > new.txt"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command)]}, {"text": "Done."}
    )
    said = steer.messages("run", "-w", webbox.address, "--model", model, "--yes", "work")
    assert results(said)[0]["status"] == "ok", results(said)
    assert (webbox.project / ".env").exists()
    undone = steer("undo", said[0]["thread"], "--yes")
    assert undone.returncode == 0, undone.stderr
    assert not (webbox.project / "new.txt").exists()
    assert (webbox.project / ".env").read_text() == "PASSWORD=0123456789\n"


def test_a_command_goes_on_while_the_line_is_cut_and_nothing_is_done_twice(
    webbox: Webbox, steer: Steer, script: Callable[..., str]
) -> None:
    gate = webbox.project / "open"
    gate.touch()
    wait = f"until grep -q go {gate}; do sleep 0.05; done"
    command = f"echo begun; echo once >> out.txt; {wait}; echo ended >> out.txt"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"tool_calls": [call("workspace_read_file", path="out.txt")]},
        {"text": "Done."},
    )
    with Cuttable(webbox.at) as line:
        address = f"http://{line.at}{webbox.project}"
        run = steer.start("run", "-w", address, "--model", model, "--yes", "--json", "work")
        until(lambda: commands(gate))
        for _ in range(3):
            line.cut()
        gate.write_text("go")
        out, err = run.communicate(timeout=180)
    said = [json.loads(one) for one in out.splitlines()]
    done, read = results(said)
    assert (done["status"], read["status"]) == ("ok", "ok"), (done, read, err)
    assert done["output"]["output"].strip() == "begun"
    assert (webbox.project / "out.txt").read_text() == "once\nended\n"
    assert line.connections >= 4


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_whose_host_is_gone_ends_without_a_word(
    webbox: Webbox, steer: Steer, script: Callable[..., str], how: int
) -> None:
    """A host that stops closes its line; of one that died it is known when the server stops."""
    gate = webbox.project / "open"
    gate.touch()
    command = f"echo made > made.txt; until grep -q go {gate}; do sleep 0.05; done"
    job = call("workspace_run_command", command=command, background=True, wait_timeout=0.1)
    model = script({"tool_calls": [job]}, {"text": "Done.", "stall_ms": 600_000})
    run = steer.start("run", "-w", webbox.address, "--model", model, "--yes", "--json", "work")
    assert run.stdout is not None
    while '"tool_result"' not in run.stdout.readline():
        pass
    run.send_signal(how)
    assert "Traceback" not in run.communicate(timeout=180)[1]
    if how == signal.SIGTERM:
        until(lambda: not commands(gate))
    assert (webbox.stop(), commands(gate)) == ("", [])
    webbox.start()


def test_a_server_that_is_restarted_ends_what_was_under_way_with_a_sentence(
    webbox: Webbox, steer: Steer, script: Callable[..., str]
) -> None:
    gate = webbox.project / "open"
    gate.touch()
    command = f"until grep -q go {gate}; do sleep 0.05; done"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"text": "Done."},
    )
    run = steer.start("run", "-w", webbox.address, "--model", model, "--yes", "--json", "work")
    until(lambda: commands(gate))
    webbox.kill()
    webbox.start()
    out, err = run.communicate(timeout=180)
    assert run.returncode != 0
    (result,) = results([json.loads(one) for one in out.splitlines()])
    assert result["status"] == "interrupted", result
    assert "The workspace agent was restarted." in result["message"] + err
    gate.write_text("go")


def test_a_token_that_is_revoked_ends_the_line_and_its_commands(
    webbox: Webbox, steer: Steer, script: Callable[..., str]
) -> None:
    gate = webbox.project / "open"
    gate.touch()
    command = f"until grep -q go {gate}; do sleep 0.05; done; touch made"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command, wait_timeout=120)]},
        {"text": "Done."},
    )
    run = steer.start("run", "-w", webbox.address, "--model", model, "--yes", "--json", "work")
    until(lambda: commands(gate))
    webbox.steer("token", "revoke", "laptop")
    out, err = run.communicate(timeout=180)
    assert run.returncode != 0
    assert "not valid any more" in out + err
    until(lambda: not commands(gate))
    assert not (webbox.project / "made").exists()
    done = steer("run", "-w", webbox.address, "--model", model, "go")
    assert "The server does not accept this token." in done.stderr, done.stderr


def test_what_cannot_be_reached_is_a_sentence(
    webbox: Webbox, steer: Steer, script: Callable[..., str], tmp_path: Path
) -> None:
    model = script({"text": "Done."})
    (webbox.home / "other").mkdir()
    at = webbox.at
    for address, told in {
        f"http://{at}{webbox.home}/other": f"This token is for {webbox.project} alone.",
        f"http://{at}": "It names no folder.",
        f"http://{at}/~/project": "A server is asked for a folder by its whole path.",
        f"http://me:word@{at}{webbox.project}": "A password or token in an address",
        f"http://{at}{webbox.project}?token=abc": "A password or token in an address",
        "http://192.0.2.1/srv/app": "Without TLS, whoever listens on the way reads your token.",
        f"http://127.0.0.1:1{webbox.project}": "The workspace agent cannot be reached.",
    }.items():
        done = steer("run", "-w", address, "--model", model, "go")
        assert told in done.stderr, done.stderr
        assert not {"Traceback", "abc", "word"} & set(done.stderr.replace("=", " ").split())


@pytest.mark.parametrize(
    ("rights", "told"),
    [("none", "A token is needed"), ("read", "it lacks the right “work”"),
     ("any folder", "This token is for no folder."), ("wrong", "does not accept this token")],
)  # fmt: skip
def test_a_token_must_be_for_the_folder_and_may_work_there(
    webbox: Webbox, steer: Steer, script: Callable[..., str], rights: str, told: str
) -> None:
    steer.environ["STEERSMAN_TOKEN"] = {
        "none": lambda: "",
        "read": lambda: webbox.make_token("reader", "read"),
        "any folder": lambda: webbox.token,
        "wrong": lambda: "steer_00000000_0123456789abcdef",
    }[rights]()
    model = script({"text": "Done."})
    done = steer("run", "-w", webbox.address, "--model", model, "go")
    assert told in done.stderr, done.stderr
    assert done.returncode != 0


def test_a_page_of_another_origin_gets_no_line(webbox: Webbox) -> None:
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }  # fmt: skip
    path = f"/api/v0/workspace/line?workspace={webbox.project}"
    for wrong, status in (({"Origin": "https://evil.example"}, 403), ({"Host": "evil"}, 421)):
        said = webbox.request("GET", path, token=webbox.for_project, headers=upgrade | wrong)
        assert said.status == status


def test_secrets_of_the_other_machine_stay_there(
    webbox: Webbox, steer: Steer, script: Callable[..., str], tmp_path: Path
) -> None:
    (webbox.project / "notes.txt").write_text(f"The token is {SECRET}.\n")
    model = script(
        {"tool_calls": [
            call("workspace_read_file", path="notes.txt"),
            call("workspace_run_command", command="cat notes.txt; env"),
        ]},
        {"text": "Done."},
    )  # fmt: skip
    said = steer("run", "-w", webbox.address, "--model", model, "--yes", "--json", "read").stdout
    assert SECRET not in said
    kept = [one for one in (tmp_path / "data").rglob("*") if one.is_file()]
    assert not [
        one for one in kept if steer.environ["STEERSMAN_TOKEN"].encode() in one.read_bytes()
    ]


def test_a_certificate_that_nobody_vouches_for_is_refused(
    tmp_path: Path, workspace: Path, steer: Steer, script: Callable[..., str]
) -> None:
    certificate, key = self_signed(tmp_path)
    home = tmp_path / "box"
    project = home / "project"
    project.mkdir(parents=True)
    made = Webbox(
        home, project, "--tls-cert", certificate, "--tls-key", key, scheme="https"
    )  # fmt: skip
    try:
        steer.environ["STEERSMAN_TOKEN"] = made.for_project
        model = script(
            {"tool_calls": [call("workspace_write_file", path="a.txt", content="a\n")]},
            {"text": "Done."},
        )
        words = ("run", "-w", made.address, "--model", model, "--yes", "go")
        done = steer(*words)
        assert "The certificate of 127.0.0.1 cannot be verified." in done.stderr, done.stderr
        steer.environ["SSL_CERT_FILE"] = certificate
        done = steer(*words)
        assert done.returncode == 0, done.stderr
        assert (project / "a.txt").read_text() == "a\n"
    finally:
        made.stop()


def test_an_older_server_is_a_sentence(
    steer: Steer, script: Callable[..., str], tmp_path: Path
) -> None:
    from tests.remote.old_server import answering

    steer.environ["STEERSMAN_TOKEN"] = "steer_00000000_0123456789abcdef"
    model = script({"text": "Done."})
    for status, headers in ((403, ()), (404, ()), (302, ("Location: http://127.0.0.1:1/",))):
        with answering(status, headers) as at:
            done = steer("run", "-w", f"http://{at}/srv/app", "--model", model, "go")
            told = "127.0.0.1 does not offer workspaces over HTTPS."
            assert told in done.stderr, (status, done.stderr)
