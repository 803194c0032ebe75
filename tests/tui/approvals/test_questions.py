"""Questions of an agent or a server: choices by number and marker, own words, and declining."""

import asyncio

import pytest

from steersman.ports.tui.diff_view import DiffView
from steersman.records.message import Answer, Question
from steersman.views.blocks import Asked
from steersman.views.questions import answer_from, how_to_answer, option_lines
from tests.tui.approvals.kit import Stand
from tests.tui.approvals.test_answers import answers
from tests.tui.snapshots import screen_text

OPTIONS = ("Postgres", "SQLite", "Files", "None at all")
DETAILS = (
    "A server of its own, which is the right thing as soon as several machines write.",
    "One file beside the program.",
    "",
    "Keep nothing: each run begins anew, and whatever was learned is lost at its end.",
)


def of_agent(**more) -> Asked:
    """A question of an agent, as large as they come."""
    text = "Where should what the program learns be kept, so that it finds it again after a crash?"
    body = Question(text, OPTIONS, header="Store (1 of 2)", details=DETAILS, call="c1", **more)
    return Asked("ask_1", 1, 1, "steersman", "ask_1", body)


ONE, SEVERAL = of_agent(), of_agent(multiple=True)
DECLINED = Answer("", by="declined")


def test_one_is_chosen_by_number_or_marker_said_in_own_words_or_declined():
    assert answers(
        ONE, ["2"], ["down", "down", "enter"], [*"both", "enter"], ["5", *"none", "enter"],
        ["escape"], ["b", "escape", "escape"], ["up", "up", *["down"] * 9, "enter", "x", "enter"],
    ) == [
        [Answer("SQLite")], [Answer("Files")], [Answer("both")], [Answer("none")],
        [DECLINED], [DECLINED], [Answer("x")],
    ]  # fmt: skip


def test_of_several_space_and_numbers_choose_and_enter_sends():
    assert answers(
        SEVERAL, ["space", "down", "down", "space", "enter"], ["4", "1", "4", "2", "enter"],
        ["enter"], ["1", *"and tape", "enter"], ["escape"],
    ) == [
        [Answer("Postgres, Files")], [Answer("Postgres, SQLite")],
        [], [Answer("Postgres, and tape")], [DECLINED],
    ]  # fmt: skip


def test_numbers_choose_however_fast_they_are_pressed():
    async def story():
        app = Stand(hold=1000)
        async with app.run_test(size=(80, 24)) as pilot:
            app.approvals.show([SEVERAL], grab=True)
            await pilot.pause()
            await pilot.press("1", "3", "enter")
            await pilot.pause()
            assert app.answer == Answer("Postgres, Files")

    asyncio.run(story())


def step(number: int, **more) -> Asked:
    """One of several questions of one call."""
    body = Question("Which?", OPTIONS, header=f"Store ({number} of 3)", call="c1", **more)
    return Asked(f"ask_{number}", 1, 1, "steersman", f"ask_{number}", body)


def test_a_key_that_was_too_quick_makes_the_next_wait_no_longer():
    async def story():
        now = [100.0]
        app = Stand(patience=0.8, clock=lambda: now[0])
        async with app.run_test(size=(80, 24)) as pilot:
            app.approvals.show([step(2, back=True)], grab=True)
            now[0] += 0.5
            await pilot.press("1")
            assert app.answers == []
            assert "That was too quick" in screen_text(app)
            now[0] += 0.5
            await pilot.press("1")
            assert app.answer == Answer("Postgres")

    asyncio.run(story())


@pytest.mark.parametrize("between", ["at once", "after a while"])
def test_who_goes_back_to_a_question_answers_it_at_once(between):
    """They know what comes; what comes after their answer is read first again."""

    async def story():
        now = [100.0]
        app = Stand(patience=0.8, clock=lambda: now[0])
        async with app.run_test(size=(80, 24)) as pilot:
            app.approvals.show([step(2, back=True)], grab=True)
            now[0] += 1
            await pilot.press("left")
            if between == "after a while":  # the keys have gone back to the composer
                await pilot.pause()
                assert app.emptied == 1
            app.approvals.show([step(1)], grab=True)
            await pilot.press("1")
            assert [said for _, said in app.answers] == [Answer("", by="back"), Answer("Postgres")]
            app.approvals.show([step(3, back=True)], grab=True)
            await pilot.press("1")
            assert len(app.answers) == 2

    asyncio.run(story())


def test_an_empty_answer_in_own_words_is_not_sent():
    assert answers(ONE, ["5", "enter"]) == [[]]


@pytest.mark.parametrize("block", [ONE, SEVERAL], ids=["one", "several"])
def test_all_choices_can_be_seen_on_a_small_screen(block):
    async def seen():
        app = Stand()
        async with app.run_test(size=(80, 24)) as pilot:
            app.approvals.show([block], grab=True)
            await pilot.pause()
            first = screen_text(app)
            await pilot.press("down", "down", "down", "down")
            await pilot.pause()
            return first, screen_text(app)

    first, last = asyncio.run(seen())
    box = " [ ]" if block is SEVERAL else ""
    assert "A question: Store (1 of 2)" in first
    assert f"› 1.{box} Postgres" in first
    assert "esc decline" in first
    assert f"  4.{box} None at all" in last
    assert "› 5. Something else: type your own answer" in last
    assert "esc decline" in last


@pytest.mark.parametrize(
    ("question", "said", "answer"),
    [
        (ONE, "2", Answer("SQLite")),
        (ONE, "post", Answer("Postgres")),
        (ONE, "5", Answer("5")),
        (ONE, "1,2", Answer("1,2")),
        (ONE, "", DECLINED),
        (SEVERAL, "3, 1", Answer("Postgres, Files")),
        (ONE, "decline", DECLINED),
        (SEVERAL, "tape", Answer("tape")),
    ],
)
def test_line_by_line_a_number_or_words_are_an_answer(question, said, answer):
    assert answer_from(question.question, said) == answer


def test_a_servers_field_keeps_its_default_where_nothing_is_said():
    field = Question("region", ("eu", "us"), "eu", "weather")
    assert option_lines(field) == ["1 eu", "2 us"]
    assert how_to_answer(field) == "a number or an answer; Enter is “eu”, “decline” declines"
    assert answer_from(field, "") == Answer("eu")
    note = Question("note", header="weather")
    assert how_to_answer(note) == "an answer; Enter leaves it empty, “decline” declines"
    assert answer_from(note, "") == Answer("")
    assert [answer_from(one, "Decline") for one in (field, note)] == [DECLINED, DECLINED]


def test_an_option_that_declines_is_an_answer_and_the_host_cannot_be_declined():
    opening = Question("The MCP server asks", ("answer", "decline"), "decline", "weather")
    assert how_to_answer(opening) == "a number or an answer; Enter is “decline”"
    assert answer_from(opening, "decline") == Answer("decline")
    assert answer_from(Question("A name?"), "decline") == Answer("decline")


def test_a_form_of_a_server_offers_what_it_takes_and_can_be_declined():
    opening = Question("weather asks: Where?", ("answer", "decline"), "decline", "weather")
    days = Question("days", ("sat", "sun"), header="weather", multiple=True)
    first, fields = (Asked("a", 1, 1, "steersman", "a", body) for body in (opening, days))
    assert answers(first, ["1"], ["3"], ["escape"], ["enter"]) == [
        [Answer("answer")], [], [DECLINED], [Answer("decline")],
    ]  # fmt: skip
    assert answers(fields, ["1", "2", "enter"], ["escape"]) == [[Answer("sat, sun")], [DECLINED]]


def test_a_question_has_its_whole_width_from_the_first_frame_on():
    """Before it has a place on the screen, and where its place was hidden."""

    async def scene():
        app = Stand()
        async with app.run_test(size=(80, 24)) as pilot:
            for number in range(3):
                asking = Question(f"Number {number}: which of all these things is it?", ("a", "b"))
                app.query_one("#composer").focus()
                await pilot.pause()
                app.approvals.show([Asked(f"a{number}", 1, 1, "me", f"a{number}", asking)])
                app.approvals.take_keys()
                assert app.query_one(DiffView).virtual_size == (
                    78,
                    4,
                )  # a line, two answers, and own words
                await pilot.pause()
                assert app.query_one(DiffView).virtual_size == (78, 4)

    asyncio.run(scene())
