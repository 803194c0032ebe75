"""`steer login`, `logout` and `models`: a key is tried, kept for its owner alone, and used."""

import json
import subprocess

import pytest

from tests.cli.kit import decoded
from tests.cli.terminal import Terminal
from tests.host.wires import RecordingStage

PING = {"tool_calls": [{"name": "ping", "arguments": {"text": "ok"}}]}
WIRES = {"openai": "OPENAI", "anthropic": "ANTHROPIC", "gemini": "GOOGLE_GEMINI"}


@pytest.fixture(scope="module")
def stage():
    """A model server."""
    stage = RecordingStage()
    yield stage
    stage.close()


@pytest.fixture
def steer(steer, stage):
    """The command line where every provider is the model server, and no key is set."""
    bases = {f"{name}_BASE_URL": stage.url for name in (*WIRES.values(), "OPENROUTER")}
    return steer.having(**{**bases, "OPENAI_BASE_URL": f"{stage.url}/v1"})


@pytest.fixture
def key():
    """A key that looks like none, so that only knowing it masks it."""
    return "-".join(["very", "plain", "words", "of", "nobody"])


def masked_everywhere(home, key):
    """Whether no file of the data folder but the one for keys holds a key."""
    found = subprocess.run(["grep", "-rlF", key, home], capture_output=True, text=True, check=False)
    return found.stdout.split() in ([], [str(home / "keys.json")])


def used(work):
    return work.bodies("session_start")[0]["model"]


@pytest.mark.parametrize("provider", WIRES)
def test_a_key_is_tried_kept_and_used(steer, stage, home, key, provider):
    stage.play(PING, {"text": "Hello."})

    done = steer("login", provider, "--key-stdin", stdin=f"{key}\n")

    assert done.returncode == 0, done.stderr
    assert "It answered and called a tool" in done.stdout
    assert f"The key is in {home / 'keys.json'}." in done.stdout
    assert "The model is " + provider + ":scripted" in done.stdout
    assert (home / "keys.json").stat().st_mode & 0o777 == 0o600
    stage.play({"text": f"I know {key}."})
    work = steer.work("run", "hello")
    assert (work.code, used(work)) == (0, f"{provider}:scripted")
    assert work.bodies("assistant")[-1]["text"] == "I know [redacted]."
    assert masked_everywhere(home, key)
    assert key not in done.stdout + done.stderr


@pytest.mark.parametrize(("dummy", "said"), [("test", False), ("lm-studio", False), ("k", True)])
def test_a_key_that_can_be_no_secret_masks_nothing(steer, stage, dummy, said):
    """Servers of one's own take any key; its letters are those of every other word."""
    stage.play(PING)
    done = steer("login", "openai", "--key-stdin", stdin=f"{dummy}\n")
    assert ("It is too short to be masked in the log." in done.stdout) is said
    stage.play({"text": f"I know {dummy}s."})

    work = steer.work("run", f"Look at the {dummy}s.")

    assert work.bodies("user")[0]["text"] == f"Look at the {dummy}s."
    assert work.bodies("assistant")[-1]["text"] == f"I know {dummy}s."


def test_a_refused_key_is_not_kept(steer, stage, home, key):
    refusal = {"status": 401, "message": "Incorrect API key provided", "times": 9}
    stage.play({"text": "Never.", "error": refusal})

    done = steer("login", "openai", "--key-stdin", stdin=key)

    assert done.returncode == 1
    assert "OpenAI refused the key." in done.stderr
    assert "Nothing was kept." in done.stderr
    assert not (home / "keys.json").exists()
    assert "No model was chosen." in steer("run", "go").stderr


def test_the_environment_counts_more_and_logging_out_forgets(steer, stage, home, key):
    stage.play(PING)
    set_ = steer.having(OPENAI_API_KEY="another-key-4711")
    done = set_("login", "openai", "--key-stdin", stdin=key)
    assert "OPENAI_API_KEY is set, and is used instead of it." in done.stdout
    assert f"Bearer {key}" in sent(stage)  # the one that is tried is the one that was given

    stage.play({"text": "Hello."})
    set_("run", "hello")
    assert sent(stage) == {"Bearer another-key-4711"}
    stage.play({"text": "Hello."})
    steer("run", "hello")
    assert sent(stage) == {f"Bearer {key}"}
    stage.play({"text": "Hello."})
    elsewhere = steer.having(OPENAI_BASE_URL=stage.url.replace("127.0.0.1", "localhost") + "/v1")
    elsewhere("run", "hello")
    assert sent(stage) == {""}  # a key goes only where it was given for

    out = set_("logout", "OpenAI")
    assert out.stdout == "Logged out of openai. The key is forgotten.\n"
    assert "OPENAI_API_KEY is still set" in out.stderr
    assert key not in (home / "keys.json").read_text()
    assert "No model was chosen." in steer("run", "go").stderr
    assert steer("logout", "openai").returncode == 2


def sent(stage):
    """The authorisations of the requests since the script was put on."""
    return {head.get("authorization", "") for head in stage.headers}


def test_who_logs_in_without_a_model_reads_how_to_name_one(steer, key):
    address = ("--url", "https://models.invalid/v1", "--name", "lab")
    done = steer("login", *address, "--key-stdin", "--no-test", stdin=key)
    assert done.returncode == 0, done.stderr
    assert "Logged in at lab.\n" in done.stdout
    assert "\nNo model is chosen. Name one: steer --model lab:NAME\n" in done.stdout


def test_another_server_is_remembered_with_its_address(steer, stage, home, key):
    stage.play({"do": "shell", "command": "true"})  # for which the test request has no tool
    url = f"{stage.url}/v1"
    done = steer("login", "--url", url, "--name", "lab", "--key-stdin", stdin=key)
    assert done.returncode == 0, done.stderr
    assert "Logged in at lab. The model is lab:scripted." in done.stdout
    assert "It refused a test with a tool: No advertised tool can do" in done.stdout

    stage.play({"text": "Hello."})
    assert used(steer.work("run", "hello")) == "lab:scripted"
    assert used(steer.work("run", "--model", "lab:other", "hello")) == "lab:other"
    assert sent(stage) == {f"Bearer {key}"}
    for how in ([], ["--offline"]):
        told = steer("doctor", *how).stdout
        assert "lab: you are logged in" in told
        assert "no API key" not in told
        assert "lab: you are logged in; the key" not in told  # such a server may need none
    assert "lab: you are logged in; it answers, with 1 model" in steer("doctor").stdout
    assert not (home.parent / "home" / ".config" / "steersman" / "config.toml").exists()


@pytest.mark.parametrize(
    ("words", "stdin", "told"),
    [
        (["opnai", "--key-stdin"], "k", "Did you mean “openai”?"),
        (["--key-stdin"], "k", "The provider is missing."),
        (["openai", "--key-stdin"], "", "There is no key on standard input."),
        (["openai"], "", "There is no terminal to paste the key in."),
        (["compatible", "--key-stdin"], "k", "The address is missing."),
        (["--url", "ftp://x", "--key-stdin"], "k", "is not an address."),
        (["--url", "http://x:port", "--key-stdin"], "k", "“http://x:port” is not an address."),
        (["--url", "http://x/v1", "--name", "openai", "--key-stdin"], "k", "cannot be the name"),
        (["openai", "--key-stdin"], "sk-…", "contains a character that is not allowed in a header"),
    ],
)
def test_what_is_wrong_is_said(steer, home, words, stdin, told):
    done = steer("login", *words, stdin=stdin)

    assert done.returncode == 2
    assert told in done.stderr, done.stderr
    assert not (home / "logins.json").exists()


def test_a_person_is_asked_and_the_key_is_not_shown(steer, stage, key):
    stage.play(PING)
    with Terminal(steer, "login") as terminal:
        terminal.until("Number or name")
        terminal.press("anthropic\n")
        terminal.until("Paste your Anthropic key (made at https://")
        terminal.press(f"{key}\n")
        terminal.until("Logged in at Anthropic.")
        assert terminal.end() == 0
    assert key not in terminal.seen


LIBRARY = """
import importlib.util, json, os, sys, types
from pathlib import Path

def get_keyring():
    from keyring.backends.{module} import Keyring
    return Keyring()
"""
BACKEND = """
import json, os
from pathlib import Path

class Keyring:
    file = Path(os.environ["VAULT"])
    def _all(self):
        return json.loads(self.file.read_text()) if self.file.exists() else {}
    def get_password(self, service, name):
        return self._all().get(f"{service} {name}")
    def set_password(self, service, name, value):
        self.file.write_text(json.dumps({**self._all(), f"{service} {name}": value}))
    def delete_password(self, service, name):
        kept = self._all()
        del kept[f"{service} {name}"]
        self.file.write_text(json.dumps(kept))
"""


@pytest.mark.parametrize(("module", "guarded"), [("SecretService", True), ("null", False)])
def test_a_keyring_of_the_system_holds_the_key(steer, stage, home, key, tmp_path, module, guarded):
    package = tmp_path / "library" / "keyring"
    (package / "backends").mkdir(parents=True)
    (package / "__init__.py").write_text(LIBRARY.replace("{module}", module))
    (package / "errors.py").write_text("class KeyringError(Exception): pass\n")
    (package / "backends" / "__init__.py").write_text("")
    (package / "backends" / f"{module}.py").write_text(BACKEND)
    vault = tmp_path / "vault.json"
    steer = steer.having(PYTHONPATH=str(package.parent), VAULT=str(vault))
    stage.play(PING)

    done = steer("login", "openai", "--key-stdin", stdin=key)

    assert ("in your system's keyring" in done.stdout) == guarded, done.stdout + done.stderr
    assert (home / "keys.json").exists() != guarded
    if guarded:
        assert json.loads(vault.read_text()) == {"steersman openai": key}
        stage.play({"text": f"I know {key}."})
        work = steer.work("run", "hello")
        assert work.bodies("assistant")[-1]["text"] == "I know [redacted]."
        assert sent(stage) == {f"Bearer {key}"}
        assert masked_everywhere(home, key)
        steer("logout", "openai")
        assert json.loads(vault.read_text()) == {}


def test_models_are_asked_for_kept_and_shown_without_a_network(steer, stage, home):
    stage.play({"text": "Hello."})
    own = RecordingStage()
    own.play({"text": "Hello."})
    urls = {"OPENAI_BASE_URL": f"{own.url}/v1"}
    held = steer.having(OPENAI_API_KEY="key-4711", ANTHROPIC_API_KEY="key-4712", **urls)

    offers = {one["provider"]: one for one in decoded(held("models", "--json").stdout)}
    assert [one["name"] for one in offers["openai"]["models"]] == ["openai:scripted"]
    assert set(offers) >= {"openai", "anthropic"}
    asked = len(own.log)
    assert "openai:scripted" in held("models", "openai").stdout
    assert len(own.log) == asked  # a list of today is not asked for again
    held("models", "openai", "--refresh")
    assert len(own.log) == asked + 1

    own.close()
    kept = json.loads((home / "models.json").read_text())
    kept["openai"]["time"] = "2026-01-01T00:00:00Z"
    (home / "models.json").write_text(json.dumps(kept))
    old = held("models", "openai")
    assert "openai:scripted" in old.stdout
    assert "days ago" in old.stdout
    assert "cannot be reached" in old.stderr
    assert old.returncode == 0
    assert "Did you mean “openai”?" in held("models", "opnai").stderr
