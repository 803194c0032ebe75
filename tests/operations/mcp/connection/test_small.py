"""The pure parts of a connection: outcomes, envelopes, patience, what is never said."""

import asyncio

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.mcp.calls import Clock
from steersman.operations.mcp.discretion import Discretion, address
from steersman.operations.mcp.envelope import Lines, TooLarge, messages
from steersman.operations.mcp.outcome import MOST_TEXT, outcome_of, size
from steersman.operations.mcp.patience import FIRST, LONGEST, WINDOW, Patience
from steersman.operations.mcp.sentences import Sentences, exit_text
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import Outcome


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        ({"content": [text("a"), text("b")]}, Outcome("a\nb")),
        ({"content": [text("no")], "isError": True}, Outcome("no", failed=True)),
        ({"content": [], "structuredContent": {"a": 1}}, Outcome('{"a":1}', {"a": 1})),
        (
            {
                "content": [
                    text("a"),
                    {"type": "image", "data": "A" * 16_000, "mimeType": "image/png"},
                ]
            },
            Outcome("a", attachments=("image/png, 12 kB",)),
        ),
        (
            {"content": [{"type": "audio", "data": "AA==", "mimeType": "audio/wav"}]},
            Outcome("", attachments=("audio/wav, 1 byte",)),
        ),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a://b", "text": "words"}}]},
            Outcome("a://b:\nwords"),
        ),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a://b", "blob": "AAAA"}}]},
            Outcome("", attachments=("a://b, binary, 3 bytes",)),
        ),
        (
            {
                "content": [
                    {"type": "resource_link", "name": "log", "uri": "a://b", "size": 2_500_000}
                ]
            },
            Outcome("", attachments=("log: a://b, 2.5 MB",)),
        ),
    ],
)
def test_text_is_kept_and_the_rest_is_described(result, outcome):
    assert outcome_of(result) == outcome


def test_a_long_text_loses_its_middle_and_says_how_much():
    long = "a" * 90_000 + "b" * 30_000
    outcome = outcome_of({"content": [text(long)]})
    assert outcome.cut == 20_000
    assert outcome.text.startswith("aaa")
    assert outcome.text.endswith("bbb")
    assert "20,000 characters left out" in outcome.text
    assert len(outcome.text) < MOST_TEXT + 100


def test_a_structure_that_is_too_large_is_left_out():
    outcome = outcome_of({"content": [text("a")], "structuredContent": {"a": "x" * MOST_TEXT}})
    assert outcome == Outcome("a")


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1500, "1.5 kB"), (12_000_000, "12 MB")],
)
def test_sizes_are_said_as_people_say_them(count, said):
    assert size(count) == said


@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_are_put_together_however_they_come(parts, data):
    whole = b"".join(part + b"\n" for part in parts)
    lines, found = Lines(), []
    while whole:
        cut = data.draw(st.integers(1, len(whole)))
        found += lines.feed(whole[:cut])
        whole = whole[cut:]
    assert found == [stripped for part in parts if (stripped := part.strip())]


def test_a_line_that_never_ends_is_refused():
    lines = Lines(largest=10)
    assert lines.feed(b"0123456789\n01234") == [b"0123456789"]
    with pytest.raises(TooLarge):
        lines.feed(b"567890")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id":1,"result":{}}', {"id": 1, "result": {}}),
        (b'{"id":1.0,"result":{"a":1},"error":null}', {"id": 1, "result": {"a": 1}}),
        (b'{"id":1,"result":null}', {"id": 1, "result": {"content": None}}),
        (b'{"id":1,"result":"yes"}', {"id": 1, "result": {"content": "yes"}}),
        (b'{"id":1,"error":"no"}', {"id": 1, "error": {"code": -32603, "message": "no"}}),
        (
            b'{"id":1,"result":null,"error":{"code":"x","message":7,"data":1}}',
            {"id": 1, "error": {"code": -32603, "message": "7", "data": 1}},
        ),
        (b'{"method":"a","params":null}', {"method": "a"}),
        (b'{"method":"a","params":[1],"id":"x"}', {"method": "a", "id": "x"}),
    ],
)
def test_an_envelope_is_repaired(line, message):
    assert messages(line) == [{"jsonrpc": "2.0", **message}]


@pytest.mark.parametrize(
    "line",
    [b"Listening on 3000", b"7", b"null", b"{}", b"[]", b'{"id":1}', b'{"a', b"\xff", b"[" * 9999],
)
def test_what_is_no_message_is_garbage(line):
    assert messages(line) == []


def test_a_batch_is_several_messages():
    assert len(messages(b'[{"id":1,"result":{}},7,{"method":"a"}]')) == 2


@given(st.binary(max_size=60))
def test_no_line_is_too_odd_to_be_looked_at(line):
    messages(line)


def test_a_server_that_fails_again_and_again_is_tried_ever_more_rarely():
    now = 1000.0
    patience = Patience(lambda: now)

    def fail() -> float:
        patience.begin()
        patience.fail()
        return patience.remaining()

    assert [fail(), fail()] == [0, 0]
    assert [fail(), fail(), fail()] == [FIRST, 2 * FIRST, 4 * FIRST]
    now += 4 * FIRST
    assert patience.remaining() == 0
    assert max(fail() for _ in range(20)) == LONGEST
    patience.begin()
    now += WINDOW + 1
    patience.fail()  # it lived for a long time meanwhile
    assert patience.failures == 1
    assert [fail(), fail()] == [0, FIRST]


SECRET = "sk-12345abcdef"
SERVER = Server(
    name="s",
    transport="http",
    url="https://user:pa55word@example.com:8080/mcp?key=query-secret-1",
    headers={"Authorization": f"Bearer {SECRET}"},
    environ={"MODE": "production", "DB_PASSWORD": "tr0ub4dor&3", "X": "ab", "LEVEL": "info"},
)


@pytest.mark.parametrize(
    "secret",
    [SECRET, f"Bearer {SECRET}", "pa55word", "query-secret-1", "tr0ub4dor&3", "production"],
)
def test_no_value_of_an_entry_is_said_in_a_sentence(secret):
    assert Discretion(SERVER).sentence(f"it said {secret}!") == "it said [redacted]!"


def test_in_results_only_what_looks_secret_is_struck_out():
    clean = Discretion(SERVER).result
    given = {"info": ["production", SECRET, 7], "deep": {"tr0ub4dor&3": None}}
    assert clean(given) == {"info": ["production", "[redacted]", 7], "deep": {"[redacted]": None}}
    assert Discretion(Server(name="s", transport="stdio")).result(given) is given


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (SERVER.url, "https://example.com:8080/mcp"),
        ("http://[::1]:80/a?b", "http://[::1]:80/a"),
        ("http://[bad", "an address that cannot be read"),
    ],
)
def test_an_address_is_shown_without_its_secrets(url, shown):
    assert address(url) == shown


@pytest.mark.parametrize(
    ("code", "said"),
    [(3, "exit code 3"), (137, "SIGKILL"), (127, "not found"), (191, "exit code 191")],
)
def test_how_a_program_ended_is_said_plainly(code, said):
    assert said in exit_text(code)


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_an_outcome_can_always_be_stored(value):
    assert msgspec.json.encode(outcome_of({"content": [], "structuredContent": {"a": value}}))


def test_a_value_is_known_however_a_program_prints_it():
    server = Server(name="s", transport="stdio", environ={"KEY": 'a\tb"c/d'})
    for printed in ('a\tb"c/d', repr('a\tb"c/d'), '"a\\tb\\"c/d"', "a%09b%22c%2Fd"):
        assert "[redacted]" in Discretion(server).sentence(f"<{printed}>")


def test_a_secret_is_not_cut_in_two_where_words_are_cut():
    server = Server(name="s", transport="stdio", environ={"TOKEN": "0123456789abcdef"})
    say = Sentences(server, Discretion(server))
    for length in range(970, 1010):
        said = str(say.cannot_start("It ended.", "0123456789abcdef" + "x" * length))
        assert "abcdef" not in said


def test_progress_gives_a_call_more_time_but_not_for_ever(monkeypatch):
    """Ten times its limit; the time that it waits for people does not count."""
    now, ends = [100.0], []

    class Timer:
        def reschedule(self, when):
            ends.append(when)

    async def use():
        monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now[0])
        clock = Clock(Timer(), 5)
        for moment in (101, 140, 148, 1000):
            now[0] = moment
            clock.restart()
        now[0] = 140
        clock.pause()
        clock.pause()
        now[0] = 340
        clock.resume()
        clock.resume()
        now[0] = 348
        clock.restart()

    asyncio.run(use())
    assert ends == [106, 145, 150, 150, None, None, 345, 350]
