"""Heads that are read and written anew say the same, and any other bytes are refused."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.running.heads import BadHead, read_request, read_response

PARTS = st.lists(
    st.sampled_from(
        ["GET ", "CONNECT ", "http://", "ok.test", ":80", ":443", "@", "/", "?", "#", "\\", " ",
         "\t", " HTTP/1.1", " HTTP/1.0", "\r\n", "\n", "\r", "Host: a", "Content-Length: 1", ":",
         "x", "Transfer-Encoding: chunked", "Connection: host, content-length", "[::1]", "é", "\0"]
    ),
    max_size=14,
)  # fmt: skip


@given(PARTS)
def test_what_goes_on_is_read_as_what_came(parts):
    head = "".join(parts).encode() + b"\r\n\r\n"
    with suppress(BadHead):
        request = read_request(head)
        if not request.tunnel:
            first, _, rest = request.onward().partition(b"\r\n")
            method, path, version = first.decode().split(" ")
            host = f"[{request.host}]" if ":" in request.host else request.host
            whole = f"{method} http://{host}:{request.port}{path} {version}".encode()
            again = read_request(whole + b"\r\n" + rest)
            assert (again.host, again.port, again.path) == (
                request.host,
                request.port,
                request.path,
            )
            assert again.length == request.length
            assert rest.lower().count(b"host:") == 1


@given(st.binary(max_size=200), st.sampled_from(["GET", "HEAD"]))
def test_any_bytes_are_a_head_or_refused(head, method):
    with suppress(BadHead):
        read_request(head)
    with suppress(BadHead):
        read_response(b"HTTP/1.1 200 OK\r\n" + head, method)
