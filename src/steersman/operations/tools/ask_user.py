"""`ask_user`: the model asks the user what only they can decide, with choices to pick from."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from steersman.operations.tool import Arguments, Bench, Family, Plan, Tool
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.errors import ToolProblem
from steersman.records.message import Answer, Question, ToolCall
from steersman.records.tool_names import ASK_USER
from steersman.store.log import Lane, read_messages

DECLINED = (
    "The user declined to answer. Do not ask it again: go on with your own choice where you can, "
    "and say what you chose."
)
GONE = "Nobody is there to answer. Go on with your own choice, and say what you chose."


class Option(Struct, frozen=True, forbid_unknown_fields=True):
    """One answer that is offered."""

    label: Annotated[
        str, Meta(description="the choice, in one to five words", min_length=1, max_length=80)
    ]
    description: Annotated[
        str, Meta(description="what it means, or what follows from it", max_length=300)
    ] = ""


class Asking(Struct, frozen=True, forbid_unknown_fields=True):
    """One question."""

    question: Annotated[
        str, Meta(description="the whole question, as a sentence", min_length=1, max_length=1000)
    ]
    header: Annotated[
        str, Meta(description="what it is about, in a word or two", min_length=1, max_length=30)
    ]
    options: Annotated[
        list[Option],
        Meta(
            description="different answers, the one you recommend first; an answer in their own "
            "words is always offered as well, so do not add one for it",
            min_length=2,
            max_length=4,
        ),
    ]
    multiple: Annotated[bool, Meta(description="whether several may be chosen")] = False


class AskUserArgs(Arguments, frozen=True):
    """What to ask."""

    questions: Annotated[
        list[Asking], Meta(description="asked one after the other", min_length=1, max_length=4)
    ]


class Reply(Struct, frozen=True):
    """What the user said to a question: labels, or their own words."""

    question: str
    answer: str


class Replies(Struct, frozen=True, omit_defaults=True):
    """The answers there are; `note` shows why some are missing."""

    answers: tuple[Reply, ...]
    note: str = ""


class AskUser(Tool[AskUserArgs]):
    """Ask the user one to four questions, each with two to four choices. Use it for a decision that
    only they can take and that changes what you do next: which of several good ways, what they
    prefer, what an unclear request means. Look first: do not ask what the files can tell you, nor
    what you can decide well yourself. Never ask for permission to do something: where that is
    needed, they are asked when you do it. Ask what belongs together in one call."""

    name = ASK_USER
    family = Family.READ
    Args = AskUserArgs

    def __init__(self, ask: Callable[[Question, Lane], Awaitable[Answer]]) -> None:
        self._ask = ask

    async def plan(self, args: AskUserArgs, workspace: PlanningWorkspace) -> Plan[AskUserArgs]:
        """No actions: a question has no effect."""
        for asking in args.questions:
            labels = [option.label.strip() for option in asking.options]
            if not all(labels) or len(set(labels)) < len(labels):
                raise ToolProblem(
                    f"The choices of “{asking.header}” cannot be told apart.",
                    try_this="Give each a label of its own.",
                )
        return Plan(args)

    async def perform(self, plan: Plan[AskUserArgs], bench: Bench) -> Replies:
        """Ask one after the other, but not again what was answered before the process died.

        The user can go back; then what they said before is the default.
        """
        questions = plan.args.questions
        before = await asyncio.to_thread(_answered, bench)
        said, at, note = [""] * len(questions), 0, ""
        while at < len(questions) and not note:
            question = _question(questions, at, said[at], bench.call)
            earlier = before.get(question)
            answer = earlier.pop(0) if earlier else await self._ask(question, bench.lane)
            if answer.by == "back":
                at = max(at - 1, 0)
            elif answer.by == "person":
                said[at] = answer.text
                at += 1
            else:
                note = DECLINED if answer.by == "declined" else GONE
                note += f" They said: {answer.text}" if answer.text else ""
        replies = zip(questions[:at], said, strict=False)
        return Replies(tuple(Reply(one.question, text) for one, text in replies), note)


def _question(questions: Sequence[Asking], at: int, said: str, call: str) -> Question:
    asking = questions[at]
    place = f" ({at + 1} of {len(questions)})" if len(questions) > 1 else ""
    return Question(
        asking.question,
        tuple(" ".join(option.label.split()) for option in asking.options),
        said,
        asking.header + place,
        tuple(option.description for option in asking.options),
        asking.multiple,
        call,
        back=at > 0,
    )


def _answered(bench: Bench) -> dict[Question, list[Answer]]:
    """What the user has already answered of this call, in order, as the log has it."""
    found: dict[Question, list[Answer]] = {}
    asked: dict[str | None, Question] = {}
    log = bench.lane.log
    for message in read_messages(log.store, log.thread, kinds={"tool_call", "question", "answer"}):
        match message.body:
            case ToolCall() if message.corr == bench.call:
                found, asked = {}, {}
            case Question(call=call) as question if call == bench.call:
                asked[message.corr] = question
            case Answer() as answer if message.corr in asked:
                found.setdefault(asked[message.corr], []).append(answer)
    return found
