"""Which address answers what, and what becomes of the others."""

from contextlib import closing
from http.client import HTTPConnection

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.http.kit import PATIENCE, Served


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/v0",
        "/api/v0/",
        "/api/v0/me/",
        "/api/v0/nothing",
        "/api/v0/threads//events",
        "/api/v0/threads/a%2Fb/events",
        "/api/v0/threads/{thread}/nothing",
        "/api/v0/socket",
        "//api/v0/me",
    ],
)
def test_an_address_that_is_none(server: Served, path: str) -> None:
    got = server.request("GET", path)
    assert (got.status, got.json) == (404, {"what": "There is nothing at this address."})


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/v0/me", "GET, HEAD"),
        ("GET", "/api/v0/tickets", "POST"),
        ("PUT", "/api/v0/threads", "GET, HEAD, POST"),
        ("PUT", "/api/v0/threads/import", "POST"),
        ("PUT", "/api/v0/threads/k3n5p7q9rs", "DELETE, GET, HEAD, PATCH"),
        ("POST", "/api/v0/threads/k3n5p7q9rs/events", "GET, HEAD"),
    ],
)
def test_what_cannot_be_done_there(server: Served, method: str, path: str, allowed: str) -> None:
    got = server.request(method, path)
    assert (got.status, got.headers["allow"]) == (405, allowed)
    assert got.json == {"what": f"{method} cannot be used here."}


@pytest.mark.parametrize("method", ["socket", "SOCKET", "websocket"])
def test_no_method_opens_a_socket(server: Served, method: str) -> None:
    """Whatever it is called: an address of sockets only is none for requests."""
    assert server.request(method, "/api/v0/socket").status == 404
    assert server.request(method, "/api/v0/me").status == 405


def test_an_address_of_its_own_is_not_that_of_a_thread(server: Served) -> None:
    """`POST /threads/import` imports; reading what is there is reading a thread of that name."""
    got = server.request("GET", "/api/v0/threads/import")
    assert (got.status, got.json["what"]) == (404, "There is no thread “import”.")


def test_a_head_is_what_the_whole_answer_would_begin_with(server: Served) -> None:
    whole, head = (server.request(method, "/api/v0/me") for method in ("GET", "HEAD"))
    assert (head.status, head.body) == (200, b"")
    assert {**head.headers, "date": ""} == {**whole.headers, "date": ""}
    assert head.headers["content-length"] == str(len(whole.body))


def test_the_head_of_a_stream_is_all_that_is_sent_of_it(server: Served) -> None:
    """A stream never ends; what is asked for on the same connection after its head is answered."""
    told = {"Authorization": f"Bearer {server.token}"}
    connection = HTTPConnection(server.at, timeout=PATIENCE)
    with closing(connection):
        for method, path, status in (
            ("HEAD", "/api/v0/events", 200),
            ("HEAD", "/api/v0/threads/nothing/events", 404),
            ("GET", "/api/v0/me", 200),
        ):
            connection.request(method, path, headers=told)
            got = connection.getresponse()
            assert (got.status, bool(got.read())) == (status, method == "GET")


@pytest.mark.parametrize("path", ["/api/v0/me", "/api/v0/nothing", "/api/v0/events"])
def test_no_socket_is_opened_where_there_is_none(server: Served, path: str) -> None:
    told = {"Authorization": f"Bearer {server.token}"}
    with (
        pytest.raises(InvalidStatus, match="403"),
        connect(f"ws://{server.at}{path}", additional_headers=told, open_timeout=PATIENCE),
    ):
        pass
