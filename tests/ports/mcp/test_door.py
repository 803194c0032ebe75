"""Who may come in over HTTP: addresses, names, tokens."""

import stat
from pathlib import Path

import pytest

from steersman.host.server_token import token_at
from steersman.ports.listening import address_from, is_loopback, names_of
from steersman.ports.mcp.http import DEFAULT_PORT
from steersman.records.errors import UsageProblem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        (":0", ("127.0.0.1", 0)),
        ("8000", ("127.0.0.1", 8000)),
        ("localhost", ("localhost", DEFAULT_PORT)),
        ("[::1]:90", ("::1", 90)),
        ("[::1]", ("::1", DEFAULT_PORT)),
        ("0.0.0.0:1", ("0.0.0.0", 1)),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, expected: tuple[str, int]) -> None:
    assert address_from(text, DEFAULT_PORT) == expected


@pytest.mark.parametrize("text", ["127.0.0.1:x", "127.0.0.1:70000", "a:b:c"])
def test_what_is_no_address_is_said_to_be_none(text: str) -> None:
    with pytest.raises(UsageProblem, match="is not an address"):
        address_from(text, DEFAULT_PORT)


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.7", False),
        ("localhost.example", False),
    ],
)
def test_only_this_machine_reaches_a_loopback_address(host: str, here: bool) -> None:
    assert is_loopback(host) is here
    if here:
        assert "127.0.0.1" in names_of(host, ())
    else:
        with pytest.raises(UsageProblem, match="--public"):
            names_of(host, ())
        assert "box.example" in names_of(host, ["box.example"])


def test_a_token_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "token"
    first = token_at(path)
    assert first.made
    assert len(first.text) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    second = token_at(path)
    assert (second.text, second.made) == (first.text, False)


def test_a_token_others_can_read_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("a-long-enough-token")
    path.chmod(0o640)
    with pytest.raises(UsageProblem, match="Others can read"):
        token_at(path)


@pytest.mark.parametrize("text", ["", "short", "words with spaces in between", "\0" * 20])
def test_what_is_no_token_is_not_used(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(UsageProblem, match="contains no token"):
        token_at(path)
