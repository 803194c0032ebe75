"""`ask_user`: what may be asked, what the user's answers become, and no effect on anything."""

import asyncio
from types import SimpleNamespace

import pytest

from steersman.operations.tool import Malformed
from steersman.operations.tools.ask_user import DECLINED, GONE, AskUser, Replies, Reply
from steersman.operations.workspace import Workspace
from steersman.records.dialogue import Call
from steersman.records.errors import ToolProblem
from steersman.records.message import Answer, Question
from tests.operations.workshop import not_asked
from tests.store.logs import a_lane

TWO = [{"label": "Postgres", "description": "a server"}, {"label": "SQLite"}]
STORE = {"question": "Which store?", "header": "Store", "options": TWO}
TESTS = {"question": "Which tests?", "header": "Tests", "options": TWO, "multiple": True}


def asked(questions, *answers):
    """What a call gives when the user answers like this, and what they were asked."""
    put, given = [], iter(answers)

    async def ask(question, lane):
        put.append(question)
        return next(given)

    tool = AskUser(ask)

    async def whole(lane):
        args = tool.parse(Call("c1", tool.name, {"questions": questions}))
        plan = await tool.plan(args, Workspace("/").planning(not_asked))
        assert list(plan.actions) == []
        return await tool.perform(plan, SimpleNamespace(lane=lane, call="c1"))

    with a_lane() as lane:
        return asyncio.run(whole(lane)), put


def test_every_question_is_put_with_its_choices_and_answered_in_order():
    replies, put = asked([STORE, TESTS], Answer("SQLite"), Answer("a third way"))
    assert put == [
        Question(
            "Which store?", ("Postgres", "SQLite"), header="Store (1 of 2)",
            details=("a server", ""), call="c1",
        ),
        Question(
            "Which tests?", ("Postgres", "SQLite"), header="Tests (2 of 2)",
            details=("a server", ""), multiple=True, call="c1", back=True,
        ),
    ]  # fmt: skip
    assert replies == Replies(
        (Reply("Which store?", "SQLite"), Reply("Which tests?", "a third way"))
    )


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (Answer("", by="declined"), DECLINED),
        (Answer("not now", by="declined"), f"{DECLINED} They said: not now"),
        (Answer("", by="default"), GONE),
    ],
)
def test_who_does_not_answer_is_asked_no_more_and_the_model_learns_why(answer, note):
    replies, put = asked([STORE, TESTS], answer)
    assert (replies, len(put)) == (Replies((), note), 1)


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [STORE] * 5,
        [{**STORE, "options": TWO[:1]}],
        [{**STORE, "options": [{"label": str(number)} for number in range(5)]}],
        [{**STORE, "header": ""}],
        [{**STORE, "header": "x" * 31}],
        [{**STORE, "question": ""}],
        [{**STORE, "default": "Postgres"}],
        [{"question": "Which?", "options": TWO}],
    ],
)
def test_other_questions_are_malformed(questions):
    with pytest.raises(Malformed):
        asked(questions)


def test_choices_can_be_told_apart():
    with pytest.raises(ToolProblem, match="“Store” cannot be told apart"):
        asked([{**STORE, "options": [{"label": "x"}, {"label": " x "}]}])
