"""Files, skills and commands are offered while one writes; how it looks."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from steersman.ports.tui.completion.popup import Popup
from steersman.views.attachments import Mentions
from tests.tui.composer.desk import Desk, offered, write
from tests.tui.snapshots import check, screen_text


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with a few files."""
    folder = tmp_path / "house"
    for name in ("src/door.py", "src/window.py", "docs/my plan.md", "README.md", ".env"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    return tmp_path


def test_a_file_is_found_by_a_few_letters(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"see @dor")
        assert await offered(desk, pilot) == ["src/door.py"]
        await pilot.press("tab", *"now", "enter")

    assert write(house, act).said == [("said", "see @src/door.py now", ("src/door.py",))]


def test_folders_are_walked_step_by_step(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press("@")
        assert await offered(desk, pilot) == ["src/", "docs/", "README.md", "src/door.py",
                                              "src/window.py", "docs/my plan.md"]  # fmt: skip
        await pilot.press("enter")
        assert desk.composer.text == "@src/"
        assert await offered(desk, pilot) == ["src/door.py", "src/window.py"]
        await pilot.press("down", "enter")
        assert desk.composer.text == "@src/window.py "
        assert await offered(desk, pilot) == []

    write(house, act)


def test_ignored_folders_are_offered_once_they_are_typed(house: Path) -> None:
    for name in (".venv/lib/door.py", "node_modules/door/index.js"):
        (house / "house" / name).parent.mkdir(parents=True, exist_ok=True)
        (house / "house" / name).write_text("x")

    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"@door")
        assert await offered(desk, pilot) == ["src/door.py"]
        await pilot.press("escape", "ctrl+u", *"@node_modules/")
        assert await offered(desk, pilot) == ["node_modules/door/"]
        await pilot.press("enter")
        assert await offered(desk, pilot) == ["node_modules/door/index.js"]

    write(house, act)


def test_a_symbol_is_found_by_its_name(house: Path) -> None:
    (house / "house/src/door.py").write_text("class Door:\n    def unlock(self):\n        pass\n")
    (house / "house/docs/my lock.py").write_text("def lock():\n    pass\n")

    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"see @#lock")
        assert await offered(desk, pilot) == ["docs/my lock.py#lock", "src/door.py#unlock"]
        await pilot.press("enter")
        assert desk.composer.text == 'see @"docs/my lock.py#lock" '
        await pilot.press(*"@#Doo", "tab", "enter")

    (said,) = write(house, act, environ={"STEERSMAN_HOME": str(house / "data")}).said
    assert said[1:] == (
        'see @"docs/my lock.py#lock" @src/door.py#Door',
        ("docs/my lock.py#lock", "src/door.py#Door"),
    )


def test_names_with_spaces_are_quoted(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"@plan")
        await offered(desk, pilot)
        await pilot.press("tab", "enter")

    assert write(house, act).said == [("said", '@"docs/my plan.md"', ("docs/my plan.md",))]


def test_enter_sends_what_is_written_out(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"@README.md")
        await offered(desk, pilot)
        await pilot.press("enter")

    assert write(house, act).said == [("said", "@README.md", ("README.md",))]


def test_secret_files_are_not_offered(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"@.env")
        assert await offered(desk, pilot) == []

    write(house, act)


def test_what_was_dismissed_comes_back_with_tab(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"$re", "escape", "v")
        assert await offered(desk, pilot) == []
        await pilot.press("tab")
        assert await offered(desk, pilot) == ["$review"]
        await pilot.press("tab")
        assert desk.composer.text == "$review "

    write(house, act)


@pytest.mark.parametrize(
    ("keys", "text", "said"),
    [
        (["/", "h", "enter"], "", [("command", "/help")]),
        (["/", "m", "enter"], "/model ", []),  # it wants a name
        (["/", "m", "enter", "tab", "enter"], "", [("command", "/model alpha")]),
        (["/", "down", "down", "down", "up", "up", "enter"], "/model ", []),
        (["/", "x", "q", "enter"], "", [("command", "/xq")]),
    ],
)
def test_commands(house: Path, keys: list[str], text: str, said: list[object]) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*keys)
        assert desk.composer.text == text

    assert write(house, act).said == said


def test_moving_the_cursor_offers_nothing(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        desk.composer.set_text("see $rev and more")
        await pilot.press(*["left"] * 9)
        assert await offered(desk, pilot) == []
        await pilot.press("backspace")
        assert await offered(desk, pilot) == ["$review", "$release"]
        await pilot.press("left", "left", "left", "left")
        assert await offered(desk, pilot) == []

    write(house, act)


def test_an_offer_can_be_clicked(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press("/")
        await pilot.pause()
        assert await pilot.click(Popup, offset=(3, 1))
        assert desk.composer.text == "/model "
        assert desk.composer.has_focus

    write(house, act)


@pytest.mark.parametrize("size", [(80, 24), (20, 5)], ids=["80x24", "20x5"])
def test_how_it_looks(house: Path, size: tuple[int, int]) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        name = f"{size[0]}x{size[1]}"
        check(screen_text(desk, marks=True), f"empty-{name}.txt")
        await pilot.press(*"look at @w")
        await offered(desk, pilot)
        check(screen_text(desk, marks=True), f"files-{name}.txt")
        if size[0] == 80:
            check(desk.export_screenshot(), "files.svg")
        await pilot.press("tab", "enter", "/")
        await pilot.pause()
        check(screen_text(desk, marks=True), f"commands-{name}.txt")
        await pilot.press("escape", "backspace", *"!make test")
        await pilot.pause()
        assert desk.composer.has_class("-shell")
        check(screen_text(desk, marks=True), f"shell-{name}.txt")
        desk.composer.set_text("see ")
        desk.composer.paste("x\n" * 350)
        desk.composer.paste("\n".join("abcdefghijkl"))
        desk.composer.mentions = Mentions(tuple(f"src/file{n}.py" for n in range(5)))
        desk.composer.doing = "working"
        await pilot.pause()
        check(screen_text(desk, marks=True), f"long-{name}.txt")

    write(house, act, size)


def test_it_grows_up_to_a_third_of_the_screen_and_shrinks_again(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        assert desk.composer.outer_size.height == 3
        desk.composer.paste("\n".join("abc"))
        await pilot.pause()
        assert desk.composer.outer_size.height == 5
        desk.composer.paste("\n" * 15)
        await pilot.pause()
        assert 7 <= desk.composer.outer_size.height <= 8
        await pilot.press("ctrl+a", "f7")
        desk.composer.put_away()
        await pilot.pause()
        assert desk.composer.outer_size.height == 3

    write(house, act)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (200, 50)])
def test_any_size_will_do(house: Path, size: tuple[int, int]) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        await pilot.press(*"see @w")
        assert "src/window.py" in await offered(desk, pilot)
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        await pilot.press("tab", "enter")

    assert write(house, act, size).said == [("said", "see @src/window.py", ("src/window.py",))]


@pytest.mark.parametrize(
    ("doing", "words"),
    [("nothing", "Say what to do"), ("working", "Write the next message")],
)
def test_the_empty_composer_says_what_to_write(house: Path, doing: str, words: str) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        desk.composer.doing = doing
        await pilot.pause()
        assert words in screen_text(desk)

    write(house, act)


def test_a_refusal_is_shown_as_plain_words(house: Path) -> None:
    async def act(desk: Desk, pilot: Pilot[None]) -> None:
        desk.composer.refuse("[red]no\x1b[2J markup")
        await pilot.pause()
        assert "[red]no\\x1b[2J markup" in screen_text(desk)

    write(house, act)
