"""Models by name on the command line: what works, what goes wrong, and what it says then."""

import json
import shutil
import socket
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path

import pytest

from steersman.intelligence.table import table
from tests.cli.kit import DONE, READ, decoded, until
from tests.host.wires import WIRES, RecordingStage, conversation, reaching
from tests.world import STEER

MANY = 50
in_each_format = pytest.mark.parametrize("wire", WIRES)


@pytest.fixture(scope="module")
def stage():
    """A model server."""
    stage = RecordingStage()
    yield stage
    stage.close()


@pytest.fixture
def online(steer, stage):
    """The command line where every provider is the model server."""
    return steer.having(**reaching({}, stage.url))


@pytest.fixture
def config(environ):
    """Write the person's settings."""

    def write(text):
        path = Path(environ["XDG_CONFIG_HOME"], "steersman", "config.toml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


def closed_port():
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@contextmanager
def web_server(status, page="<html><head><title>Welcome</title></head></html>"):
    """A server that knows nothing but one page."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(page)))
            self.end_headers()
            self.wfile.write(page.encode())

        do_GET = do_POST = do_CONNECT = answer

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sentence(done, code, *words):
    """A command that failed civilly: its exit code, and words it said, on whatever stream."""
    told = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == code, told
    for word in words:
        assert word in told, told


# --- work -------------------------------------------------------------------------------------


@in_each_format
def test_a_task_through_each_format(online, stage, wire):
    stage.play({"tool_calls": [READ]}, {"text": "It subtracts.", "expect": "a - b"})
    worked = online.work("run", "--model", f"{wire}:m-1", "what is wrong?")
    assert worked.code == 0
    assert worked.bodies("assistant")[-1]["text"] == "It subtracts."
    assert [line["wire"] for line in stage.log] == [stage.log[0]["wire"]] * 2


@in_each_format
def test_a_thread_goes_on_in_another_process_with_the_same_beginning(
    steer,
    script,
    tmp_path,
    wire,
):
    file = script({"tool_calls": [READ]}, {"text": "Seen."}).removeprefix("scripted:")
    log = tmp_path / "requests.jsonl"
    (steer.folder / "AGENTS.md").write_text("Say it plainly.\n")
    server = subprocess.Popen(
        [*STEER, "model-server", file, "--json", "--log", str(log)],
        stdout=subprocess.PIPE,
        env=steer.environ,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        online = steer.having(**reaching({}, url))
        first = online.work("run", "--model", f"{wire}:m-1", "look")
        then = online.work("resume", first.thread, "look again")
        assert (first.code, then.code) == (0, 0)
    finally:
        server.terminate()
        server.communicate(timeout=30)

    sent = [line["body"] for line in decoded(log.read_text())]
    encoded = [json.dumps(body, ensure_ascii=False, separators=(",", ":")) for body in sent]
    assert len(encoded) == 4
    pairs = [conversation(wire, body.encode()) for body in encoded]
    assert len({head for head, _ in pairs}) == 1
    for (_, shorter), (_, longer) in pairwise(pairs):
        assert longer[: len(shorter)] == shorter
    assert "Say it plainly." in encoded[0]


def test_the_bill_and_the_budget(online, stage, config):
    config('[models."openai:m-1"]\nprice = { input = 1000.0, output = 1000.0 }\n')
    used = {"input": 900, "output": 100}
    stage.play({"tool_calls": [READ], "usage": used}, {"text": "Done.", "usage": used})

    assert online("run", "--model", "openai:m-1", "go").returncode == 0
    [line] = decoded(online("cost", "--json").stdout)
    assert (line["requests"], line["cost"]) == (2, pytest.approx(2.0))

    worked = online.work("run", "--model", "openai:m-1", "--max-cost", "0.5", "go")
    assert worked.code == 5
    assert len(worked.bodies("usage")) <= 1
    assert "--max-cost" in worked.bodies("error")[-1]["try_this"]
    resumed = online.work("resume", worked.thread, "go on")
    assert resumed.code == 0


def test_another_model_takes_over(online, stage, config):
    config('[fallback]\n"gemini:m-1" = ["anthropic:m-2"]\n')
    stage.play({"text": "Here."})
    away = online.having(GOOGLE_GEMINI_BASE_URL=f"http://127.0.0.1:{closed_port()}")
    done = away("run", "--model", "gemini:m-1", "go")
    sentence(done, 0, "gemini:m-1 cannot continue; anthropic:m-2 takes over.", "Here.")


# --- bad input --------------------------------------------------------------------------------


@in_each_format
@pytest.mark.parametrize(
    ("status", "message", "what", "try_this"),
    [
        (401, "Incorrect API key", "does not accept the key (status 401).", "Log in again"),
        (404, "The model `m-1` does not exist", "has no model “m-1”.", "Check the name"),
    ],
)
def test_what_a_provider_refuses(online, stage, wire, status, message, what, try_this):
    fault = {"status": status, "message": message, "times": MANY}
    stage.play({"text": "Never.", "error": fault})
    done = online("run", "--model", f"{wire}:m-1", "go")
    sentence(done, 1, what, message, try_this)

    stage.play({"text": "Going on."})
    sentence(online("resume", "and now?"), 0, "Going on.")


def addresses(url):
    """Every provider at an address that is used as it is."""
    return {"OPENAI_BASE_URL": url, "ANTHROPIC_BASE_URL": url, "GOOGLE_GEMINI_BASE_URL": url}


@in_each_format
def test_nobody_listens(online, wire):
    url = f"http://127.0.0.1:{closed_port()}"
    done = online.having(**addresses(url))("run", "--model", f"{wire}:m-1", "go")
    sentence(done, 1, f"{url} cannot be reached.", "Nothing is listening", "Start the model server")


@in_each_format
def test_an_address_that_is_no_api(online, wire):
    with web_server(200 if wire in ("openai", "gemini") else 404) as url:
        done = online.having(**addresses(url))("run", "--model", f"{wire}:m-1", "go")
    sentence(done, 1, f"{url} is not an API of", "a web page", "Check the address (base_url)")


@in_each_format
def test_a_proxy_that_is_not_there(online, wire):
    proxy = f"http://127.0.0.1:{closed_port()}"
    away = online.having(HTTPS_PROXY=proxy, **addresses("https://models.invalid/v1"))
    done = away("run", "--model", f"{wire}:m-1", "go")
    sentence(done, 1, f"cannot be reached through the proxy {proxy}", "HTTPS_PROXY", "NO_PROXY")


def test_a_proxy_that_says_no(online):
    with web_server(403) as proxy:
        secret = proxy.replace("//", "//me:secret-4711@")
        away = online.having(HTTPS_PROXY=secret, **addresses("https://models.invalid/v1"))
        done = away("run", "--model", "anthropic:m-1", "go")
    sentence(done, 1, f"The proxy {proxy} refused the connection", "403", "NO_PROXY")
    assert "secret-4711" not in done.stdout + done.stderr


KEYS = {"openai": "OPENAI_API_KEY", "openai-chat": "OPENAI_API_KEY"}


@in_each_format
def test_there_is_no_key(steer, wire):
    name = KEYS.get(wire, "ANTHROPIC_API_KEY" if wire == "anthropic" else "GEMINI_API_KEY")
    done = steer("run", "--model", f"{wire}:m-1", "go")
    sentence(
        done, 2, "There is no key for", f"set {name}; keys are made at https://", "steer login"
    )


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("nobody:m-1", ("There is no provider “nobody”.", "[providers.nobody]")),
        ("gpt-5", ("There is no model “gpt-5”.", "Did you mean openai:gpt-5?")),
        ("something", ("There is no model “something”.", "provider:name")),
        ("openai:", ("“openai:” names no model.", "Say openai:NAME.")),
        ("scripted:", ("“scripted:” names no model.", "Say scripted:FILE.")),
    ],
)
def test_a_name_that_means_no_model(steer, model, words):
    sentence(steer("run", "--model", model, "go"), 2, *words)


@pytest.mark.parametrize("url", ["not a url", "ftp://x/", "http://", "http://x:99999/"])
def test_an_address_that_is_none(online, url):
    done = online.having(OPENAI_BASE_URL=url)("run", "--model", "openai:m-1", "go")
    sentence(done, 2, "is not an address", "http:// or https://")


def test_a_key_that_was_copied_badly(online):
    done = online.having(OPENAI_API_KEY="sk-…abc")("run", "--model", "openai:m-1", "go")
    sentence(done, 2, "contains a character that is not allowed in a header", "Copy it again.")
    assert "…abc" not in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[providers.gpu]\nbase_url = "http://x/v1"\n', ('[providers."gpu"] wire',)),
        ('[models."x"]\nprovider = "nobody"\n', ("There is no provider “nobody”.",)),
        ('[models."x"]\nprize = 1\n', ("There is no `prize`", "It may have:")),
        ('[roles]\nadmiral = "openai:m"\n', ("There is no role “admiral”.", "reviewer")),
        ('[fallback]\n"openai:m" = 7\n', ("It must be a list of models",)),
    ],
)
def test_settings_that_are_wrong(online, config, text, words):
    config(text)
    sentence(online("run", "--model", "openai:m-1", "go"), 2, "in config.toml is not valid", *words)


def used(work):
    """The model of a session."""
    return work.bodies("session_start")[0]["model"]


def test_the_model_that_was_chosen_last_is_the_default(online, stage, script):
    stage.play({"text": "Hello."})
    online.work("run", "--model", "openai:m-1", "hello")
    online.work("run", "--model", script(DONE), "a script is no model")

    assert used(online.work("run", "hello again")) == "openai:m-1"
    online("--plain", "--model", "anthropic:m-2", stdin="hello\n")
    assert used(online.work("run", "hello again")) == "anthropic:m-2"
    online("--plain", stdin="/model openai-chat:m-3\nhello\n")
    work = online.work("run", "hello again")
    assert used(work) == "openai-chat:m-3"
    online.work("resume", work.thread, "go on", "--model", "openai:m-4")
    assert used(online.work("run", "hello again")) == "openai:m-4"
    online("--plain", "--resume", work.thread, "--model", "nobody:m-5", stdin="hello\n")
    assert used(online.work("run", "hello again")) == "openai:m-4"
    online("--plain", "--resume", work.thread, "--model", "openai:m-6", stdin="hello\n")
    assert used(online.work("run", "hello again")) == "openai:m-6"


def test_settings_and_the_environment_count_more_than_the_last_choice(online, stage, config, home):
    stage.play({"text": "Hello."})
    online.work("run", "--model", "openai:m-1", "hello")

    def shown(steer):
        one = json.loads(steer("config", "get", "model", "--json").stdout)
        return one["value"], one["source"]

    assert shown(online) == ("openai:m-1", "last chosen")
    assert str(home / "last-model") in online("config", "list").stdout
    assert (home / "last-model").stat().st_mode & 0o777 == 0o600
    config('[roles]\nimplementer = "anthropic:m-3"\n')
    assert used(online.work("run", "hello")) == "anthropic:m-3"
    config('model = "openai-chat:m-2"\n')
    assert (used(online.work("run", "hello")), shown(online)) == (
        "openai-chat:m-2", ("openai-chat:m-2", "file")
    )  # fmt: skip
    set_ = online.having(STEERSMAN_MODEL="anthropic:m-4")
    assert (used(set_.work("run", "hello")), shown(set_)) == (
        "anthropic:m-4", ("anthropic:m-4", "environment")
    )  # fmt: skip
    config("")
    assert used(online.work("run", "hello")) == "openai:m-1"


def test_a_model_that_is_remembered_already_is_not_written_again(online, stage, home):
    stage.play({"text": "Hello."})
    online.work("run", "--model", "openai:m-1", "hello")
    first = (home / "last-model").stat().st_ctime_ns
    online.work("run", "--model", "openai:m-1", "hello again")
    assert (home / "last-model").stat().st_ctime_ns == first


def test_what_nobody_chose_is_not_remembered(online, stage, config, home, workspace):
    stage.play({"text": "Hello."})
    own = workspace / ".steersman" / "config.toml"
    own.parent.mkdir()
    own.write_text('model = "openai:m-1"\n')
    online("policy", "trust", "--yes")
    online.work("run", "hello")
    online.having(STEERSMAN_MODEL="openai:m-2").work("run", "hello")
    online("run", "--model", "nobody:m-3", "hello")

    assert not (home / "last-model").exists()


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\x1b[31mb", b"", b"\n"])
def test_a_remembered_model_that_is_no_name_counts_for_nothing(steer, home, content):
    home.mkdir()
    (home / "last-model").write_bytes(content)

    sentence(steer("run", "go"), 2, "No model was chosen.")


def test_nothing_was_chosen(steer):
    bare = {name: value for name, value in steer.environ.items() if "API_KEY" not in name}
    steer.environ = bare
    done = steer("run", "go")
    sentence(
        done, 2, "No model was chosen.", "--model provider:name", "`steer demo` needs no model."
    )


def test_a_key_is_enough_to_begin(steer, stage):
    bare = {name: value for name, value in steer.environ.items() if "API_KEY" not in name}
    steer.environ = bare
    known = reaching({}, stage.url)
    keyed = steer.having(**{name: known[name] for name in known if "OPENAI" in name})
    stage.play({"text": "Hello."})
    (start,) = keyed.work("run", "go").bodies("session_start")
    assert start["model"] == f"openai:{table().recommended['openai']}"


# --- the doctor -------------------------------------------------------------------------------


def findings(steer, *flags):
    return [(one["subject"], one) for one in decoded(steer("doctor", "--json", *flags).stdout)]


def test_the_doctor_tells_what_there_is_to_think_with(steer, tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("codex", "claude"):
        program = tmp_path / "bin" / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{steer.environ['PATH']}"
    found = findings(steer.having(OPENAI_API_KEY="key-4711", PATH=path), "--offline")

    [model] = [one for subject, one in found if subject == "model"]
    assert model["state"] == "note"
    keys = [one for subject, one in found if subject == "models" and "OpenAI" in one["found"]]
    assert "OPENAI_API_KEY is set" in keys[0]["found"]
    assert keys[0]["fix"].startswith("steer --model openai:")
    programs = [one["found"] for subject, one in found if subject == "agents"]
    assert any(told.startswith(f"codex, {tmp_path}") for told in programs)
    assert "key-4711" not in json.dumps(found)


def test_the_doctor_says_when_there_is_nothing(steer, tmp_path):
    for name in ("bash", "git"):
        (tmp_path / name).symlink_to(shutil.which(name))
    found = findings(steer.having(PATH=str(tmp_path)))
    told = [one for subject, one in found if subject == "models"]
    if not any("127.0.0.1" in one["found"] for one in told):  # unless this machine serves one
        assert told[0]["found"] == "no API key and no model server on this machine"
        assert told[0]["fix"].startswith("steer login")


PING = {"tool_calls": [{"name": "ping", "arguments": {"text": "ok"}}]}


def test_the_doctor_tries_what_it_tells_of(online, stage, config):
    def tried(subject, *flags):
        return [one for name, one in findings(online, *flags) if name == subject]

    config('model = "openai:m-1"\n[models."openai:m-1"]\nprice = { input = 1, output = 1 }\n')
    stage.play({**PING, "usage": {"input": 900, "output": 100}})
    [model] = tried("model")
    assert model["state"] == "ok"
    assert "openai:m-1: It answered and called a tool (" in model["found"]
    assert "1,000 tokens, $0.0010)" in model["found"]
    asked = len(stage.log)
    [model] = tried("model", "--offline")
    assert (model["state"], len(stage.log)) == ("ok", asked)

    stage.play({"text": "I have no tools."})
    found = findings(online)
    [model] = [one for name, one in found if name == "model"]
    assert (model["state"], "did not call the tool" in model["found"]) == ("note", True)
    keys = [one["found"] for name, one in found if name == "models"]
    assert "OpenAI: OPENAI_API_KEY is set; the key is accepted, for 1 model" in keys
    works = {name: one["found"] for name, one in found}
    assert works["bash"].endswith(", works")
    assert "version" in works["git"]
    assert works["store"].endswith("can be written")
    assert "a command ran" in works["sandbox"]

    stage.play({"text": "Never.", "error": {"status": 401, "message": "Wrong key", "times": 9}})
    [model] = tried("model")
    assert (model["state"], model["fix"]) == ("bad", "steer login openai")
    config('model = "nobody:m"\n')
    [model] = tried("model")
    assert (model["state"], "There is no provider" in model["found"]) == ("bad", True)


def test_every_format_is_named(steer):
    done = steer("run", "--model", "nobody:m", "go")
    assert all(name in done.stderr for name in WIRES)


def test_a_rate_limit_of_ones_own_is_waited_for_and_said(online, stage, config):
    config("[providers.anthropic]\nrequests_per_minute = 1\n")
    stage.play({"tool_calls": [READ]}, DONE)
    running = online.start("run", "--json", "--model", "anthropic:m-1", "go")
    try:
        said = until(running, "error")[-1]["body"]
    finally:
        running.kill()
        running.communicate()
    assert "1 request a minute" in said["what"]
    assert 0 < said["retry_in"] <= 60
    stage.play()
