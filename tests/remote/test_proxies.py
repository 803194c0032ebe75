"""A proxy between this machine and the server of a workspace: what it says is a sentence."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from steersman.host.reaching_web import dialing
from steersman.records.errors import SteersmanError
from steersman.records.far import far
from steersman.threads.remote.calling import Hopeless

BOX = far("https://box.example.org:8920/srv/app")


@contextmanager
def proxy(answer: str) -> Iterator[str]:
    """A proxy that gives everyone the same answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def run() -> None:
            with suppress(OSError):
                while True:
                    caller, _ = listening.accept()
                    with caller:
                        caller.recv(65536)
                        caller.sendall(answer.encode())

        threading.Thread(target=run, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def dialed() -> Exception:
    """What comes of dialing."""
    with pytest.raises(Exception) as raised:  # noqa: PT011
        asyncio.run(dialing(BOX, {"STEERSMAN_TOKEN": "steer_00000000_x"})())  # type: ignore[arg-type]
    return raised.value


@pytest.fixture(autouse=True)
def _no_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("status", "passes"), [("503 Busy", True), ("403 Forbidden", False)])
def test_what_a_proxy_says_may_pass_when_the_trouble_is_its_own(
    monkeypatch: pytest.MonkeyPatch, status: str, passes: bool
) -> None:
    with proxy(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n") as address:
        monkeypatch.setenv("https_proxy", address)
        told = dialed()
    assert isinstance(told, SteersmanError)
    assert told.what == f"The proxy does not connect to box.example.org: status {status[:3]}."
    assert isinstance(told, Hopeless) is not passes  # after that, nobody would dial again


def test_a_proxy_that_does_not_speak_as_one_may_have_been_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with proxy("good morning\r\n\r\n") as address:
        monkeypatch.setenv("https_proxy", address)
        told = dialed()
    assert isinstance(told, SteersmanError)
    assert not isinstance(told, Hopeless)
    assert told.what == "The proxy does not connect to box.example.org."


@pytest.mark.parametrize(
    "address", ["foo://me:pass@bar", "http://me:pass@bar:3x", "socks5://me:pass@bar:1"]
)
def test_a_proxy_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("https_proxy", address)
    told = dialed()
    assert isinstance(told, Hopeless)
    assert told.what == "The proxy that is set in the environment cannot be used."
    assert told.why
    assert "pass" not in told.why
