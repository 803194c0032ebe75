"""What is seen of a long list: heights in a tree, and a window that stays where it should."""

from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.ports.tui.drawing import MONO, Look, draw, gap
from steersman.ports.tui.drawing.heights import Heights
from steersman.ports.tui.drawing.window import Window
from steersman.records.message import AssistantDelta
from steersman.views.story import Story
from tests.tui.transcript.stage import long_story
from tests.views.story.threads import Thread, everything


@settings(deadline=None)
@given(st.lists(st.integers(0, 9), max_size=40), st.data())
def test_heights(heights: list[int], data: st.DataObject) -> None:
    tree = Heights()
    for height in heights:
        tree.append(height)
    if heights:
        at = data.draw(st.integers(0, len(heights) - 1))
        heights[at] = 7
        tree.set(at, 7)
        keep = data.draw(st.integers(0, len(heights)))
        del heights[keep:]
        tree.truncate(keep)
        heights.append(2)
        tree.append(2)
    assert [tree.before(at) for at in range(len(heights) + 1)] == [
        sum(heights[:at]) for at in range(len(heights) + 1)
    ]
    owners = [(at, line) for at, height in enumerate(heights) for line in range(height)]
    assert [tree.at(line) for line in range(tree.total)] == owners
    assert tree.at(tree.total)[0] == len(heights)


def window_on(story: Story, width: int = 60, rows: int = 10) -> Window:
    window = Window(MONO)
    window.resize(width, rows, MONO)
    window.show(story)
    return window


def seen(window: Window) -> list[str]:
    """The lines in the window."""
    found = (window.line(window.top + row) for row in range(window.rows))
    return [one[1].lines[one[2]].plain if one else "" for one in found]


def whole(story: Story, width: int) -> list[str]:
    """All lines, drawn without a window."""
    lines: list[str] = []
    before = None
    for block in story.blocks:
        if block.lane in story.agents:
            before = block
            continue
        drawn = [line.plain for line in draw(block, width, Look(MONO))]
        lines += [""] * gap(before, block) * bool(drawn) + drawn
        before = block
    return lines


def test_at_the_end_one_sees_the_end() -> None:
    story = Story()
    for message in everything():
        story.feed(message)
    assert seen(window_on(story)) == whole(story, 60)[-10:]


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("move"), st.integers(-30, 30)),
        st.tuples(st.just("jump"), st.integers(0, 400)),
        st.tuples(st.just("step"), st.sampled_from([-1, 1])),
        st.tuples(st.just("person"), st.sampled_from([-1, 1])),
        st.tuples(st.just("fold"), st.integers(0, 30)),
        st.tuples(st.just("resize"), st.integers(5, 90)),
        st.tuples(st.just("say"), st.integers(1, 40)),
        st.tuples(st.just("end"), st.just(0)),
    ),
    max_size=20,
)


@settings(max_examples=40, deadline=None)
@given(MOVES)
def test_whatever_is_done_the_window_stays_on_the_story(moves: list[tuple[str, int]]) -> None:
    story, thread = long_story(8)
    window = window_on(story)
    for what, by in moves:
        act(window, thread, what, by)
        assert 0 <= window.top <= window.lowest
        assert not window.following or window.top == window.lowest
        for row in range(window.rows):
            place = window.place_at(window.top + row)
            assert place is not None or window.top + row >= window.total
        lines = seen(window)
        if window.total >= window.rows:
            assert lines[0] or lines[1] or lines[2]  # no more than a gap, and never nothing


def act(window: Window, thread: Thread, what: str, by: int) -> None:
    match what:
        case "move":
            window.move(window.top + by)
        case "jump":
            window.move(min(by, window.lowest))
        case "step":
            window.step(by)
        case "person":
            window.to_person(by)
        case "fold":
            window.fold(min(by, len(window.story.blocks) - 1))
        case "resize":
            window.resize(by, max(by // 4, 3), MONO)
        case "say":
            thread.write(AssistantDelta("word \n\n" * by))
            window.arrange([block.key for block in window.story.feed(thread.messages[-1])])
        case "end":
            window.follow()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 200), st.lists(st.integers(1, 30), max_size=6))
def test_what_is_looked_at_does_not_move_when_more_is_said(top: int, said: list[int]) -> None:
    story, thread = long_story(12)
    window = window_on(story)
    window.move(min(top, window.lowest - 1))
    before = seen(window)
    for count in said:
        act(window, thread, "say", count)
        assert seen(window) == before


def test_only_what_changed_is_painted() -> None:
    story, thread = long_story(3)
    window = window_on(story, rows=30)
    act(window, thread, "say", 3)
    total = window.total
    thread.write(AssistantDelta("more"))
    changed = [block.key for block in story.feed(thread.messages[-1])]
    assert window.arrange(changed) == total  # one more line, after a blank one
    thread.write(AssistantDelta(" of it"))
    assert window.arrange([block.key for block in story.feed(thread.messages[-1])]) == total + 1
    assert window.arrange([]) is None
