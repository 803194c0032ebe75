"""The queue of what waits for an answer: which is asked now, what its call was, when it came up.

Pure. Nothing is answered twice, and nothing that came up only a moment ago.
"""

from collections.abc import Callable, Sequence

from steersman.records.hunks import why_whole
from steersman.records.message import Question, ToolCall
from steersman.views import requests
from steersman.views.blocks import Asked, Request, Work
from steersman.views.questions import choices
from steersman.views.requests import Offered

Waiting = Request | Asked
Keys = list[tuple[str, str]]
NONE = Offered("", "")  # the place of an answer that cannot be given now


class Queue:
    """What waits, in the order in which it came; `at` is the place of what is asked now."""

    def __init__(self, patience: float, clock: Callable[[], float]) -> None:
        self.patience = patience
        self._clock = clock
        self._blocks: list[Waiting] = []
        self._calls: dict[str, ToolCall] = {}
        self._answered: set[str] = set()
        self._shown = ""
        self._several: set[str] = set()
        self._since = float("-inf")
        self._back_in = ""  # the call whose question before was asked for
        self._wanted = False  # what is asked now was asked for
        self._why_whole: str | None = None
        self.at = 0
        self.option = 0
        self.chosen: set[int] = set()  # of the answers of which several may be chosen

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def current(self) -> Waiting | None:
        """What is asked now."""
        return self._blocks[self.at] if self.at < len(self._blocks) else None

    @property
    def lost(self) -> bool:
        """Whether what was asked last is gone without an answer from here, and nothing follows."""
        return self.current is None and self._shown not in ("", *self._answered)

    def take(self, waiting: Sequence[Waiting], running: Sequence[Work]) -> None:
        """What waits now; what is asked stays the same as long as it waits."""
        self._calls = {work.corr: work.call for work in running}
        self._answered &= {block.corr for block in waiting}
        self._blocks = [block for block in waiting if block.corr not in self._answered]
        places = [block.corr for block in self._blocks]
        self.at = places.index(self._shown) if self._shown in places else 0

    @property
    def together(self) -> list[Request]:
        """The requests that are put as one: those of the same agent, asked in the same turn."""
        now = self.current
        if not isinstance(now, Request):
            return []
        return [
            one for one in self._blocks
            if isinstance(one, Request) and _asking(one) == _asking(now)
        ]  # fmt: skip

    def changed(self, *, sudden: bool) -> bool:
        """Whether something else is asked than when this was called before.

        `sudden` when keys go here all the while, so that the next one may be meant for another.
        """
        block = self.current
        corr = block.corr if block else ""
        several = {one.corr for one in self.together}
        if sudden and several - self._several:
            self._since = self._clock()  # an answer to all is not for one that just joined them
        self._several = several
        if corr == self._shown:
            return False
        self._shown, self._why_whole, self.option, self.chosen = corr, None, 0, set()
        if block is not None:
            asked_for = isinstance(block, Asked) and block.question.call == self._back_in
            self._wanted, self._back_in = bool(self._back_in) and asked_for, ""
        self._since = float("-inf")
        if sudden:
            self.surprise()
        if isinstance(block, Asked):
            asked = block.question
            marked = asked.marked or asked.default
            self.option = asked.options.index(marked) if marked in asked.options else 0
        if isinstance(block, Asked) and block.question.multiple:
            said = block.question.default.split(", ")
            self.chosen = {at for at, one in enumerate(block.question.options) if one in said}
        return True

    def surprise(self) -> None:
        """Keys go to what is asked from this moment on; who asked for it knows that."""
        if not self._wanted:
            self._since = self._clock()

    def answered(self, *, back: bool = False) -> str:
        """Take out what is asked now, and continue with the next; empty when it is too early.

        A key that was meant for something else answers nothing. With `back` the next is the
        question before.
        """
        block = self.current
        if block is None or self._too_early():
            return ""
        self._back_in = block.question.call if back and isinstance(block, Asked) else ""
        self._answered.add(block.corr)
        self._blocks.pop(self.at)
        self.at = min(self.at, max(len(self._blocks) - 1, 0))
        return block.corr

    def all_answered(self) -> list[str]:
        """Take out everything that is asked together; empty when it is too early."""
        if self._too_early():
            return []
        gone = [one.corr for one in self.together]
        self._answered.update(gone)
        self._blocks = [one for one in self._blocks if one.corr not in gone]
        self.at = 0
        return gone

    def _too_early(self) -> bool:
        return self._clock() - self._since < self.patience

    def reopen(self, corr: str) -> None:
        """An answer did not arrive."""
        self._answered.discard(corr)

    def move(self, by: int) -> None:
        """Ask the next, or the one before."""
        if self._blocks:
            self.at = (self.at + by) % len(self._blocks)

    def move_option(self, by: int, count: int) -> None:
        """Mark another of so many answers."""
        self.option = min(max(self.option + by, 0), max(count - 1, 0))

    def toggle(self, option: int) -> None:
        """Choose one of several answers, or no longer."""
        self.option = option
        self.chosen ^= {option}

    @property
    def declinable(self) -> bool:
        """Whether someone else than the host asks, and nobody has to answer."""
        return isinstance(self.current, Asked) and bool(self.current.question.header)

    @property
    def worded(self) -> bool:
        """Whether an agent asks, which takes any words for an answer; a form does not."""
        return isinstance(self.current, Asked) and bool(self.current.question.call)

    @property
    def goes_back(self) -> bool:
        """Whether the question before can be answered again."""
        return isinstance(self.current, Asked) and self.current.question.back

    @property
    def takes_words(self) -> bool:
        """Whether letters that are no keys begin an answer: of an agent, or about a plan."""
        return isinstance(self.current, Asked) and (self.worded or not self.current.question.header)

    @property
    def call(self) -> ToolCall | None:
        """The call that is asked about."""
        block = self.current
        return self._calls.get(block.request.call) if isinstance(block, Request) else None

    @property
    def why_whole(self) -> str:
        """Why the request can only be answered as a whole; found out once."""
        if self._why_whole is None and isinstance(self.current, Request):
            self._why_whole = why_whole(self.current.request.actions)
        return self._why_whole or ""

    def answers(self, *, all_seen: bool = True) -> list[Offered]:
        """The answers to what is asked now, in their order; one to all only where all are seen.

        Elsewhere its place is empty, so that the numbers of the others are the same.
        """
        match self.current:
            case Request(request=request):
                made = requests.offered(request, len(self.together))
                return [one if all_seen or one.key not in "YN" else NONE for one in made]
            case Asked(question=question):
                return choices(question)
        return []

    def keys(self) -> Keys:
        """The keys that are no answers."""
        more = [("tab", "next")] if len(self._blocks) > 1 else []
        more += [("left", "previous question")] if self.goes_back else []
        choose = ("↑↓ enter", "choose")
        match self.current:
            case Request(request=request):
                others = requests.others(request, self.call, hunks=not self.why_whole)
                return [choose, *others, *more]
            case Asked(question=Question(multiple=True)):
                own = [("type", "your own words")] if self.worded else []
                return [("space", "choose"), ("enter", "send"), *own, *more]
            case Asked(question=question) if question.options:
                own = [("type", "your own words")] if self.takes_words else [("o", "other")]
                return [choose, *own, *more]
            case Asked():
                return [("o", "answer"), *more]
        return []

    def letters(self) -> str:
        """The letters that mean something now; any other is prose."""
        made = self.answers()
        keys = [*(one.key for one in made), *(key for key, _ in self.keys() if len(key) == 1)]
        own = "o" if isinstance(self.current, Asked) and not self.worded else ""
        return "".join(keys) + own + "123456789"[: len(made)]


def _asking(block: Request) -> tuple[str, int, bool]:
    """Who asks, and when."""
    return block.lane, block.turn, block.request.own
