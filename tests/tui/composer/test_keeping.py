"""History, unsent words, the editor: nothing that was written is lost."""

import os
import stat
from pathlib import Path

import pytest
from textual.pilot import Pilot

from steersman.ports.tui.editor import edit, editor
from steersman.ports.tui.history import MOST, MOST_FILE, Drafts, History
from steersman.records.errors import UsageProblem
from steersman.views.attachments import ComposerDraft, Mentions, Piece
from tests.tui.composer.desk import Desk, write


def test_up_and_down_walk_what_was_said(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        for words in ("one\ntwo", "/help", "three"):
            desk.composer.paste(words)
            await pilot.press("enter")
        await pilot.press(*"unsent")
        seen = []
        for key in ("up", "up", "up", "up", "up", "down", "down", "down", "down"):
            await pilot.press(key)
            seen.append(desk.composer.text)
        two = "one\ntwo"
        assert seen == ["three", "/help", two, two, two, two, "/help", "three", "unsent"]

    write(tmp_path, act)


def test_history_is_that_of_the_folder_and_lasts(tmp_path: Path) -> None:
    History(tmp_path, "/a").add(ComposerDraft("first"))
    History(tmp_path, "/b").add(ComposerDraft("elsewhere"))
    History(tmp_path, "/a").add(ComposerDraft("second"))
    assert [one.text for one in History(tmp_path, "/a").entries] == ["first", "second"]


def test_only_the_owner_reads_it(tmp_path: Path) -> None:
    History(tmp_path, "/a").add(ComposerDraft("x"))
    Drafts(tmp_path).keep("/a", "", ComposerDraft("y"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_history_is_bounded_also_on_disk(tmp_path: Path) -> None:
    history = History(tmp_path, "/a")
    for number in range(MOST + 5):
        history.add(ComposerDraft(f"words {number}"))
    assert len(history.entries) == MOST
    for number in range(MOST_FILE // 50_000 + 30):
        history.add(ComposerDraft(f"{number}" + "x" * 50_000))
    path = next(tmp_path.rglob("*.jsonl"))
    assert path.stat().st_size < MOST_FILE + 100_000
    assert History(tmp_path, "/a").entries[-1] == history.entries[-1]


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    History(tmp_path, "/a").add(ComposerDraft("good"))
    path = next(tmp_path.rglob("*.jsonl"))
    path.write_bytes(path.read_bytes() + b'\xff\xfe\n{"text": 5}\n{"text": "cut')
    History(tmp_path, "/a").add(ComposerDraft("later"))
    assert [one.text for one in History(tmp_path, "/a").entries] == ["good", "later"]


def test_where_nothing_can_be_kept_one_can_still_write(tmp_path: Path) -> None:
    (tmp_path / "terminal").write_text("in the way")
    history = History(tmp_path, "/a")
    history.add(ComposerDraft("words"))
    Drafts(tmp_path).keep("/a", "", ComposerDraft("unsent"))
    assert [one.text for one in history.search("wor")] == ["words"]
    assert Drafts(tmp_path).read("/a", "") == ComposerDraft("")


def test_ctrl_r_searches_and_escape_goes_back(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        for words in ("fix the door", "paint the door", "go home"):
            desk.composer.paste(words)
            await pilot.press("enter")

        def labels():
            return [one.label for one in desk.composer.assistant.offers]

        await pilot.press(*"the", "ctrl+r")
        assert labels() == ["paint the door", "fix the door"]
        await pilot.press("space", "f")
        assert labels() == ["fix the door"]
        await pilot.press("escape")
        assert desk.composer.text == "the"
        await pilot.press("ctrl+r", "ctrl+r", "enter")
        assert desk.composer.text == "fix the door"

    assert len(write(tmp_path, act).said) == 3


def test_unsent_words_are_there_again(tmp_path: Path) -> None:
    async def begin(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"half a sent")
        desk.composer.paste("long\n" * 40)

    async def again(desk: Desk, pilot: Pilot[None]) -> None:
        assert desk.composer.text == "half a sent[pasted text 1: 40 lines] "
        await pilot.press("enter")

    async def after(desk: Desk, pilot: Pilot[None]) -> None:
        assert desk.composer.text == ""

    write(tmp_path, begin)
    assert write(tmp_path, again).said == [("said", "half a sent" + "long\n" * 40, ())]
    write(tmp_path, after)


def test_unsent_words_stay_with_their_thread(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        composer, folder = desk.composer, str(tmp_path / "house")
        await pilot.press(*"begun")
        composer.move(folder, "t1")  # the first words of a folder make its thread
        assert composer.text == "begun"
        composer.move(folder, "t2", Mentions(("a.py",)))
        assert composer.text == ""
        await pilot.press(*"other")
        composer.move(folder, "t1")
        assert (composer.text, composer.mentions.files) == ("begun", ())
        composer.move(folder, "t2")
        assert composer.text == "other"
        composer.move(folder, "")
        assert composer.text == ""

    write(tmp_path, act)


def test_a_queued_message_taken_back_does_not_push_out_what_is_written(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"mine")
        desk.composer.set_text("queued before")
        assert desk.composer.text == "queued before"
        await pilot.press("up")
        assert desk.composer.text == "mine"

    write(tmp_path, act)


def test_ctrl_g_opens_the_persons_editor(tmp_path: Path) -> None:
    script = tmp_path / "my editor"
    script.write_text('#!/bin/sh\nprintf " and more\\n" >> "$2"\n')
    script.chmod(0o755)

    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"words", "ctrl+g")
        await desk.workers.wait_for_complete()
        assert desk.composer.text == "words and more"

    write(tmp_path, act, environ={"EDITOR": f"'{script}' --wait"})


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"EDITOR": "no-such-editor"}, "The editor no-such-editor of EDITOR is not installed."),
        ({"VISUAL": "'"}, "The variable VISUAL is not a command."),
        ({"EDITOR": "false"}, "false ended with 1."),
    ],
)
def test_an_editor_that_fails_changes_nothing(
    tmp_path: Path, environ: dict[str, str], told: str
) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"words", "ctrl+g")
        await desk.workers.wait_for_complete()
        assert desk.composer.text == "words"

    assert write(tmp_path, act, environ=environ).told[0].startswith(told)


def test_without_any_editor_it_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="No editor"):
        editor({"PATH": str(tmp_path)})


def test_the_editors_file_is_gone_afterwards(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "EDITOR": f"sh -c 'echo $0 > {tmp_path}/place'"}
    assert edit("text\n", environ) == "text"
    assert not Path((tmp_path / "place").read_text().strip()).parent.exists()


def test_the_folder_has_no_say_in_which_editor_runs_and_where(tmp_path: Path, monkeypatch) -> None:
    """A PATH with `.` in it, and a folder that brings an editor of its own."""
    sly = tmp_path / "nano"
    sly.write_text(f"#!/bin/sh\ntouch {tmp_path}/mark\n")
    sly.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    environ = {"PATH": f".:{os.environ['PATH']}", "EDITOR": f"sh -c 'pwd > {tmp_path}/where'"}

    edit("text", environ)
    assert Path((tmp_path / "where").read_text().strip()) != tmp_path
    with pytest.raises(UsageProblem, match="The editor nano of EDITOR is not installed"):
        edit("text", {"PATH": ".:bin", "EDITOR": "nano"})
    assert not (tmp_path / "mark").exists()


def test_a_history_entry_with_a_long_paste_keeps_it_in_a_file(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        desk.composer.paste("x" * 9_000)
        await pilot.press("enter", "up")
        assert desk.composer.text == "[pasted text 1: 1 line]"
        await pilot.press("enter")

    desk = write(tmp_path, act)
    assert [len(one[1]) for one in desk.said] == [9_000, 9_000]
    entry = History(tmp_path / "home", str(tmp_path / "house")).entries[0]
    assert isinstance(entry.pieces[0], Piece)
    assert entry.pieces[0].text == ""
