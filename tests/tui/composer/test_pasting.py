"""What is pasted: short texts as they are, long ones as chips, nothing that a terminal obeys."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from steersman.records.errors import UsageProblem
from steersman.records.in_context import typed
from steersman.views.attachments import (
    HUGE,
    Attachments,
    ComposerDraft,
    Mentions,
    as_mention,
    clean,
    is_long,
    mentioned,
)
from tests.tui.composer.desk import Desk, write


@pytest.mark.parametrize(
    ("pasted", "kept"),
    [
        ("plain", "plain"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\tb", "a\tb"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("nul\0bell\x07del\x7fc1\x9b", "nulbelldelc1"),
        ("left\u202eright\u2066", "leftright"),
        ("hidden\U000e0041\U000e0042", "hidden"),
        ("👩\u200d💻 ü 日本", "👩\u200d💻 ü 日本"),
    ],
)
def test_only_text_is_taken(pasted: str, kept: str) -> None:
    assert clean(pasted) == kept


@given(st.text())
def test_cleaned_text_holds_no_controls_and_stays_as_it_is(text: str) -> None:
    once = clean(text)
    assert not any(ord(char) < 32 and char not in "\n\t" for char in once)
    assert "\x1b" not in once
    assert clean(once) == once


def test_long_is_by_characters_or_lines() -> None:
    assert not is_long("x" * 2_000)
    assert is_long("x" * 2_001)
    assert not is_long("x\n" * 19)
    assert is_long("x\n" * 20)


def test_a_long_paste_is_a_chip_until_it_is_sent(tmp_path: Path) -> None:
    text = "line [pasted text 1: 350 lines]\n" * 350

    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"see ")
        desk.composer.paste(text)
        desk.composer.paste("short")
        assert desk.composer.text == "see [pasted text 1: 350 lines] short"
        await pilot.press("enter")

    assert write(tmp_path, act).said == [("said", f"see {text} short", ())]


def test_a_chip_that_is_deleted_sends_nothing(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        desk.composer.paste("x\n" * 50)
        await pilot.press("ctrl+u", *"words", "enter")

    assert write(tmp_path, act).said == [("said", "words", ())]


def test_ten_megabytes_are_a_chip_and_kept_whole(tmp_path: Path) -> None:
    text = "0123456789abcde\n" * 640_000

    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        desk.composer.paste(text)
        await pilot.pause()
        assert desk.composer.text == "[pasted text 1: 640,000 lines] "
        await pilot.press("enter")

    desk = write(tmp_path, act)
    ((_, sent, _),) = desk.said
    assert len(sent) < HUGE
    assert sent.startswith("0123456789abcde\n")
    assert f"{len(text) - 100_000:,} characters of the pasted text left out here" in sent
    (file,) = (tmp_path / "home" / "terminal" / "pasted").glob("*.txt")
    assert file.read_text() == text
    assert str(file) in desk.told[0]


def test_more_than_can_be_kept_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="too long"):
        Attachments(tmp_path).add_text("x" * 64_000_001)


def test_a_kept_text_that_is_gone_is_told_and_the_words_stay(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        desk.composer.paste("x" * (HUGE + 1))
        for file in (tmp_path / "home" / "terminal" / "pasted").iterdir():
            file.unlink()
        await pilot.press("enter")
        assert desk.composer.text == "[pasted text 1: 1 line] "

    desk = write(tmp_path, act)
    assert desk.said == []
    assert "no longer kept" in desk.told[-1]


def test_numbers_go_on_after_a_restored_draft(tmp_path: Path) -> None:
    first = Attachments(tmp_path)
    label = first.add_text("a" * 3_000).label
    second = Attachments(tmp_path)
    second.adopt(first.draft(label))
    assert second.add_text("b" * 3_000).label == "[pasted text 2: 1 line]"
    assert second.expanded(f"{label}!") == "a" * 3_000 + "!"
    assert second.draft("no chip") == ComposerDraft("no chip")


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("@a.py", ("a.py",)),
        ("see @a.py.", ("a.py",)),
        ("see (@a.py), @a.py", ("a.py",)),
        ('@"b c.py" @src/', ("b c.py", "src/")),
        ("see @a.py#add, @a.py", ("a.py#add", "a.py")),
        ("@a.py# @#add @gone#add", ()),
        ("me@a.py", ()),
        ("@gone", ()),
        ("", ()),
    ],
)
def test_which_files_a_text_mentions(text: str, files: tuple[str, ...]) -> None:
    assert mentioned(text, lambda name: name in {"a.py", "b c.py", "src/"}) == files


def test_mentions_are_read_from_the_texts_of_a_thread() -> None:
    texts = [
        "look at @a.py and @b.py",
        "go on with @c.py\n\nFiles in context: @b.py",  # a.py was taken out
        "and @d.py",
    ]
    assert Mentions.told(texts, lambda _: True).files == ("b.py", "c.py", "d.py")


def test_what_was_dropped_stays_so_when_the_thread_is_read_back() -> None:
    said = ["look at @a.py and @b.py"]
    some = Mentions.told(said, lambda _: True).remove("a.py")
    assert some.applied("why?") == "why?\n\nFiles in context: @b.py"
    none = some.remove("b.py")
    assert none.applied("why?") == "why?\n\nFiles in context: none"
    named = none.applied("and @c.py")
    assert named == "and @c.py\n\nFiles in context: @c.py"
    for text, files in ((none.applied("why?"), ()), (named, ("c.py",))):
        assert Mentions.told([*said, text], lambda _: True).files == files
    assert none.add(()).applied("again") == "again"


@given(st.lists(st.text(st.sampled_from("ab/. "), min_size=1).filter(str.strip), max_size=8))
def test_what_is_written_down_is_read_back(files: list[str]) -> None:
    mentions = Mentions().add(files)
    assert Mentions.told([mentions.applied("words")], lambda _: True) == mentions
    assert all(mentioned(as_mention(file), lambda _: True) == (file,) for file in files)


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("why?\n\nFiles in context: @b.py", "why?"),
        ("why?\n\nFiles in context: none", "why?"),
        ("why?\n\nFiles in context: a lot", "why?\n\nFiles in context: a lot"),
        ("Files in context: @b.py\n\nwhy?", "Files in context: @b.py\n\nwhy?"),
        ("\n\nFiles in context: none", "\n\nFiles in context: none"),
    ],
)
def test_people_see_what_was_typed(sent: str, shown: str) -> None:
    assert typed(sent) == shown
