"""No secret passes the door of the log, however it is wrapped, cut or spelt."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.records.action import Execute, Verdict, Write
from steersman.records.hunks import FileHunks
from steersman.records.message import (
    MASK,
    AgentSpawn,
    Assistant,
    Body,
    Checkpoint,
    ConfirmRequest,
    ConfirmResponse,
    DiffReady,
    Error,
    Lasting,
    Policy,
    SessionStart,
    ToolCall,
    ToolProgress,
    ToolResult,
    TurnEnd,
    Unknown,
    UsageReport,
    User,
    decode_body,
)
from steersman.records.undo import Part
from steersman.store.redactor import Redactor, plain

# No bracket: only the mask has one.
spelling = st.text("abA0 \"\\/\n\t\x7fé請\U0001f511'{}:,-", min_size=8, max_size=12)


@st.composite
def relatives(draw: st.DrawFn) -> list[str]:
    """Secrets that hold, begin or overlap one another."""
    whole = draw(st.text("ab", min_size=10, max_size=14))
    starts = draw(st.lists(st.integers(0, len(whole) - 8), min_size=1, max_size=3))
    return sorted({whole[at : at + draw(st.integers(8, 14))] for at in starts})


secrets = st.lists(spelling, min_size=1, max_size=4, unique=True) | relatives()
REAL = [
    "sk-proj-0123456789abcdef",
    'pass"word\\with\\\\quotes',
    "zwei\nZeilen\r\nlang",
    "пароль-密码-\U0001f511",
    "tab\tand\x00nul",
    "</script>&amp;",
]


def strings(value: Any) -> list[str]:
    """Every text in a JSON value, but for keys; numbers as they are written."""
    match value:
        case dict():
            return [text for item in value.values() for text in strings(item)]
        case list():
            return [text for item in value for text in strings(item)]
        case str():
            return [value]
        case _:
            return [json.dumps(value)]


def names(value: Any) -> list[str]:
    """Every key in a JSON value."""
    match value:
        case dict():
            return [*value, *(name for item in value.values() for name in names(item))]
        case list():
            return [name for item in value for name in names(item)]
        case _:
            return []


def wrapped(texts: list[str]) -> st.SearchStrategy[Any]:
    """JSON values with these texts somewhere in them."""
    harmless = st.text("abA0 é", max_size=6)
    pieces = st.lists(st.sampled_from(texts) | harmless, max_size=4).map("".join)
    leaves = st.none() | st.booleans() | st.integers(0, 999) | pieces
    return st.recursive(
        leaves,
        lambda below: st.lists(below, max_size=3) | st.dictionaries(pieces, below, max_size=3),
        max_leaves=8,
    )


@given(st.data(), secrets)
def test_no_secret_survives_in_any_nesting(data, known):
    value = data.draw(wrapped(known))
    body, stored = Redactor(known).body(ToolResult("tool", "ok", output=value, message="done"))
    said = json.loads(stored)
    hard = [secret for secret in known if not plain(secret)]  # a word may be in a key
    assert not [secret for secret in known for text in strings(said) if secret in text]
    assert not [secret for secret in hard for name in names(said) if secret in name]
    assert decode_body("tool_result", stored) == body


@given(st.data(), secrets)
def test_a_body_without_secrets_passes_as_it_is(data, known):
    value = data.draw(wrapped(["harmless", "short"]))
    plain = ToolResult("tool", "ok", output=value)
    assert Redactor(known).body(plain)[0] == plain
    assert Redactor().body(plain)[0] is plain


@pytest.mark.parametrize("secret", REAL, ids=ascii)
@pytest.mark.parametrize(
    "around",
    [
        lambda s: User(f"my key is {s}!"),
        lambda s: Assistant(f"{s}{s}", reasoning=s),
        lambda s: ToolCall("run", {"command": f"curl -H {s}", s: [{s: {"deep": [s]}}]}),
        lambda s: ToolCall("run", malformed=f'{{"key": {s}'),
        lambda s: ToolResult("run", "error", message=s, note=s),
        lambda s: ToolProgress(f"…{s}…"),
        lambda s: Policy(Execute(s, "/srv"), Verdict("ask", "rule", s, s)),
        lambda s: Policy(Write(f"/srv/{s}", diff=f"+{s}\n"), Verdict("allow", "rule", "ok")),
        lambda s: ConfirmRequest("call", "run", (Execute(s, s),), s),
        lambda s: DiffReady(s, f"-{s}\n+x\n", 1, 1),
        lambda s: AgentSpawn("helper", "lane", s),
        lambda s: Error(s, s, s),
        lambda s: Unknown("from_the_future", {s: s}),
    ],
)
def test_a_secret_is_masked_wherever_a_message_has_room_for_words(secret, around):
    body, stored = Redactor([secret]).body(around(secret))
    said = json.loads(stored)
    assert not [text for text in (*strings(said), *names(said)) if secret in text]
    assert MASK in stored.decode()
    assert secret not in repr(body)
    assert body.kind == around(secret).kind


TOKEN = "ghp_" + "Zx9" * 12


@pytest.mark.parametrize("secret", ["command", "database", "Postgres"])
def test_a_password_that_is_a_word_leaves_the_names_of_arguments_alone(secret):
    """It is masked in their values; a name is only masked if it has a secret nobody guesses."""
    given = {secret: f"echo {secret}", "more": [{secret: 1}], TOKEN: "x"}
    body, stored = Redactor([secret]).body(ToolCall("run", given))
    named = {secret: f"echo {MASK}", "more": [{secret: 1}], MASK: "x"}
    assert body == ToolCall("run", named)
    assert Redactor([secret]).json(given) == named
    assert decode_body("tool_call", stored) == body


@pytest.mark.parametrize("key", ["password=Swordfish", "postgres://u:Swordfish@h/db"])
def test_a_password_in_a_key_that_is_no_name_is_masked(key):
    _, stored = Redactor(["Swordfish"]).body(ToolCall("run", {key: 1}))
    assert b"Swordfish" not in stored


@pytest.mark.parametrize("number", [12345678, 12345678.5, -1234567890])
def test_a_secret_that_is_a_number_is_masked_as_a_number_too(number):
    secret = str(number)
    body, stored = Redactor([secret]).body(ToolCall("dial", {"pin": number, "more": [number]}))
    assert secret not in stored.decode()
    assert body == ToolCall("dial", {"pin": MASK, "more": [MASK]})


PLAIN_WORDS: list[Body] = [
    TurnEnd("cancelled"),
    SessionStart("1.0", "/srv", "scripted:x", "code", "sandboxed", "on-request"),
    ToolResult("run", "interrupted", output={}),
    UsageReport("model", input=123456789, output=12345678),
    Policy(Execute("ls", "/srv"), Verdict("allow", "rule", "reason")),
]


@pytest.mark.parametrize("body", PLAIN_WORDS, ids=lambda body: body.kind)
@pytest.mark.parametrize(
    "secret",
    ["cancelled", "interrupted", "workspace", "approvals", "sandboxed", "decision", "12345678"],
)
def test_a_secret_that_is_also_a_word_of_ours_does_not_break_the_log(body, secret):
    kept, stored = Redactor([secret]).body(body)
    assert type(kept) is type(body)
    assert decode_body(body.kind, stored) == kept


FIXED: list[Body] = [
    Checkpoint("undo", undoes=(12345678, 17), parts=(Part("calc.py", (1, 2)),)),
    ConfirmRequest("c", "t", (), "why", lasting=(Lasting("all", ("Runs.",), ("here", "once")),)),
    ConfirmResponse("allow", hunks=(FileHunks("calc.py", (1, 12345678)),)),
]


@pytest.mark.parametrize("body", FIXED, ids=lambda body: body.kind)
@pytest.mark.parametrize("secret", ["12345678", "1", "here", "e", "k"])
def test_no_secret_changes_numbers_and_fixed_words_of_our_records(body, secret):
    """However short it is: a log that cannot be read is worse than a word that anyone guesses."""
    kept, stored = Redactor([secret]).body(body)
    assert decode_body(body.kind, stored) == kept


def test_a_secret_that_is_no_valid_text_does_not_stop_the_program():
    redactor = Redactor(["\udcff-from-a-latin-1-environment", "sk-0123456789"])
    assert redactor.text("sk-0123456789") == MASK


@pytest.mark.parametrize("name", ["caf\udce9.txt", "\ud800", "a\udcff\udcfeb"], ids=ascii)
def test_a_name_that_is_no_valid_text_is_stored_as_text(name):
    body, stored = Redactor().body(ToolResult("list", "ok", output={"files": [name]}))
    assert json.loads(stored)["output"]["files"][0].startswith(name[0] if name[0] < "z" else "")
    assert decode_body("tool_result", stored) == body


# Text that arrives in pieces


def cut(text: str, places: list[int]) -> list[str]:
    """The text in pieces."""
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@given(st.data(), secrets, st.lists(st.integers(0, 200), max_size=8))
def test_text_in_pieces_is_masked_as_the_whole_would_be(data, known, places):
    beginnings = [secret[:-1] for secret in known] + [secret[1:] for secret in known]
    parts = st.sampled_from([*known, *beginnings]) | st.text("abA0 é", max_size=4)
    text = "".join(data.draw(st.lists(parts, max_size=6)))
    redactor = Redactor(known)
    stream = redactor.stream()
    shown = ""
    for piece in cut(text, places):
        shown += stream.feed(piece)
        assert not [secret for secret in known if secret in shown]
    assert shown + stream.flush() == redactor.text(text)


@given(st.text("vzq éß請\n,;", max_size=60), st.lists(st.integers(0, 200), max_size=8))
def test_what_no_secret_begins_with_is_shown_at_once(text, places):
    stream = Redactor().stream()
    pieces = cut(text, places)
    assert [stream.feed(piece) for piece in pieces] == pieces
    assert stream.flush() == ""


def test_what_cannot_become_a_secret_is_not_held_back():
    stream = Redactor(["sk-0123456789"]).stream()
    assert stream.feed("the key sk") == "the key "
    assert stream.feed("y is blue") == "sky is blue"
    assert stream.feed(" sk-01234") == " "
    assert stream.feed("56789,") == f"{MASK},"
    assert stream.flush() == ""


def test_a_beginning_that_stays_one_is_shown_at_the_end_and_only_once():
    stream = Redactor(["sk-0123456789"]).stream()
    assert stream.feed("sk-012") == ""
    assert stream.flush() == "sk-012"
    assert stream.flush() == ""


def test_far_behind_the_beginning_of_a_flood_only_known_secrets_are_looked_for():
    stream = Redactor(["open sesame"]).stream(shapes_in=100)
    token = "ghp_" + "A1b2C3d4E5" * 4
    shown = stream.feed(f"{token} ") + stream.feed("x " * 60) + stream.feed(f"{token} open ")
    shown += stream.feed("sesame ") + stream.flush()
    assert shown == f"{MASK} " + "x " * 60 + f"{token} {MASK} "


@pytest.mark.parametrize(
    ("secret", "shown"),
    [("postgres", True), ("Postgres", True), ("dev/stage", True), ("package.json", True),
     ("correct-horse-battery", False), ("p0stgres", False), ("poStgRes", False)],
)  # fmt: skip
def test_a_question_names_its_file_though_a_password_is_a_plain_word(secret, shown):
    """What hides the name of a file protects nobody; the same word elsewhere is masked."""
    path = f"/srv/.git/hooks/{secret}.conf"
    diff = f"--- /dev/null\n+++ b/.git/hooks/{secret}.conf\n@@ -0,0 +1 @@\n+{secret}\n"
    why = f"a change of .git/hooks/{secret}.conf, with {secret}, needs your approval"
    request = ConfirmRequest("c", "t", (Write(path, after="a" * 64, diff=diff),), why)

    clean, _ = Redactor([secret]).body(request)

    name = secret if shown else MASK
    assert clean == ConfirmRequest("c", "t", (Write(
        path.replace(secret, name), after="a" * 64,
        diff=diff.replace(secret, MASK).replace(f"hooks/{MASK}", f"hooks/{name}"),
    ),), why.replace(secret, MASK).replace(f"hooks/{MASK}", f"hooks/{name}"))  # fmt: skip
