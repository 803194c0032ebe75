"""Every kind of block in every state, narrow and wide, folded and open, held to kept pictures."""

import pytest

from steersman.ports.tui.drawing import DARK, MONO, Look, draw, foldable
from steersman.views.blocks import Block
from steersman.views.text import result_words
from tests.tui.drawing.samples import STATES, TALK, TOOLS, work
from tests.tui.snapshots import check, lines_text

WIDTHS = (20, 80, 200)


def pictures(block: Block, title: str) -> str:
    told = []
    for width in WIDTHS:
        told += [f"── {title}, {width} cells", lines_text(draw(block, width, Look(DARK)), width)]
    if foldable(block):
        told += [f"── {title}, open", lines_text(draw(block, 80, Look(DARK, open=True)), 80)]
    return "\n".join(told)


@pytest.mark.parametrize("name", TOOLS)
def test_calls(name: str) -> None:
    check("\n".join(pictures(work(name, state), state) for state in STATES), f"call-{name}.txt")


def test_talk_and_remarks() -> None:
    check("\n".join(pictures(block, name) for name, block in TALK.items()), "talk.txt")


EVERY = [*TALK.values(), *(work(name, state) for name in TOOLS for state in STATES)]


@pytest.mark.parametrize("width", [1, 2, 5, 20, 40])
def test_nothing_is_wider_than_it_may_be(width: int) -> None:
    for block in EVERY:
        for opened in (False, True):
            lines = draw(block, width, Look(MONO, opened))
            assert [line.plain for line in lines if line.cell_len > width] == []


def test_of_a_failed_call_the_fact_is_seen_and_the_advice_for_the_model_is_folded() -> None:
    failed = work("read", "error")

    def seen(*, open: bool) -> str:
        return "\n".join(line.plain for line in draw(failed, 80, Look(MONO, open)))

    assert "That cannot be done." in seen(open=False)
    assert "… 2 more lines" in seen(open=False)
    assert "workspace_list_files" not in seen(open=False)
    assert "workspace_list_files" in seen(open=True)
    assert result_words(failed.result) == "error: That cannot be done."


def test_states_can_be_told_apart_without_colours() -> None:
    heads = {state: draw(work("write", state), 80, Look(MONO))[0].plain[0] for state in STATES}
    assert len(set(heads.values())) == len(STATES)
