"""How it goes: sessions and turns, what it costs, errors and everything else worth a remark."""

from collections.abc import Callable, Mapping
from typing import Any

from steersman.records.message import (
    Audit,
    Body,
    Checkpoint,
    Compaction,
    Error,
    GuardBlock,
    HookRun,
    JobEnd,
    Message,
    Progress,
    RequestReceipt,
    Rewind,
    SessionEnd,
    SessionStart,
    SettingsChanged,
    Summary,
    TurnEnd,
    TurnStart,
    UsageReport,
)
from steersman.views.blocks import Block, Remark, State
from steersman.views.filling import context_after, own_lane
from steersman.views.story.shelf import Shelf
from steersman.views.text import one_line

TURN_ENDS: dict[str, State] = {
    "done": "done", "failed": "error", "cancelled": "cancelled", "interrupted": "cancelled",
    "needs_answer": "waiting", "limit": "error", "blocked": "denied",
}  # fmt: skip


def remarked(shelf: Shelf, message: Message, body: Body, state: State) -> Remark:
    """A remark, in its place."""
    lane = shelf.lane(message.path)
    block = Remark(shelf.key(message), message.seq, message.turn, lane, body, state)
    shelf.settle(message, block)
    return block


def take_turn_start(shelf: Shelf, message: Message, body: TurnStart) -> list[Block]:
    """A turn begins; what an earlier one left open was cut off."""
    shelf.turn = message.turn
    shelf.working = True
    shelf.steps = 0
    shelf.retrying = None
    shelf.advice = ""
    shelf.failing.clear()
    shelf.began = message.time
    shelf.used_before = shelf.usage.input + shelf.usage.output
    return shelf.let_go()


def take_turn_end(shelf: Shelf, message: Message, body: TurnEnd) -> list[Block]:
    """A turn ended, and why."""
    changed = [*shelf.let_go(), *shelf.tried(*shelf.failing)]
    shelf.working = False
    shelf.retrying = None
    shelf.progress = ""
    if all(one.state in ("done", "dropped") for one in shelf.todo):
        shelf.todo = ()  # a list that is done has served
    block = remarked(shelf, message, body, TURN_ENDS[body.ending])
    if shelf.began is not None:
        block.seconds = max(0.0, (message.time - shelf.began).total_seconds())
    shelf.began, block.advice = None, shelf.advice
    return [*changed, block]


def take_session_start(shelf: Shelf, message: Message, body: SessionStart) -> list[Block]:
    """A process opened the thread. What another one did it does no more; what it asked still waits.

    Where nothing waits, its turn has ended.
    """
    shelf.session = body
    shelf.usage.model = body.model or shelf.usage.model
    left = shelf.let_go(waits=True)
    shelf.working = shelf.working and bool(shelf.open_requests)
    return left


def take_session_end(shelf: Shelf, message: Message, body: SessionEnd) -> list[Block]:
    """The process left; what it asked can be answered anyway."""
    left = shelf.let_go(waits=True)
    shelf.working = shelf.working and bool(shelf.open_requests)
    return left


def take_setting(shelf: Shelf, message: Message, body: SettingsChanged) -> list[Block]:
    """Something holds from the next request to the model on."""
    shelf.usage.model = body.model or shelf.usage.model
    return [remarked(shelf, message, body, "done")]


def take_receipt(shelf: Shelf, message: Message, body: RequestReceipt) -> list[Block]:
    """What was refused is worth a remark; what was done shows itself; late answers are reported."""
    said = body.outcome in ("refused", "expired")
    return [remarked(shelf, message, body, "denied")] if said else []


def take_usage(shelf: Shelf, message: Message, body: UsageReport) -> list[Block]:
    """What a request used; those of the conversation show how full the window is."""
    usage = shelf.usage
    usage.requests += 1
    usage.input += body.input
    usage.cached += body.cached
    usage.output += body.output
    usage.reasoning += body.reasoning
    usage.cost += body.cost
    usage.context = context_after(usage.context, message)
    if not body.aside and own_lane(message.path):
        usage.model = body.model
    return []


def take_progress(shelf: Shelf, message: Message, body: Progress) -> list[Block]:
    """Long work shows where it is."""
    shelf.progress = one_line(body.text)
    return []


def take_error(shelf: Shelf, message: Message, body: Error) -> list[Block]:
    """Something went wrong; an answer that was on its way broke off."""
    shelf.drop_words(shelf.lane(message.path))
    shelf.advice = body.try_this
    shelf.retrying = body if body.retry_in is not None else None
    lane = shelf.lane(message.path)
    block, changed = shelf.failing.get(lane), list[Block]()
    if block is not None and isinstance(block.body, Error) and block.body.what == body.what:
        block.body, block.times = body, block.times + 1  # the same request, once more
        block.touch()
        del shelf.failing[lane]
    else:
        changed = shelf.tried(lane)
        block = remarked(shelf, message, body, "error")
    if shelf.retrying is not None:
        shelf.failing[lane] = block
    return [*changed, block]


def take_checkpoint(shelf: Shelf, message: Message, body: Checkpoint) -> list[Block]:
    """Only what a person undoes is reported; what a call changes its diffs tell."""
    return [] if body.cause == "effect" else [remarked(shelf, message, body, "done")]


def take_rewind(shelf: Shelf, message: Message, body: Rewind) -> list[Block]:
    """The thread continues from an earlier message of another."""
    return [remarked(shelf, message, body, "done")]


def take_compaction(shelf: Shelf, message: Message, body: Compaction) -> list[Block]:
    """The model sees less from now on."""
    shelf.usage.context = context_after(shelf.usage.context, message)
    return [remarked(shelf, message, body, "done")]


def take_audit(shelf: Shelf, message: Message, body: Audit) -> list[Block]:
    """Something people should know; what was said before is not said again."""
    if body in shelf.audits:
        return []
    shelf.audits.add(body)
    return [remarked(shelf, message, body, "done")]


def take_job_end(shelf: Shelf, message: Message, body: JobEnd) -> list[Block]:
    """A background job ended, by itself or because the thread was closed."""
    state: State = "cancelled" if body.left or body.lost or body.copied else "done"
    return [remarked(shelf, message, body, state), *shelf.moot(message.corr or "")]


def take_block(shelf: Shelf, message: Message, body: GuardBlock) -> list[Block]:
    """The guard blocked a command: its call says so, where it is known."""
    work = shelf.known_calls.get(message.corr or "")
    if work is not None:
        work.rule = work.rule or body.rule
        work.touch()
        return [work]
    return [remarked(shelf, message, body, "denied")]


def take_hook(shelf: Shelf, message: Message, body: HookRun) -> list[Block]:
    """A hook failed, held something back or has words for the user; the others run silently."""
    if body.problem:
        return [remarked(shelf, message, body, "error")]
    quiet = body.decision in ("", "allow") and not body.message
    return [] if quiet else [remarked(shelf, message, body, "done")]


def take_summary(shelf: Shelf, message: Message, body: Summary) -> list[Block]:
    """What a turn that asked nobody came to."""
    return [remarked(shelf, message, body, "done")]


TAKERS: Mapping[type[Body], Callable[[Shelf, Message, Any], list[Block]]] = {
    TurnStart: take_turn_start, TurnEnd: take_turn_end, SessionStart: take_session_start,
    SessionEnd: take_session_end, SettingsChanged: take_setting,
    RequestReceipt: take_receipt, UsageReport: take_usage, Progress: take_progress,
    Error: take_error, Checkpoint: take_checkpoint, Compaction: take_compaction,
    Audit: take_audit, GuardBlock: take_block, Summary: take_summary,
    JobEnd: take_job_end, Rewind: take_rewind, HookRun: take_hook,
}  # fmt: skip
