"""What words become: said, queued, a command, or for the shell."""

from base64 import b64decode
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from tests.tui.composer.desk import Desk, write

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["h", "i", "enter"], [("said", "hi", ())]),
        (["a", "shift+enter", "b", "enter"], [("said", "a\nb", ())]),
        (["a", "ctrl+j", "b", "enter"], [("said", "a\nb", ())]),
        (["a", "backslash", "enter", "b", "enter"], [("said", "a\nb", ())]),
        (["a", "x", "backspace", "enter"], [("said", "a", ())]),
        (["enter", "space", "enter"], []),
        ([*"!ls -l", "enter"], [("shell", "ls -l")]),
        ([*"!", "enter"], [("said", "!", ())]),
        ([*"/model a", "escape", "enter"], [("command", "/model a")]),
        ([*"/usr/bin is a path", "enter"], [("said", "/usr/bin is a path", ())]),
        ([*"#1 is a number", "enter"], [("said", "#1 is a number", ())]),
    ],
)
def test_enter_says_it(tmp_path: Path, keys: list[str], said: list[object]) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*keys)

    desk = write(tmp_path, act)
    assert desk.said == said


def test_while_a_turn_runs_enter_queues_and_tab_only_completes(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        desk.composer.doing = "working"
        await pilot.press(*"later", "enter")
        assert desk.composer.text == ""
        await pilot.press("enter", *"words", "tab")
        assert desk.composer.text == "words"
        assert desk.composer.has_focus

    desk = write(tmp_path, act)
    assert desk.said == [("queued", "later", ())]


def test_what_is_refused_stays(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"words")
        desk.composer.refuse("Somebody else works here.")
        await pilot.press("x", "enter")
        assert desk.composer.text == "words"
        desk.composer.refuse("")
        await pilot.press("enter")

    desk = write(tmp_path, act)
    assert desk.said == [("said", "words", ())]
    assert desk.told == ["Somebody else works here."]


def test_escape_is_left_to_the_application(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        escaped: list[str] = []
        desk._bindings.bind("escape", "app.stop")
        desk.action_stop = lambda: escaped.append("stop")
        await pilot.press(*"/h", "escape")
        assert not escaped  # it closed what was offered
        await pilot.press("escape")
        assert escaped == ["stop"]
        assert desk.composer.text == "/h"

    write(tmp_path, act)


def test_mentioned_files_stay_in_context(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        (tmp_path / "house" / "a.py").touch()
        (tmp_path / "house" / "my notes.md").touch()
        desk.composer.paste('look at @a.py, @gone.py and @"my notes.md"')
        await pilot.press("enter")
        desk.composer.paste("go on")
        await pilot.press("enter")
        desk.composer.mentions = desk.composer.mentions.remove("a.py")
        desk.composer.paste("more")
        await pilot.press("enter")

    desk = write(tmp_path, act)
    assert desk.said == [
        ("said", 'look at @a.py, @gone.py and @"my notes.md"', ("a.py", "my notes.md")),
        ("said", 'go on\n\nFiles in context: @a.py @"my notes.md"', ()),
        ("said", 'more\n\nFiles in context: @"my notes.md"', ()),
    ]


def test_pictures_go_along(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        for place in (tmp_path / "house" / "shot.png", tmp_path / "my shot.png"):
            place.write_bytes(PNG)
        desk.composer.paste("what is @shot.png and ")
        desk.composer.paste(f"'{tmp_path}/my shot.png'")  # as terminals paste what is dropped
        assert desk.composer.text == "what is @shot.png and [image 1: my shot.png] "
        await pilot.press("enter")
        assert [b64decode(image.data) for image in desk.images] == [PNG, PNG]

    assert write(tmp_path, act).said == [
        ("said", "what is @shot.png and [image 1: my shot.png]", ())
    ]


def test_pictures_are_not_lost_in_a_running_turn(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        (tmp_path / "house" / "shot.png").write_bytes(PNG)
        desk.composer.doing = "working"
        desk.composer.paste("look @shot.png")
        await pilot.press("enter", "tab")
        assert desk.composer.text == "look @shot.png"

    desk = write(tmp_path, act)
    assert desk.said == []
    assert desk.told[0].startswith("Images can only start a turn")


def test_a_picture_that_is_none_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        (tmp_path / "house" / "shot.png").write_text("no picture")
        desk.composer.paste("look @shot.png")
        await pilot.press("enter")
        assert desk.composer.text == "look @shot.png"

    assert "is not an image" in write(tmp_path, act).told[0]


def test_a_dropped_file_of_the_folder_becomes_a_mention(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        path = tmp_path / "house" / "a b.py"
        path.touch()
        desk.composer.paste(path.as_uri())
        assert desk.composer.text == '@"a b.py" '

    write(tmp_path, act)


def test_keys_that_come_quickly_do_not_overtake_one_another(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        from textual import events

        for key in (*"abX", "backspace", "enter", *"next", "left", "Y"):
            desk.composer.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause()
        assert desk.composer.text == "nexYt"

    assert write(tmp_path, act).said == [("said", "ab", ())]


def test_an_image_in_the_clipboard_is_pasted_as_a_chip(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (tmp_path / "shot.png").write_bytes(PNG)
    xclip = programs / "xclip"
    xclip.write_text(f'#!/bin/sh\ncase "$*" in *image/png*) cat {tmp_path}/shot.png;; esac\n')
    xclip.chmod(0o755)

    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"see ", "ctrl+v")
        await desk.workers.wait_for_complete()
        label = desk.composer.text.removeprefix("see ").rstrip()
        assert label.startswith("[image 1: clipboard-")
        desk.composer.post_message(events.Paste(""))  # as terminals do for an image
        await pilot.pause()
        await desk.workers.wait_for_complete()
        assert "[image 2: clipboard-" in desk.composer.text
        await pilot.press("enter")
        await pilot.pause()
        assert [b64decode(image.data) for image in desk.images] == [PNG]  # the same one
        (tmp_path / "shot.png").write_bytes(b"")  # there is text in the clipboard, or nothing
        desk.copy_to_clipboard("words")
        await pilot.press("ctrl+v")
        await desk.workers.wait_for_complete()
        assert desk.composer.text == "words"

    write(tmp_path, act, environ={"PATH": f"{programs}:/usr/bin:/bin", "DISPLAY": ":0"})


def test_without_a_program_for_images_what_was_copied_here_is_pasted(tmp_path: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+v")
        desk.copy_to_clipboard("words")
        await pilot.press("ctrl+v")
        assert desk.composer.text == "words"

    told = write(tmp_path, act, environ={"PATH": str(tmp_path), "DISPLAY": ":0"}).told
    assert "images need wl-paste, xclip or pngpaste" in told[0]
