"""Messages in bytes: whole ones come out however they are cut, and garbage is said to be some."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.code.lsp.framing import LONGEST_HEADERS, Frames, Garbled, encode

MESSAGES = st.lists(
    st.dictionaries(st.text(max_size=5), st.integers(-9, 9) | st.text(max_size=20), max_size=4),
    max_size=5,
)


@given(MESSAGES, st.integers(1, 40))
def test_messages_come_out_whole_whatever_the_pieces(messages, size):
    stream = b"".join(encode(message) for message in messages)
    frames = Frames()
    found = []
    for start in range(0, len(stream), size):
        found += frames.feed(stream[start : start + size])
    assert found == messages


def test_headers_may_come_in_any_case_and_with_others():
    body = json.dumps({"id": 1}).encode()
    sent = b"content-type: x\r\nCONTENT-LENGTH:  %d \r\n\r\n" % len(body) + body
    assert list(Frames().feed(sent)) == [{"id": 1}]


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"Segmentation fault\r\n\r\n", "without a length"),
        (b"Content-Length: -1\r\n\r\n", "without a length"),
        (b"Content-Length: 1e3\r\n\r\n", "without a length"),
        (b"Content-Length: 12\n" * 1000, "no header ends"),
        (b"x" * (LONGEST_HEADERS + 1), "no header ends"),
        (b"Content-Length: 4\r\n\r\n{no}", "not JSON"),
        (b"Content-Length: 3\r\n\r\n[1]", "not an object"),
        (b"Content-Length: 101\r\n\r\n", "larger than 100"),
        (b"Content-Length: " + b"9" * 30 + b"\r\n\r\n", "without a length"),
    ],
)
def test_garbage_is_refused_with_the_reason(sent, why):
    with pytest.raises(Garbled, match=why):
        list(Frames(largest=100).feed(sent))


@given(st.binary(max_size=200))
def test_any_bytes_are_messages_garbage_or_wait_for_more(sent):
    with suppress(Garbled):
        assert all(isinstance(message, dict) for message in Frames(100).feed(sent))


def test_messages_before_garbage_are_not_lost():
    frames = Frames()
    taken = []
    with suppress(Garbled):
        for message in frames.feed(encode({"id": 1}) + b"oops\r\n\r\n"):
            taken.append(message)
    assert taken == [{"id": 1}]
