"""Where package managers go: what a line installs, what a project names, and what is asked once."""

import json
import re
from pathlib import Path

import pytest

from steersman.governance.confinement import _LOCAL
from steersman.governance.guard.judge import judge
from steersman.governance.offers import offers
from steersman.governance.policy import Circumstances, decide
from steersman.governance.registries import managers, registries
from steersman.governance.rules import RuleSet
from steersman.records.action import Network
from steersman.records.judgement import CommandPlace

FILES = {
    "package-lock.json": '{"packages": {"a": {"resolved": "https://npm.example.org/a.tgz"}}}',
    "web/.npmrc": "@ours:registry=https://web.example.org:8443/\n",
    "requirements.txt": "--index-url https://me:x@py.example.org/simple\nx==1 # https://no.example.org\n"
    "y @ https://files.example.org/y.whl\n",
    "Cargo.lock": 'source = "registry+https://github.com/example/index"\n'
    'source = "sparse+https://rust.example.org/index/"\n',
    "Gemfile": "source 'https://gems.example.org'\n# source 'https://no.example.org'\n",
    "composer.lock": '"dist": {"type": "zip", "url": "https://php.example.org/z"}',
    "uv.lock": 'source = { registry = "https://uv.example.org/simple" }\n',
}


def found(workspace: Path, command: str, environ: dict[str, str] | None = None) -> tuple[str, ...]:
    place = CommandPlace(str(workspace), "/home/me", str(workspace))
    read = judge(command, place)
    return registries(read, str(workspace), str(workspace), environ or {}, _LOCAL)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


PY = ["files.example.org:443", "py.example.org:443", "uv.example.org:443"]


@pytest.mark.parametrize(
    ("command", "manager", "others"),
    [
        ("npm ci", "npm", ["npm.example.org:443"]),
        ("npm install left-pad 2>&1 | tail -5", "npm", ["npm.example.org:443"]),
        ("cd web && npm ci", "npm", ["npm.example.org:443", "web.example.org:8443"]),
        ("npm ci --prefix web", "npm", ["npm.example.org:443", "web.example.org:8443"]),
        ("yarn", "npm", ["npm.example.org:443"]),
        ("uv sync", "pip", PY),
        ("python3 -m pip install -r requirements.txt", "pip", PY),
        ("python3 -m venv .venv && . .venv/bin/activate && pip install -e .", "pip", PY),
        (".venv/bin/pip install -r requirements.txt", "pip", PY),
        ("cargo fetch", "cargo", ["rust.example.org:443"]),
        ("go mod download", "go", []),
        ("bundle install", "bundler", ["gems.example.org:443"]),
        ("composer install", "composer", ["php.example.org:443"]),
        ("npm test", "", []),
        ("npm publish", "", []),
        ("npm ci && curl https://npm.example.org/", "", []),
        ("npm ci && npm test", "", []),
        ("npm ci; python3 send.py", "", []),
        ("npm_config_registry=https://x.example.org npm ci", "", []),
        ("cargo run", "", []),
        ("curl https://npm.example.org", "", []),
    ],
)
def test_only_installations_have_registries_and_what_a_project_names_is_told(
    project, command, manager, others
):
    assert found(project, command) == tuple(others)
    assert not manager or manager in [one.name for one in managers()]


def test_files_smuggle_nothing(tmp_path):
    """No addresses of this machine, no names out of the workspace, no list that nobody reads."""
    bad = ["http://127.0.0.1/x", "https://localhost/x", "https://169.254.169.254/x",
           "https://[::1]/x", "https://intranet/x", "https://a b.example/x", "ftp://f.example/x",
           "https://x.example:99999/x"]  # fmt: skip
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps([{"resolved": address} for address in bad]))
    assert found(tmp_path, "npm ci") == ()
    many = [{"resolved": f"https://h{number}.example/x"} for number in range(9)]
    lock.write_text(json.dumps(many))
    assert found(tmp_path, "npm ci") == ()
    lock.unlink()
    (tmp_path / "work").mkdir()
    (tmp_path / "away.npmrc").write_text("registry=https://away.example.org\n")
    (tmp_path / "work/.npmrc").symlink_to("../away.npmrc")
    assert found(tmp_path / "work", "npm ci") == ()
    own = {"npm_config_registry": "https://mine.example.org/"}
    assert found(tmp_path / "work", "npm ci", own) == ("mine.example.org:443",)


def test_the_table_is_sound():
    for manager in managers():
        assert manager.programs, manager.name
        assert manager.installs, manager.name
        for naming in manager.files:
            pattern = re.compile(naming.pattern)
            assert pattern.groups == 1, naming
            for word in ("url =", "\n", '"resolved":', "@", "source", "https://", "<repository>"):
                pattern.findall(word + " " * 100_000 + word * 20_000)  # and ends


def test_one_answer_covers_the_hosts_of_an_installation_and_nothing_else():
    wanted = Network("a.example.org", 443, ("a.example.org:443", "b.example.org:443"))
    where = Circumstances("/w", approvals="on-request")
    verdict = decide(wanted, where)
    assert (verdict.decision, verdict.rule) == ("ask", "network.registries")
    assert verdict.reason == (
        "letting package managers reach the registries that this project names "
        "(a.example.org, b.example.org) needs your approval"
    )
    (choice,) = offers([wanted], None, "/w").choices
    assert choice.scopes[-2:] == ("thread", "here")
    assert choice.sentences == (
        "package managers' connections to a.example.org",
        "package managers' connections to b.example.org",
    )
    answers = RuleSet(choice.rules)
    groups = (wanted.registries,)
    later = (("b.example.org:443", "c.example.org:443"),)

    def decided(action: Network) -> str:
        return decide(action, Circumstances("/w", answers=answers)).decision

    assert decided(wanted) == "allow"
    assert decided(Network("b.example.org", 443, *groups)) == "allow"
    assert decided(Network("b.example.org", 443)) == "ask"  # any other command
    assert decided(Network("b.example.org", 443, *later)) == "allow"
    assert decided(Network("c.example.org", 443, *later)) == "ask"  # a host that was not listed
    assert decided(Network("b.example.org", 80, *groups)) == "ask"
