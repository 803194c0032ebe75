"""A stage that records what commands show and ask, at a seat of a real host."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from steersman.host import Host
from steersman.records.errors import SteersmanError
from steersman.records.message import ConfirmRequest, ConfirmResponse, Message
from steersman.records.settings import Settings
from steersman.views.attachments import Mentions
from steersman.views.blocks import Block
from steersman.views.commands.registry import Registry
from steersman.views.commands.stage import Deed, Row, Selection, Stage
from steersman.views.printed import whole
from steersman.views.seat import Seat


class RecordingStage:
    """`answers` are given to what is asked, in order; `happened` is everything, in order."""

    def __init__(self, seat: Seat, environ: Mapping[str, str], answers: Sequence[Any] = ()) -> None:
        self.seat = seat
        self.environ = environ
        self.answers = list(answers)
        self.happened: list[tuple[str, Any]] = []
        self.rows: list[Row] = []
        self.look = "dark"
        self.panes: set[str] = set()
        self.clipboard = True
        self.mentions = Mentions()

    def _note(self, what: str, about: Any) -> None:
        self.happened.append((what, about))

    def all(self, what: str) -> list[Any]:
        """Everything of one kind."""
        return [about for kind, about in self.happened if kind == what]

    @property
    def told(self) -> list[str]:
        """What was said in passing."""
        return self.all("tell")

    def tell(self, text: str, advice: str = "") -> None:
        self._note("tell", "\n".join(filter(None, (text, advice))))

    def done(self, text: str) -> None:
        self._note("done", text)

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        self._note("begin", text)
        yield
        self._note("end", text)

    async def read(self, title: str, markdown: str, deeds: Sequence[Deed] = ()) -> str | None:
        self._note("read", (title, markdown))
        return self.answers.pop(0)

    def show(self, title: str, markdown: str) -> None:
        self._note("show", (title, markdown))

    async def unfold(self, block: Block) -> None:
        self._note("unfold", await whole(self.seat, block))

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        self._note("pick", title)
        self.rows = list(rows)
        chosen = self.answers.pop(0)
        return chosen(self.rows) if callable(chosen) else chosen

    async def confirm(self, title: str, body: str) -> bool:
        self._note("confirm", (title, body))
        return bool(self.answers.pop(0))

    async def select(
        self,
        title: Callable[[int], str],
        body: str,
        rows: Sequence[Row],
        kept: Sequence[str],
        deeds: Sequence[Deed],
    ) -> Selection | None:
        marks = {True: "[x]", False: "[ ]"}
        listed = "\n".join(f"{marks[row.key in kept]} {row.detail:<8} {row.text}" for row in rows)
        self._note("confirm", (title(len(kept)), f"{body}\n{listed}"))
        said = self.answers.pop(0)
        if isinstance(said, bool):
            return Selection(tuple(kept), deeds[0].key) if said else None
        return said

    async def edit(self, title: str, text: str) -> str | None:
        self._note("edit", (title, text))
        return self.answers.pop(0)

    async def ask(self, title: str, default: str = "", why: str = "") -> str | None:
        self._note("ask", (title, default))
        return self.answers.pop(0)

    def compose(self, text: str) -> None:
        self._note("compose", text)

    def files(self) -> Sequence[str]:
        return self.mentions.files

    def drop(self, file: str) -> None:
        self.mentions = self.mentions.remove(file)

    def copy(self, text: str) -> bool:
        self._note("copy", text)
        return self.clipboard

    async def say(self, prompt: str) -> None:
        self._note("say", prompt)
        await self.seat.say(prompt)

    async def moved(self) -> None:
        self._note("moved", self.seat.id)

    async def open(self, name: str) -> bool:
        self._note("open", name)
        return name in self.panes

    def themes(self) -> Sequence[str]:
        return ("dark", "light")

    def theme(self, name: str) -> None:
        self.look = name

    def leave(self) -> None:
        self._note("leave", None)

    def detach(self) -> None:
        self._note("detach", None)


class Desk:
    """A person at work: types lines, allows what is asked, waits for turns to end."""

    def __init__(self, stage: RecordingStage) -> None:
        self.stage = stage
        self.seat = stage.seat
        self.host = stage.seat.host

    async def type(self, line: str, *answers: Any) -> list[tuple[str, Any]]:
        """A line, with answers to what it asks; what happened on the stage since."""
        self.stage.answers += answers
        before = len(self.stage.happened)
        registry = Registry.at(self.stage)
        allowing = asyncio.create_task(self._allow())
        try:
            if not await registry.run(self.stage, line):
                await self.stage.say(line)
            if self.seat.doing == "working":
                await self.seat.handle.wait()
        finally:
            allowing.cancel()
        assert not self.stage.answers, self.stage.answers
        return self.stage.happened[before:]

    async def _allow(self) -> None:
        async for message in self.seat.follow():
            if isinstance(message.body, ConfirmRequest):
                try:
                    await self.seat.handle.answer(message.corr or "", ConfirmResponse("allow"))
                except SteersmanError:
                    continue  # it was answered before

    def messages(self, *kinds: str) -> list[Message]:
        """What is in the thread's log."""
        return list(self.host.messages(self.seat.id, kinds=set(kinds) or None))


def at_desk(
    environ: dict[str, str],
    workspace: Path,
    scenario: Callable[[Desk], Awaitable[Any]],
    **settings: Any,
) -> Any:
    """Play a scenario."""

    async def whole() -> Any:
        async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
            seat = Seat(host, str(workspace), Settings(**{"command_wait": 600, **settings}))
            stage: Stage = RecordingStage(seat, environ)
            assert isinstance(stage, RecordingStage)
            return await asyncio.wait_for(scenario(Desk(stage)), 60)

    return asyncio.run(whole())
