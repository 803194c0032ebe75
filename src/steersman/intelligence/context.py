"""The conversation as a model sees it: a view of one capsule's lane, built message by message.

The same messages always give the same items, whether they just happened or were read from the log
years later: that is what keeps a prompt's prefix stable. Only a compaction changes what was shown
before, and it is itself a message: the view of it is built again from the log, or undone.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steersman.intelligence.shortening import OURS, shorten_item
from steersman.records.dialogue import AssistantItem, Call, Image, Item, ResultItem, UserItem
from steersman.records.errors import StorageProblem
from steersman.records.escapes import uncoloured
from steersman.records.message import (
    Assistant,
    Body,
    Compaction,
    HookRun,
    Meanwhile,
    Message,
    ToolCall,
    ToolResult,
    User,
    decode_body,
)
from steersman.store.contract import Row

KINDS = frozenset(
    {"user", "meanwhile", "assistant", "tool_call", "tool_result", "compaction", "hook_run"}
)


LOST_IMAGE = "[An image that is no longer kept.]"
Picture = Callable[[Image], Image | None]  # an image of the log with its bytes, if they are there


class Cut(Struct, frozen=True):
    """A compaction in force: its message, and the first item that is still shown as such."""

    body: Compaction
    start: int
    seq: int


class Context:
    """Dialogue items of one capsule: `items` only ever grows; `view` is what a model is shown.

    They are one and the same list until there is a compaction. `seqs` are the messages the items
    came from, all of them known when `numbered`; `sizes` the stored bytes of those not decoded yet.
    """

    def __init__(self, path: str, picture: Picture = lambda image: image) -> None:
        self._picture = picture
        self.items: list[Item] = []
        self.view: list[Item] = self.items
        self.seqs: list[int] = []
        self.sizes: list[int] = []
        self.numbered = True
        self._cuts: list[Cut] = []
        self._path = path
        self._seq = 0
        self._answer: Assistant | None = None
        self._answered = (0, 0)  # the message of that answer, and its stored bytes
        self._calls: dict[str, Body | bytes] = {}
        self._results: dict[str, tuple[ResultItem, int, int] | None] = {}
        self._later: list[tuple[Item, int, int]] = []  # what enters after the results of calls
        self._known: dict[str, bool] = {}  # which lanes are this capsule's own
        self._takers = {
            "user": self._take_user,
            "meanwhile": self._take_meanwhile,
            "assistant": self._take_answer,
            "tool_call": self._take_call,
            "tool_result": self._take_result,
            "compaction": self._take_compaction,
            "hook_run": self._take_hook,
        }

    @property
    def cut(self) -> Cut | None:
        """The compaction in force."""
        return self._cuts[-1] if self._cuts else None

    def observe(self, messages: Iterable[Message]) -> None:
        """Take in messages in order of the log; those of other lanes are passed over."""
        self._pad()
        for message in messages:
            self._seq = message.seq
            self._take(message.kind, message.path, message.corr, message.body)

    def recall(self, rows: Iterable[tuple[str, str, str | None, bytes]]) -> None:
        """Take in stored messages as kind, path, corr and body; most are decoded when needed."""
        self._pad()
        self._seq, self.numbered = 0, False
        for kind, path, corr, data in rows:
            self._take(kind, path, corr, data)
        self._pad()

    def remark(self, text: str) -> None:
        """Let the model read something that is not in the log."""
        self._add(UserItem(text, steer=True), 0, 0)
        self._pad()

    def number(self, rows: Iterable[Row]) -> None:
        """Learn which messages recalled items came from, by all stored rows of `KINDS`."""
        again = Context(self._path, self._picture)
        for row in rows:
            again._seq = row.seq
            again._take(row.kind, row.path, row.corr, row.body)
        self._pad()
        self.numbered = True
        for back in range(1, min(len(self.items), len(again.items)) + 1):
            item, known = self.items[-back], again.items[-back]
            if isinstance(item, UserItem) and item.text.startswith(OURS) and item != known:
                break
            self.seqs[-back] = again.seqs[-back]
        cuts = again._cuts[-len(self._cuts) :]
        if len(cuts) == len(self._cuts):
            pairs = zip(self._cuts, cuts, strict=True)
            self._cuts = [replace(cut, seq=same.seq) for cut, same in pairs]

    def _mine(self, path: str) -> bool:
        if not f"{path}/".startswith(f"{self._path}/"):
            return False
        rest = path[len(self._path) :].split("/")[1:]
        return len(rest) <= 1 or (len(rest) == 2 and rest[0] == "operations")

    def _take(self, kind: str, path: str, corr: str | None, body: Body | bytes) -> None:
        take = self._takers.get(kind)
        if take is None:
            return
        mine = self._known.get(path)
        if mine is None:
            mine = self._known[path] = self._mine(path)
        if mine:
            take(corr or "", body)

    def _pad(self) -> None:
        """What was recalled, or added from outside, has no message and no size that is known."""
        count = len(self.items)
        self.seqs += [0] * (count - len(self.seqs))
        self.sizes += [0] * (count - len(self.sizes))

    def _add(self, item: Item, seq: int, size: int) -> None:
        if seq:
            self._pad()
            self.seqs.append(seq)
        self.items.append(item)
        self.sizes.append(size)
        if self._cuts:
            self.view.append(item)

    def _take_user(self, corr: str, body: Body | bytes) -> None:
        said = whole(User, body)
        found = [self._picture(image) for image in said.images]
        images = tuple(image for image in found if image is not None)
        lost = (LOST_IMAGE,) * (len(found) - len(images))
        text = "\n\n".join((said.text, *said.attached, *lost))
        self._add(UserItem(text, said.via == "steer", images), self._seq, 0)

    def _take_meanwhile(self, corr: str, body: Body | bytes) -> None:
        self._add(UserItem(whole(Meanwhile, body).text, steer=True), self._seq, 0)

    def _take_answer(self, corr: str, body: Body | bytes) -> None:
        answer = whole(Assistant, body)
        if answer.calls:
            self._answer, self._calls = answer, {}
            self._answered = self._seq, stored(body)
        else:
            item = AssistantItem(answer.text, answer.reasoning, (), answer.state)
            self._add(item, self._seq, 0)

    def _take_call(self, corr: str, body: Body | bytes) -> None:
        """An answer with calls enters once all of its calls are known."""
        answer = self._answer
        if answer is None or corr not in answer.calls:
            return
        self._calls[corr] = body
        if len(self._calls) == len(answer.calls):
            calls = partial(made_calls, answer.calls, self._calls)
            item = AssistantItem(answer.text, answer.reasoning, calls, answer.state)
            seq, size = self._answered
            size += sum(map(stored, self._calls.values())) if size else 0
            self._add(item, seq, size)
            self._results = dict.fromkeys(answer.calls)
            self._answer = None

    def _take_result(self, corr: str, body: Body | bytes) -> None:
        """Results enter together, in the order of their calls, whichever was ready first."""
        if corr not in self._results:
            return
        item = ResultItem(corr, load=partial(read_result, body))
        self._results[corr] = item, self._seq, stored(body)
        if None not in self._results.values():
            for found in self._results.values():
                if found:
                    self._add(*found)
            self._results = {}
            for later in self._later:
                self._add(*later)
            self._later = []

    def _take_hook(self, corr: str, body: Body | bytes) -> None:
        """What a hook says enters at once, but never between calls and their results."""
        said = whole(HookRun, body)
        if not said.context:
            return
        asks = said.event in ("Stop", "SubagentStop")  # for more work, as a prompt does
        item = UserItem(f"A hook ({said.event}) says:\n{said.context}", steer=not asks)
        if self._results:
            self._later.append((item, self._seq, 0))
        else:
            self._add(item, self._seq, 0)

    def _take_compaction(self, corr: str, body: Body | bytes) -> None:
        """Show less from here on, or again what was shown before."""
        told = whole(Compaction, body)
        if not told.undone:
            self._cuts.append(Cut(told, max(0, len(self.items) - told.tail), self._seq))
        elif self._cuts:
            self._cuts.pop()
        self._show()

    def _show(self) -> None:
        """Build the view of the compaction in force."""
        cut = self.cut
        if cut is None:
            self.view = self.items
            return
        from steersman.intelligence.digest import head_items

        tail = self.items[cut.start :]
        for one in cut.body.shortened:
            if one.place < len(tail):
                tail[one.place] = shorten_item(tail[one.place], one.room, one.message)
        self.view = head_items(cut.body) + tail


def stored(body: Body | bytes) -> int:
    """How many bytes of a body nobody has decoded yet."""
    return len(body) if isinstance(body, bytes) else 0


B = TypeVar("B", bound=Body)


def whole(kind: type[B], body: Body | bytes) -> B:
    """A body, decoded now if it was not."""
    try:
        found = decode_body(kind.kind, body) if isinstance(body, bytes) else body
    except msgspec.DecodeError as error:
        raise StorageProblem(
            f"A stored message of kind {kind.kind} cannot be read.",
            str(error),
            "`steer ledger verify` shows which messages were altered.",
        ) from error
    assert isinstance(found, kind)
    return found


def made_calls(order: Iterable[str], bodies: dict[str, Body | bytes]) -> tuple[Call, ...]:
    """The calls of an answer."""
    found = ((corr, whole(ToolCall, bodies[corr])) for corr in order)
    return tuple(Call(corr, call.tool, call.arguments, call.malformed) for corr, call in found)


def read_result(body: Body | bytes) -> tuple[str, bool]:
    """The text of a result, and whether it is one of failure."""
    result = whole(ToolResult, body)
    return result_text(result), result.status != "ok"


def result_text(result: ToolResult) -> str:
    """A result as the model reads it."""
    parts = [result.message] if result.message else []
    if result.output is not None:
        parts.append(plain(uncoloured(result.output)))
    if result.note:
        parts.append(f"Note: {result.note}")
    return "\n".join(parts) or "(nothing)"


def plain(value: Any) -> str:
    """A tool's output as text: short fields a line each, then long text as it is, unescaped."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    short, long = [], []
    for name, item in value.items():
        if isinstance(item, str) and "\n" in item:
            long.append(f"{name}:\n{item}")
        else:
            text = item if isinstance(item, str) else msgspec.json.encode(item).decode()
            short.append(f"{name}: {text}")
    return "\n".join([*short, *long])
