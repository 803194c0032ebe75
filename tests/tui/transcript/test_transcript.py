"""The conversation on a screen: it follows, stays put, folds, and paints only what is seen."""

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from steersman.ports.tui.drawing.window import KEPT
from steersman.ports.tui.transcript import Transcript
from steersman.records.message import AssistantDelta
from steersman.views.blocks import Block, Work
from steersman.views.story import Story
from tests.tui.snapshots import check, screen_text
from tests.tui.transcript.stage import Stage, long_story, on_stage
from tests.views.story.threads import Thread, everything


def eventful() -> Story:
    """A thread in which everything happens that is shown."""
    story = Story()
    for message in everything():
        story.feed(message)
    return story


@pytest.mark.parametrize("size", [(80, 24), (200, 50), (20, 5), (40, 100)])
def test_everything_at_any_size(size: tuple[int, int]) -> None:
    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        check(screen_text(app), f"everything-{size[0]}x{size[1]}.txt")

    on_stage(eventful(), act, size)


@pytest.mark.parametrize("look", ["dark", "light-safe", "ansi-dark"])
def test_a_picture_of_it(look: str) -> None:
    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        check(app.export_screenshot(title="everything"), f"everything-{look}.svg")

    on_stage(eventful(), act, (80, 40), look)


def test_the_end_is_followed_until_the_person_scrolls_up() -> None:
    story, thread = long_story(20)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        assert transcript.following
        assert "done · 3 steps" in screen_text(app)
        await more(transcript, pilot, thread, "new words")
        assert "new words" in screen_text(app)
        await pilot.press("k", "k", "k")
        assert not transcript.following
        before = without_bar(app)
        await more(transcript, pilot, thread, "unseen words\n\n" * 10)
        assert without_bar(app)[:-1] == before[:-1]
        assert "↓ new below" in without_bar(app)[-1]
        await pilot.press("end")
        assert "new below" not in screen_text(app)
        assert transcript.following
        assert "unseen words" in screen_text(app)

    on_stage(story, act)


def without_bar(app: Stage) -> list[str]:
    """The lines of the screen without the scroll bar."""
    lines = [line[:79].rstrip() for line in screen_text(app).splitlines()]
    return lines + [""] * (app.size.height - len(lines))


async def more(transcript: Transcript, pilot: Pilot[None], thread: Thread, text: str) -> None:
    """Something more is said."""
    at = len(thread.messages)
    thread.says(text)
    for message in thread.messages[at:]:
        transcript.refresh_blocks(transcript.story.feed(message))
    transcript.draw_now()
    await pilot.pause()


def test_keys_scroll_and_go_from_message_to_message() -> None:
    story, _ = long_story(30)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        async def first_line(*keys: str) -> str:
            await pilot.press(*keys)
            return without_bar(app)[0].strip()

        assert await first_line("home") == "│› prompt 0"
        assert await first_line("n") == "▌› prompt 1"
        assert await first_line("n", "n") == "▌› prompt 3"
        assert await first_line("N") == "▌› prompt 2"
        top = transcript.window.top
        await pilot.press("j", "j", "k")
        assert transcript.window.top == top + 1
        await pilot.press("pagedown")
        assert transcript.window.top == top + 1 + 22
        await pilot.press("pageup")
        assert transcript.window.top == top + 1
        assert await first_line("home", "N") == "│› prompt 0"
        await pilot.press("end", "n")
        assert transcript.following

    on_stage(story, act)


def test_scrolling_up_through_what_was_never_drawn_shows_every_line_once() -> None:
    story, _ = long_story(40)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        seen: list[str] = screen_text(app).splitlines()
        while transcript.window.top > 0:
            before = transcript.window.top
            total = transcript.window.total
            transcript.action_line_up()
            grown = transcript.window.total - total
            assert transcript.window.top == before - 1 + grown
            await_line = transcript.render_line(0).text.rstrip()
            seen.insert(0, await_line)
        prompts = [line.strip(" │") for line in seen if "› prompt" in line]
        assert prompts == [f"› prompt {number}" for number in range(40)]

    on_stage(story, act)


def test_enter_opens_a_block_and_folds_it_again() -> None:
    story, _ = long_story(1)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        folded = screen_text(app)
        assert "… 12 earlier lines (F7 Enter)" in folded
        await pilot.press("up", "up", "enter")
        assert transcript.window.chosen == key_of(story, Work)
        assert "earlier lines" not in screen_text(app)
        assert screen_text(app).count("line of 0") == 14
        await pilot.press("enter")
        assert "… 12 earlier lines (F7 Enter)" in screen_text(app)

    on_stage(story, act)


def key_of(story: Story, kind: type[Block]) -> str:
    return next(block.key for block in story.blocks if isinstance(block, kind))


def test_a_click_chooses_and_another_opens() -> None:
    story, _ = long_story(1)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        lines = screen_text(app).splitlines()
        row = next(at for at, line in enumerate(lines) if "$ run 0" in line)
        await pilot.click(Transcript, offset=(10, row))
        assert "earlier lines" in screen_text(app)
        await pilot.click(Transcript, offset=(10, row))
        assert "earlier lines" not in screen_text(app)

    on_stage(story, act)


def test_the_lane_of_an_agent_is_seen_when_it_is_opened() -> None:
    story = eventful()

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        assert "│ ● list" not in screen_text(app)
        agent = next(iter(story.agents.values()))
        transcript.window.choose(transcript.window.place_of(agent.key) or 0)
        await pilot.press("enter")
        assert "│ ● list" in screen_text(app)
        await pilot.press("enter")
        assert "│ ● list" not in screen_text(app)

    on_stage(story, act, (80, 60))


def test_words_are_found() -> None:
    story, _ = long_story(30)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        assert transcript.find("LINE OF 7")
        await pilot.pause()
        assert "▌    line of 7" in screen_text(app)  # opened, as most of them were folded
        assert transcript.find("prompt 3", back=True)
        assert not transcript.find("no such words")

    on_stage(story, act)


def test_resizing_keeps_what_is_looked_at() -> None:
    story, _ = long_story(30)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        transcript.find("prompt 12")
        await pilot.press("n")
        for size in ((40, 30), (20, 5), (200, 50), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "prompt 13" in screen_text(app)

    on_stage(story, act)


def test_many_deltas_are_drawn_in_few_frames() -> None:
    thread = Thread()
    thread.begin("go")
    story = Story()
    for message in thread.messages:
        story.feed(message)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        before = transcript.frames
        for number in range(2_000):
            thread.write(AssistantDelta(f"w{number} "))
            transcript.refresh_blocks(story.feed(thread.messages[-1]))
        assert transcript.frames == before
        transcript.draw_now()
        await pilot.pause()
        assert transcript.frames == before + 1
        assert "w1999" in screen_text(app)

    on_stage(story, act)


def test_words_that_broke_off_disappear() -> None:
    thread = Thread()
    thread.begin("go")
    thread.write(AssistantDelta("half an answ"))
    story = Story()
    for message in thread.messages:
        story.feed(message)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        assert "half an answ" in screen_text(app)
        thread.end("failed", "The connection broke.")
        transcript.refresh_blocks(story.feed(thread.messages[-1]))
        transcript.draw_now()
        await pilot.pause()
        assert "half an answ" not in screen_text(app)

    on_stage(story, act)


def test_another_theme_and_another_story() -> None:
    story, _ = long_story(3)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        before = screen_text(app)
        app.theme = "light"
        await pilot.pause()
        assert screen_text(app) == before
        other, _ = long_story(1)
        transcript.show(other)
        await pilot.pause()
        assert "prompt 0" in screen_text(app)

    on_stage(story, act)


def test_text_is_selected_and_copied_without_the_edge() -> None:
    story, _ = long_story(1)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        row = (
            next(n for n in range(40) if "prompt 0" in transcript.render_line(n).text)
            + transcript.window.top
        )
        chosen = Selection(Offset(3, row), Offset(9, row))
        assert transcript.get_selection(chosen) == ("prompt", "\n")
        app.screen.selections = {transcript: chosen}
        await pilot.pause()
        assert "prompt 0" in screen_text(app)

    on_stage(story, act, (80, 50))


def test_what_is_kept_of_a_long_thread_is_bounded() -> None:
    story, _ = long_story(400)

    async def act(app: Stage, transcript: Transcript, pilot: Pilot[None]) -> None:
        for block in story.blocks:
            transcript.window.drawn(block)
        kept = sum(len(one.lines) for one in transcript.window._drawn.values())
        assert kept <= KEPT
        assert kept == transcript.window._kept

    on_stage(story, act)
