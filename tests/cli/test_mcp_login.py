"""`steer mcp login` and `logout`: a person signs in, and nothing tells what that gave."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from steersman.host import doctor, mcp, storage
from tests.cli.kit import DONE
from tests.operations.mcp.signing_in.house import House, house, visit
from tests.world import Steer, call

ADDRESS = re.compile(r"^  (http\S+)$")
WANTED = "The MCP server “house” needs you to sign in. Run `steer mcp login house`."


@pytest.fixture
def at() -> Iterator[House]:
    with house() as made:
        yield made


@pytest.fixture
def known(at: House, steer: Steer) -> House:
    """The person has written the server down."""
    done = steer("mcp", "add", "house", "--url", at.server().url)
    assert done.returncode == 0, done.stderr
    return at


def login(steer: Steer, *flags: str) -> tuple[int, str]:
    """Sign in, with a browser in which somebody agrees."""
    process = steer.start("mcp", "login", "house", "--no-browser", *flags)
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if found := ADDRESS.match(line):
            visit(found[1])
    _, errors = process.communicate(timeout=60)
    return process.returncode, "".join(said) + errors


def everything(environ: dict[str, str]) -> Iterator[tuple[Path, bytes]]:
    """All that is on disk but the one place where sign-ins are kept."""
    for folder in (environ["STEERSMAN_HOME"], environ["HOME"]):
        for path in Path(folder).rglob("*"):
            if path.is_file() and path.parent.name != "sign-ins":
                yield path, path.read_bytes()


def test_a_person_signs_in_works_and_signs_out(steer, known, environ, script, workspace):
    tried = steer("mcp", "test", "house")
    assert tried.returncode == 1
    assert WANTED in tried.stdout.replace("\n", " ")
    assert "needs a sign-in" in steer("mcp", "list").stdout
    usable = mcp.usable(storage.open_host(environ), str(workspace), environ)
    (told,) = doctor.servers(usable, str(workspace), environ)
    assert (told.found, told.fix) == ("house needs a sign-in", "steer mcp login house")

    code, said = login(steer)
    assert code == 0, said
    assert "✓ Signed in at house." in said
    assert "It has 2 tools." in said
    (file,) = Path(environ["STEERSMAN_HOME"]).glob("mcp/sign-ins/*.json")
    assert file.stat().st_mode & 0o777 == 0o600
    shown = [
        steer("mcp", "list").stdout,
        steer("mcp", "list", "--json").stdout,
        steer("mcp", "test", "house").stdout,
        steer("mcp", "test", "house", "--json").stdout,
    ]
    assert "signed in" in shown[0]
    assert '"sign_in":"signed in"' in shown[1]
    assert "✓ house: house" in shown[2]
    (told,) = doctor.servers(usable, str(workspace), environ)
    assert told.found == "house, 2 tools, signed in"

    tell = call("mcp_call_tool", server="house", tool="tell_token")
    model = script({"tool_calls": [tell]}, DONE)
    done = steer("run", "x", "--model", model, "--yes", "--json")
    assert "The token is [redacted]." in done.stdout
    for secret in known.given:
        assert not any(secret in text for text in [*shown, said, done.stdout, done.stderr])
        for path, content in everything(environ):
            assert secret.encode() not in content, path

    assert "Removed" in steer("mcp", "remove", "house").stdout
    assert not file.exists()  # with the entry goes what it led to
    steer("mcp", "add", "house", "--url", known.server().url)
    assert login(steer)[0] == 0
    assert "Signed out at house" in steer("mcp", "logout", "house").stdout
    assert not file.exists()
    assert known.access == {}
    assert "There was no sign-in" in steer("mcp", "logout", "house").stdout
    assert "signed in" not in steer("mcp", "list").stdout


def test_a_turn_that_meets_a_closed_door_says_so_and_opens_nothing(steer, known, script):
    look = call("mcp_list_tools", words="house")
    use = call("mcp_call_tool", server="house", tool="echo", arguments={"text": "hello"})
    model = script({"tool_calls": [look]}, {"tool_calls": [use]}, DONE)
    messages = steer.messages("run", "x", "--model", model, "--yes")
    said = [m["body"] for m in messages if m["kind"] == "tool_result"]
    assert len(said) == 2
    for one in said:
        assert WANTED in str(one).replace("\\n", " ")
    assert known.clients == {}  # nobody was registered, and no page was opened


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("login", "nobody"), "There is no MCP server “nobody”."),
        (("logout", "nobody"), "There is no MCP server “nobody”."),
        (("login", "local"), "It is a program on this machine."),
        (("login", "keyed"), "Its entry says how to authenticate"),
    ],
)
def test_what_cannot_be_signed_in_at_is_told(steer, words, told):
    steer("mcp", "add", "local", "--", "true")
    steer("mcp", "add", "keyed", "--url", "https://x.example/", "--header", "Authorization: t")
    done = steer("mcp", *words)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_refusal_and_a_long_wait_end_with_a_sentence(steer, known):
    known.refuses = True
    code, said = login(steer)
    assert code == 1
    assert "The sign-in at the MCP server “house” failed." in said
    assert "It was refused there (access_denied)." in said
    done = steer("mcp", "login", "house", "--no-browser", "--timeout", "2")
    assert done.returncode == 1
    assert "The browser did not return within 2 s." in done.stderr
