"""What is asked beside what one looks at changes no answer that is seen, marked or half given."""

import asyncio

import pytest

from steersman.records.message import ConfirmResponse
from steersman.views.blocks import Request
from tests.tui.approvals.kit import Stand, edit_request, network_request
from tests.tui.approvals.test_answers import both, queue
from tests.tui.snapshots import screen_text


def joined(*keys: str, then: str, third: bool = False) -> list[object]:
    """Press keys where one thing is asked; another is asked with it; press the last one."""

    async def story() -> list[object]:
        blocks, works = queue(both())
        more = network_request(corr="ask_3")
        assert isinstance(more, Request)
        app = Stand()
        async with app.run_test(size=(80, 30)) as pilot:
            first = blocks if third else blocks[:1]
            app.approvals.show(first, works, grab=True)
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            app.approvals.show([*first, more] if third else blocks, works)
            await pilot.pause()
            await pilot.press(then)
            await pilot.pause()
        return [said for _, said in app.answers]

    return asyncio.run(story())


@pytest.mark.parametrize("row", ["6", "n"])
def test_a_no_of_the_whole_diff_is_no_yes_to_all(row: str) -> None:
    """There the list stays as it was when it was opened."""
    assert ConfirmResponse("allow") not in joined("D", then=row)


def test_what_is_marked_stays_that_answer() -> None:
    assert joined(*["down"] * 5, then="enter") == [ConfirmResponse("deny")]


def test_a_yes_to_all_is_not_for_one_that_joined() -> None:
    assert joined("Y", then="enter", third=True) == [ConfirmResponse("allow")]  # to the first


SIZES = [(80, 30), (60, 18), (40, 14)]


def swapped(*keys: str, then: str, size: tuple[int, int]) -> list[tuple[str, object]]:
    """Press keys where two things are asked; another comes for the second; press the last one."""

    async def story() -> list[tuple[str, object]]:
        blocks, works = queue(both())
        other = network_request(corr="ask_3")
        app = Stand()
        async with app.run_test(size=size) as pilot:
            app.approvals.show(blocks, works, grab=True)
            await pilot.pause()
            for key in keys:
                await pilot.press(key)
                await pilot.pause()
            app.approvals.show([blocks[0], other], works)
            await pilot.pause()
            await pilot.press(then)
            await pilot.pause()
        return list(app.answers)

    return asyncio.run(story())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("keys", "then"),
    [
        (["D"], "6"),
        (["D"], "8"),
        (["Y"], "enter"),
        (["down"] * 5, "enter"),
        (["down"] * 7, "enter"),
    ],
    ids=["its number in the diff", "the no in the diff", "confirmed", "marked", "the no marked"],
)
def test_an_answer_to_all_is_not_for_one_that_came_in_the_place_of_another(
    keys: list[str], then: str, size: tuple[int, int]
) -> None:
    """As many are asked as before, so the words of the answer are the same."""
    assert "ask_3" not in [corr for corr, _ in swapped(*keys, then=then, size=size)]


@pytest.mark.parametrize("size", [(80, 20), (80, 16), (60, 14)])
def test_a_digit_gives_no_lasting_answer_that_is_not_on_the_screen(size: tuple[int, int]) -> None:
    async def story() -> list[object]:
        request, work = edit_request()
        app = Stand()
        async with app.run_test(size=size) as pilot:
            app.approvals.show([request], [work], grab=True)
            await pilot.pause()
            seen = screen_text(app)
            for digit in "2345":
                if f"{digit}. Yes, and" not in seen:
                    await pilot.press(digit)
                    await pilot.pause()
                    break
        return [said for _, said in app.answers]

    assert asyncio.run(story()) == []


def test_a_tab_in_a_name_takes_one_cell() -> None:
    from steersman.ports.tui.answers import Answers
    from steersman.views.requests import Offered

    async def story() -> str:
        app = Stand()
        async with app.run_test(size=(80, 24)):
            shown = Answers(id="tabs")
            await app.mount(shown)
            shown.show([Offered("y", "Yes, a\tb")], 0, 80, 3)
            return str(shown.render())

    assert "\t" not in asyncio.run(story())
