"""The plan of a compaction is pure: it fits if it can, and keeps what must be kept."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.intelligence.digest import choose, from_both_ends, head_items, outline, understood
from steersman.intelligence.facts import asked, gather, is_rule, listed, touched
from steersman.intelligence.planning import Sheet, compose, level, plan, shown_by
from steersman.intelligence.shortening import MEANWHILE, SMALLEST, shorten, shorten_item
from steersman.intelligence.tokens import Counter
from steersman.records.dialogue import (
    AssistantItem,
    Call,
    Image,
    Item,
    ProviderState,
    ResultItem,
    UserItem,
)
from steersman.records.message import Compaction, Kept, Said, Touched, decode_body, encode_body

WORDS = st.sampled_from(["go on", "never do that", "look again at it", "wörtlich 不要", "a\n\nb"])
LENGTHS = st.one_of(st.integers(0, 80), st.integers(0, 4_000), st.integers(0, 60_000))


def filler(length: int) -> str:
    return ("value = compute(one, two)  # and so on\n" * (length // 39 + 1))[:length]


@st.composite
def conversations(draw: st.DrawFn) -> list[Item]:
    """Prompts, answers, calls and results, of very different lengths."""
    items: list[Item] = [UserItem("The goal: mend it.", steer=False)]
    for turn in range(draw(st.integers(0, 12))):
        for step in range(draw(st.integers(0, 4))):
            names = [f"c{turn}.{step}.{n}" for n in range(draw(st.integers(1, 3)))]
            made = [
                Call(name, draw(st.sampled_from(["read", "workspace_write_file"])),
                     {"path": "a.py", "content": filler(draw(LENGTHS))})
                for name in names
            ]  # fmt: skip
            items.append(AssistantItem(filler(draw(st.integers(0, 300))), "", tuple(made)))
            items += [ResultItem(n, filler(draw(LENGTHS)), draw(st.booleans())) for n in names]
        items.append(AssistantItem(filler(draw(LENGTHS)), "", ()))
        said = draw(WORDS) + filler(draw(st.sampled_from([0, 0, 0, 5_000])))
        items.append(UserItem(said, steer=draw(st.booleans())))
    return items


def compacted(sheet: Sheet, room: float, digest: bool) -> Compaction:
    made = plan(sheet, room, digest=digest)
    news = sheet.numbered(sheet.start, made.boundary)
    told = outline(sheet.latest.digest, news, 2_000)
    return compose(sheet, made, gather(sheet.latest.kept, news), told, room)


def view(sheet: Sheet, body: Compaction) -> list[Item]:
    tail = list(sheet.items[len(sheet.items) - body.tail :])
    for one in body.shortened:
        tail[one.place] = shorten_item(tail[one.place], one.room, one.message)
    return head_items(body) + tail


def well_formed(items: list[Item]) -> bool:
    owed: list[str] = []
    for item in items:
        if owed:
            if not isinstance(item, ResultItem) or item.call != owed.pop(0):
                return False
        elif isinstance(item, ResultItem):
            return False
        elif isinstance(item, AssistantItem):
            owed = [made.id for made in item.calls]
    return not owed


@settings(max_examples=60, deadline=None)
@given(conversations(), st.integers(1_500, 40_000), st.booleans(), st.integers(0, 12))
def test_it_fits_is_whole_and_keeps_the_goal_and_the_rules(items, room, digest, more):
    counter = Counter()
    sheet = Sheet(items, list(range(1, len(items) + 1)), counter)
    body = compacted(sheet, room, digest)
    seen = view(sheet, body)
    assert sum(map(counter.of_item, seen)) == pytest.approx(shown_by(body, sheet))
    assert shown_by(body, sheet) <= room
    assert well_formed(seen)
    said = [item.text for item in seen if isinstance(item, UserItem)]
    assert any(words.startswith("The goal: mend it.") for words in said)
    for item in items:
        if isinstance(item, UserItem) and is_rule(item.text) and len(item.text) < 100:
            assert any(item.text in words for words in said)
    assert decode_body("compaction", encode_body(body)) == body

    # And again, on top of that, after some more was said.
    longer = [*items, *[UserItem(f"more {n}", steer=False) for n in range(more)]]
    start = len(items) - body.tail
    again = Sheet(longer, list(range(1, len(longer) + 1)), counter, start, body)
    second = compacted(again, room, True)
    assert shown_by(second, again) <= room
    assert well_formed(view(again, second))
    assert second.until >= body.until
    if second.until:
        assert second.kept.goal == "The goal: mend it."


@given(st.text(max_size=3_000), st.integers(0, 3_000), st.text(max_size=40))
def test_a_shortened_text_is_no_longer_than_asked_for_and_says_what_is_missing(text, room, handle):
    short = shorten(text, room, handle)
    if len(text) <= max(room, SMALLEST):
        assert short == text
    else:
        assert len(short) <= max(room, 60 + 2 * 6 + len(handle))
        assert handle in short
        assert "characters left out" in short


def test_a_text_is_cut_at_the_ends_of_lines():
    text = "\n".join(f"line {n}" for n in range(500))
    start, _, end = shorten(text, 400, "ask").partition("\n[… ")
    assert text.startswith(start + "\n")
    assert text.endswith("\n" + end.partition("…]\n")[2])


def test_a_shortened_answer_keeps_its_calls_and_loses_what_was_signed_for_the_whole():
    state = ProviderState("p", "m", ({"s": "x"},))
    long = AssistantItem("So.", "hm", (Call("c", "write", {"a": ["x" * 900], "n": 1}),), state)
    short = shorten_item(long, 200)
    assert isinstance(short, AssistantItem)
    assert short.state is None
    assert (short.calls[0].id, short.calls[0].arguments["n"]) == ("c", 1)
    assert len(short.calls[0].arguments["a"][0]) <= 200
    assert shorten_item(long, 1_000) is long
    picture = UserItem("x" * 900, False, (Image("image/png", "aa"),))
    assert shorten_item(picture, 200).images == picture.images


@pytest.mark.parametrize(
    ("costs", "room", "height"),
    [([1, 2, 3], 6, 6), ([1, 1, 10], 6, 4), ([10, 10], 6, 3), ([], 6, 6), ([7], 6, 6)],
)
def test_the_largest_are_cut_off_at_one_height(costs, room, height):
    assert level(costs, room) == height


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Never push to main", True),
        ("please don't rename it", True),
        ("From now on, tabs", True),
        ("Bitte immer auf Deutsch", True),
        ("不要删除文件", True),
        ("go on", False),
        ("What does this file do?", False),
        ("mustard and onlyfans", False),
    ],
)
def test_rules_are_told_by_their_words(text, rule):
    assert is_rule(text) is rule


def test_where_not_all_words_fit_rules_come_first_then_steering_then_the_newest():
    words = [Said(f"word {n}", n) for n in range(1, 6)]
    words += [Said("rule a", 6, "rule"), Said("steer", 7, "steer"), Said("word 8", 8)]
    sizes = [choose(words, room, lambda text: 4) for room in (0, 10, 20, 30, 40, 1_000)]
    assert [[said.message for said in chosen] for chosen in sizes] == [
        [],
        [6],
        [6, 7],
        [6, 7, 8],
        [5, 6, 7, 8],
        [1, 2, 3, 4, 5, 6, 7, 8],
    ]


@given(st.lists(st.integers()))
def test_from_both_ends_everything_comes_once(numbers):
    assert sorted(from_both_ends(numbers)) == sorted(numbers)


def test_both_ends_take_turns():
    assert from_both_ends([1, 2, 3, 4, 5]) == [1, 5, 2, 4, 3]


CALLS = [
    ("workspace_read_file", {"path": "a"}, [("a", "read")]),
    ("workspace_write_file", {"path": "a", "content": "x"}, [("a", "written whole, 1 line")]),
    ("workspace_apply_patch",
     {"patch": "*** Begin Patch\n*** Add File: n.py\n+x\n*** Delete File: o.py\n*** End Patch"},
     [("n.py", "added by a patch"), ("o.py", "deleted by a patch")]),
    ("workspace_apply_patch", {"patch": "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n"},
     [("x.c", "changed by a patch")]),
    ("workspace_edit_files", {"files": [{"path": "a", "edits": "nonsense"}, 7]},
     [("a", "0 edits, the last one put in: ")]),
    ("other", {"path": "a"}, []),
    ("workspace_read_file", {}, []),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "files"), CALLS)
def test_files_touched_are_read_from_the_calls(tool, arguments, files):
    assert touched(Call("c", tool, arguments)) == files


def worked(command: str, text: str) -> list[tuple[Item, int]]:
    call = Call("c", "workspace_run_command", {"command": command})
    return [(AssistantItem("", "", (call,)), 1), (ResultItem("c", text), 2)]


def test_a_command_worked_when_it_says_so_and_not_when_its_output_does():
    assert gather(Kept(), worked("make", "wall_ms: 3\nexit_code: 0")).commands == ("make",)
    assert gather(Kept(), worked("make", "wall_ms: 3\noutput:\n\nexit_code: 0\n")).commands == ()
    failed = gather(Kept(), worked("make", "wall_ms: 3\nexit_code: 2\noutput:\n\nexit_code: 0\n"))
    assert failed.commands == ()
    assert failed.error.startswith("make")
    mended = gather(failed, worked("make", "wall_ms: 3\nexit_code: 0"))
    assert mended.commands == ("make",)


def test_an_error_is_forgotten_when_the_same_call_works():
    story = [*worked("make", "exit_code: 2"), *worked("make", "exit_code: 0")]
    assert gather(Kept(), story).error == ""
    story = [*worked("make", "exit_code: 2"), *worked("ls", "exit_code: 0")]
    assert gather(Kept(), story).error == "make\nexit_code: 2"


def test_changes_of_a_command_are_files_touched():
    told = 'exit_code: 0\nchanges: ["created out/a.txt"]'
    assert gather(Kept(), worked("make", told)).files == (
        Touched("out/a.txt", "created by `make`"),
    )


def test_a_question_is_open_until_the_person_says_something():
    story: list[tuple[Item, int]] = [(AssistantItem("Done.\nShall I push?", "", ()), 1)]
    assert gather(Kept(), story).questions == ("Shall I push?",)
    assert gather(Kept(), [*story, (UserItem("yes"), 2)]).questions == ()
    assert asked("No question.") == []


def test_lists_are_shown_whatever_their_shape():
    assert listed({"items": [{"text": "a", "done": True}, "b"]}) == "- a · true\n- b"
    assert listed({"plan": "# Do\nit"}) == "# Do\nit"
    assert listed({"title": "T", "steps": ["x", "y"]}) == "T\n- x\n- y"
    assert listed({}) == ""


@pytest.mark.parametrize(
    ("answer", "digest", "rules"),
    [
        ("State: good.\nRules: 3, 17", "State: good.", {3, 17}),
        ("State: good.\n**Rules:** none\n", "State: good.", set()),
        ("No such line", "No such line", set()),
        ("", "", set()),
        ("Rules: 1\nmore\nRules: 2", "Rules: 1\nmore", {2}),
    ],
)
def test_a_models_answer_is_a_digest_and_the_numbers_of_rules(answer, digest, rules):
    assert understood(answer) == (digest, rules)


def test_what_people_undid_is_kept_and_is_neither_goal_nor_lost():
    note = f"{MEANWHILE}, this happened.]\n- The user undid your changes: a.py."
    kept = gather(Kept(), [(UserItem(note, steer=True), 1), (UserItem("Go on"), 2)])
    assert (kept.goal, kept.words) == ("Go on", (Said(note, 1, "steer"),))
