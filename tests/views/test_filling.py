"""The parts of a window never say more than is known, and a digest stands for what it replaced."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.records.message import Assistant, Compaction, ToolResult, UsageReport, User
from steersman.views.facts import Facts, share
from steersman.views.filling import DIGEST, FREE, REST, WIDTH, Share, bars, context, percent, shares
from steersman.views.story import Story
from steersman.views.text import tokens
from tests.views.story.threads import Thread


def told(*bodies):
    """A log of these bodies."""
    thread = Thread()
    for body in bodies:
        thread.write(body)
    return thread.messages


BODIES = (User("words " * 50), Assistant("answer " * 50), ToolResult("t", "ok", output="o" * 900))


@given(st.integers(0, 5000), st.integers(0, 5000))
def test_the_parts_are_what_was_used(used, window):
    parts = shares(told(*BODIES), used, window)
    assert sum(part.tokens for part in parts if part.name != FREE) == used
    assert all(part.tokens >= 0 for part in parts)
    if parts and used:
        assert bars(parts, used, window)


def test_what_a_digest_replaced_is_not_counted():
    compaction = Compaction(until=3, digest="d" * 400)
    parts = {part.name: part.tokens for part in shares(told(*BODIES, compaction), 1000, 2000)}
    assert parts == {REST: 900, DIGEST: 100, FREE: 1000}


USE = UsageReport("m", input=3500, output=100)
ASIDE = UsageReport("m", input=9000, aside=True)


@pytest.mark.parametrize(
    ("bodies", "used"),
    [
        ((), 0),
        ((USE,), 3600),
        ((USE, ASIDE), 3600),
        ((USE, Compaction(until=1, digest="d", tokens_after=400)), 400),
        ((USE, Compaction(until=1, digest="d", tokens_after=400, undone=True)), 3600),
    ],
)
def test_the_status_and_the_command_say_the_same(bodies, used):
    messages, story = told(*bodies), Story()
    for message in messages:
        story.feed(message)
    assert context(messages) == story.usage.context == used


def test_a_number_is_written_alike_everywhere():
    assert percent(3600, 100_000) == "4%"
    assert share(Facts(used=3600, window=100_000)) == "4% of 100k"
    assert "3.6k of 100k tokens, 4%" in bars([Share(REST, 3600)], 3600, 100_000)
    assert [tokens(number) for number in (0, 1, 2, 1500)] == [
        "0 tokens", "1 token", "2 tokens", "1.5k tokens",
    ]  # fmt: skip


def test_a_bar_is_as_long_as_its_number():
    numbers = {"a": 41, "b": 3700, "c": 10_000, "d": 0, FREE: 186_259}
    parts = [Share(name, number) for name, number in numbers.items()]
    drawn = bars(parts, 13_741, 200_000).splitlines()[2:]
    assert [one[6 : 6 + WIDTH].rstrip() for one in drawn] == ["▏", "▌", "█▌", "", "░" * 27]
    assert {len(one) for one in drawn} == {6 + WIDTH + 7}
