"""The parts of a window never say more than is known, and a digest stands for what it replaced."""

from hypothesis import given
from hypothesis import strategies as st

from steersman.records.message import Assistant, Compaction, ToolResult, User
from steersman.views.filling import DIGEST, FREE, REST, bars, shares
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
