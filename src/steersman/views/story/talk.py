"""What is said: by the user, by the model as it streams and once it is whole, in questions."""

from collections.abc import Callable, Mapping
from typing import Any

from steersman.records.action import Network
from steersman.records.message import (
    Answer,
    Assistant,
    AssistantDelta,
    Body,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Question,
    ReasoningDelta,
    Steer,
    ToolCall,
    User,
)
from steersman.views.blocks import Asked, Block, Person, Receipt, Request, Words
from steersman.views.requests import made_of
from steersman.views.story.shelf import Shelf

RECEIPTS: dict[str, Receipt] = {
    "waiting": "pending", "queued": "queued", "delivered": "delivered", "withdrawn": "withdrawn",
}  # fmt: skip


def take_delta(
    shelf: Shelf, message: Message, body: AssistantDelta | ReasoningDelta
) -> list[Block]:
    """A piece of an answer: it is added to words on their way, or begins them."""
    thought = isinstance(body, ReasoningDelta)
    lane = shelf.lane(message.path)
    shelf.retrying = None
    words = shelf.live_words.setdefault(lane, [])
    for one in words:
        if one.thought == thought:
            break
    else:
        one = Words(shelf.fresh(), 0, message.turn, lane, thought=thought)
        _begin(shelf, words, one)
    one.pieces.append(body.text)
    one.touch()
    return [one]


def _begin(shelf: Shelf, words: list[Words], one: Words) -> None:
    """Thoughts are before the words they led to; both before what waits to be delivered."""
    if one.thought and words:
        place = shelf.blocks.index(words[0], shelf.settled)
        words.insert(0, one)
    else:
        place = len(shelf.blocks) - len(shelf.open_inputs)
        words.append(one)
    shelf.blocks.insert(place, one)


def take_assistant(shelf: Shelf, message: Message, body: Assistant) -> list[Block]:
    """A whole answer: it takes the place of what streamed, whatever that was."""
    lane = shelf.lane(message.path)
    shelf.retrying = None
    changed = shelf.tried(lane)
    if shelf.working and shelf.is_root(lane):
        shelf.steps += 1
    live = {one.thought: one for one in shelf.live_words.pop(lane, ())}
    for one in live.values():
        shelf.take_out(one)
    for thought, text in ((True, body.reasoning), (False, body.text)):
        if not text.strip():
            continue
        block = live.get(thought)
        if block is None:
            key = f"{shelf.key(message)}{'t' if thought else ''}"
            block = Words(key, message.seq, message.turn, lane, thought=thought)
        block.seq, block.turn = message.seq, message.turn
        block.pieces = [text]
        block.state = "cancelled" if body.stop == "cancelled" else "done"
        block.touch()
        changed.append(shelf.settle(message, block))
    return changed


def take_steer(shelf: Shelf, message: Message, body: Steer) -> list[Block]:
    """A receipt. Words that were not delivered stay at the end; then they get their place."""
    corr = message.corr or shelf.key(message)
    block = shelf.open_inputs.get(corr)
    if block is None:
        block = Person(
            f"in-{shelf.key(message)}", message.seq, message.turn, shelf.lane(message.path), ""
        )
        block.corr = corr
        block.time = message.time
        shelf.open_inputs[corr] = block
        shelf.blocks.append(block)
    block.sent = body.text or block.sent
    block.receipt = RECEIPTS[body.state]
    block.touch()
    if body.state in ("delivered", "withdrawn"):
        del shelf.open_inputs[corr]
        shelf.take_out(block)
        block.seq, block.turn = message.seq, message.turn
        shelf.settle(message, block)
    if body.state == "delivered":
        shelf.delivered[corr] = block
    return [block]


def take_user(shelf: Shelf, message: Message, body: User) -> list[Block]:
    """Words of the user as the model gets them; a receipt may have announced them before."""
    lane = shelf.lane(message.path)
    if not shelf.is_root(lane):
        return []  # the task of an agent, which its own block shows
    block = shelf.delivered.pop(message.corr, None) if message.corr else None
    if block is None:
        block = Person(shelf.key(message), message.seq, message.turn, lane, body.text)
        block.corr = message.corr or ""
        shelf.settle(message, block)
    block.sent = body.text
    block.receipt = "" if body.via == "prompt" else "delivered"
    block.attached = body.attached
    block.images = len(body.images)
    block.touch()
    return [block]


def take_request(shelf: Shelf, message: Message, body: ConfirmRequest) -> list[Block]:
    """A permission is asked for; the call it is for waits."""
    corr = message.corr or shelf.key(message)
    lane = shelf.lane(message.path)
    # A command may ask about several hosts at the same time; each of them waits.
    beside = all(isinstance(action, Network) for action in body.actions)
    moot = [] if beside else shelf.moot(body.call)
    block = Request(shelf.key(message), message.seq, message.turn, lane, corr, body)
    shelf.open_requests[corr] = block
    changed = [*moot, shelf.settle(message, block)]
    work = shelf.open_calls.get(body.call)
    if work is not None:
        work.state = "waiting"
        work.touch()
        changed.append(work)
    return changed


def take_response(shelf: Shelf, message: Message, body: ConfirmResponse) -> list[Block]:
    """Someone answered; the call continues, unless something else keeps it waiting."""
    block = shelf.open_requests.pop(message.corr or "", None)
    if not isinstance(block, Request):
        return []
    block.response = body
    block.state = "done" if body.decision == "allow" else "denied"
    block.touch()
    work = shelf.open_calls.get(block.request.call)
    if work is None:
        return [block]
    work.state = "running"
    work.made = made_of(block.request, body) or work.made
    if body.decision == "allow" and body.arguments is not None:
        work.call = ToolCall(work.call.tool, body.arguments, typed=work.call.typed)
    work.touch()
    return [block, work]


def take_question(shelf: Shelf, message: Message, body: Question) -> list[Block]:
    """The user is asked something."""
    corr = message.corr or shelf.key(message)
    lane = shelf.lane(message.path)
    block = Asked(shelf.key(message), message.seq, message.turn, lane, corr, body)
    shelf.open_requests[corr] = block
    return [shelf.settle(message, block)]


def take_answer(shelf: Shelf, message: Message, body: Answer) -> list[Block]:
    """The user, or what is taken without one, has answered."""
    block = shelf.open_requests.pop(message.corr or "", None)
    if not isinstance(block, Asked):
        return []
    block.answer = body
    block.state = "done"
    block.touch()
    return [block]


TAKERS: Mapping[type[Body], Callable[[Shelf, Message, Any], list[Block]]] = {
    AssistantDelta: take_delta, ReasoningDelta: take_delta, Assistant: take_assistant,
    Steer: take_steer, User: take_user, ConfirmRequest: take_request,
    ConfirmResponse: take_response, Question: take_question, Answer: take_answer,
}  # fmt: skip
