"""One thread as every port sees it, whichever process runs it: this one, another, another machine.

`await host.attach(id, …)` gives a handle. What is asked of it is done here, or put into the
thread's inbox and done by the process that runs it; either way the answer, or the error, is the
same.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from steersman.records.change import Change
from steersman.records.dialogue import Image
from steersman.records.errors import Exit
from steersman.records.message import Answer, ConfirmResponse, Message, Rewind, TurnEnd
from steersman.records.settings import Value
from steersman.records.thread import Thread, ThreadState
from steersman.records.undo import Part, UndoPlan


class ThreadHandle(Protocol):
    """A thread that can be spoken to. Everything raises `SteersmanError` in plain words."""

    @property
    def id(self) -> str:
        """The thread's id."""
        ...

    @property
    def thread(self) -> Thread:
        """The thread's record, as it was last read."""
        ...

    @property
    def here(self) -> bool:
        """Whether this process runs the thread."""
        ...

    @property
    def busy(self) -> bool:
        """Whether a turn runs, as far as is known here without looking."""
        ...

    async def state(self) -> ThreadState:
        """What the thread is doing, and which process runs it."""
        ...

    async def send(self, text: str, images: tuple[Image, ...] = ()) -> int:
        """Begin a turn; the answer is its number."""
        ...

    async def steer(self, text: str) -> str:
        """Say something to the running turn, or for the next one; the answer names the message."""
        ...

    async def queue(self, text: str) -> str:
        """Say something for the next turn; the answer names the message."""
        ...

    async def hasten(self, corr: str) -> None:
        """Give queued words to the turn that runs; begin one with the oldest where none runs."""
        ...

    async def withdraw(self, corr: str) -> None:
        """Withdraw words that were not delivered."""
        ...

    async def answer(self, corr: str, answer: ConfirmResponse | Answer) -> None:
        """Answer a request or a question; raises `TooLate` when someone else was first."""
        ...

    async def cancel(self) -> None:
        """Stop the running turn, its tools and their processes."""
        ...

    async def go_on(self) -> bool:
        """Begin a turn with the oldest queued message, if there is one."""
        ...

    async def call(
        self, tool: str, arguments: dict[str, Any], name: str = "", *, typed: bool = False
    ) -> Message:
        """Carry out one tool call for a person, through the same gate; gives its result.

        `name` is what the call is called in the log; `typed` when it is a command that they typed.
        """
        ...

    async def plan_undo(
        self, *, turn: int | None = None, to: int | None = None, parts: Sequence[Part] = ()
    ) -> UndoPlan:
        """What undoing the last turn would do, or a certain turn, or all after a message.

        With `parts` only those of a turn are undone, and the rest of it stays.
        """
        ...

    async def plan_redo(self) -> UndoPlan:
        """What undoing the last undo would do."""
        ...

    async def undo(self, plan: UndoPlan, *, force: bool = False, imported: bool = False) -> int:
        """Carry out a plan; with `force` also over changes that someone else made since.

        The answer is its place in the log, for `undo_told`.
        That of an imported thread only if a person agreed to this very plan: `imported`.
        """
        ...

    async def undo_told(self, checkpoint: int) -> None:
        """Note that the user heard what became of an undo: it is not open any more."""
        ...

    async def rewound(self, rewind: Rewind, stays: Sequence[Change] = ()) -> None:
        """Note that a rewind made this thread; `stays` are later changes of files, still there."""
        ...

    async def compact(self, *, undo: bool = False) -> bool:
        """Show the model a digest of what is older, or undo that; False if there is nothing to."""
        ...

    async def aside(self, system: str, text: str) -> str:
        """An answer of the thread's model that is no part of the conversation."""
        ...

    async def set(self, **values: Value) -> None:
        """Change mode, model, approvals, trust, title or added folders, from the next call on."""
        ...

    def events(self, after: int = 0) -> AsyncIterator[Message]:
        """Every stored message after `after`, each once and in order, and live pieces as they come.

        It continues while the thread is idle and when another process takes it over, and ends when
        the thread is closed here.
        """
        ...

    async def wait(self) -> TurnEnd | None:
        """Wait until no turn runs; the answer is how the last one ended."""
        ...

    async def last_words(self) -> str:
        """What the model said last."""
        ...

    async def detach(self) -> None:
        """Let go of the handle; a turn that runs, runs on, here or elsewhere."""
        ...

    async def close(self, exit_code: Exit = Exit.DONE, reason: str = "") -> None:
        """Stop what runs and leave the thread; nothing is lost."""
        ...

    def leave(self) -> None:
        """Nobody here can answer any more."""
        ...

    def session_events(self, after: int = 0) -> AsyncIterator[Message]:
        """The same as `events` until no process runs the thread any more."""
        ...

    def redact(self, value: Any) -> Any:
        """Whatever JSON can say, without the secrets of a thread that runs here."""
        ...
