"""The place of a workspace on another machine, as the host's gate sees it: everything is asked
there, or came with the request that is being decided on."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

from msgspec import Struct

from steersman.governance.policy import Circumstances
from steersman.hands import Hands
from steersman.records.action import Action, Delete, Execute, Write
from steersman.records.errors import SteersmanError
from steersman.records.judgement import CommandPlace, Judgement
from steersman.records.profile import Profile
from steersman.records.secret_files import PLAIN_SIGHT, SecretFiles
from steersman.threads.remote.line import Line
from steersman.threads.remote.waiting import Waiting
from steersman.threads.remote.words import (
    Confine,
    Containment,
    Facts,
    Grounding,
    Guarded,
    Names,
    Seen,
)

T = TypeVar("T")
_HANDS = 4  # threads that wait for one machine at most; more to decide on waits for them


class _About(Struct, frozen=True):
    """What came with the request that is being decided on."""

    protected: dict[Action, str]
    brought: dict[Execute, tuple[str, ...]]
    hidden: tuple[str, ...] | None


_about: ContextVar[_About | None] = ContextVar("about", default=None)


class Place:
    """Looks at files, confines commands and finds secret files at the other end of a line."""

    def __init__(self, line: Line, root: str) -> None:
        self._line = line
        self._root = root
        self._waiting = Waiting()
        self._hands = Hands(_HANDS, "elsewhere")
        self._secret_files = PLAIN_SIGHT

    def learn(self, actions: Sequence[Action], facts: Facts) -> None:
        """Decide on actions, in this task, by what was found out about them."""
        if facts.secret is not None:
            self.take(facts.secret)
        files = zip(actions, facts.protected, strict=False)
        commands = zip(actions, facts.brought, strict=False)
        _about.set(
            _About(
                {one: why for one, why in files if isinstance(one, Write | Delete)},
                {one: told for one, told in commands if isinstance(one, Execute)},
                facts.hidden,
            )
        )

    def take(self, lines: str) -> SecretFiles:
        """Know which files are secret now."""
        if lines != self._secret_files.lines:
            self._secret_files = SecretFiles(self._root, lines)
        return self._secret_files

    # Which files are secret

    async def look(self, *, deep: bool) -> tuple[SecretFiles, tuple[str, ...]]:
        """Which files are secret and, when looked for deeply, which there are."""
        about = _about.get()
        if about is not None and (about.hidden is not None or not deep):
            return self._secret_files, about.hidden or ()
        seen = await self._line.ask("look", deep, Seen)
        return self.take(seen.secret), seen.hidden

    async def close(self) -> None:
        """Let the threads end; the line is another's to close, and who waits for it learns so."""
        self._hands.shutdown(wait=False)

    async def aside(self, work: Callable[[], T]) -> T:
        """Decide by what is there on threads of this place alone: they wait while it is cut off."""
        if self._line.over is not None:
            raise self._line.over
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._hands, copy_context().run, work)

    async def contain(self) -> tuple[Containment, str]:
        """How well commands can be confined there."""
        return await self._line.ask("contain", None, tuple[Containment, str])

    # How commands are confined; not on the event loop

    def profile(
        self,
        action: Execute,
        where: Circumstances,
        judgement: Judgement | None,
        secrets: Sequence[str],
    ) -> Profile:
        """What this command may see, change and reach."""
        opened = getattr(where.answers, "opened", None)
        paths, hosts = opened() if opened else ((), ())
        asked = Confine(
            action, where.mode, where.trust, where.containment, paths, hosts, judgement,
            tuple(secrets),
        )  # fmt: skip
        return self._wait(self._line.ask("profile", asked, Profile))

    def brought_along(
        self, action: Execute, judgement: Judgement | None, workspace: str
    ) -> tuple[str, ...]:
        """What to tell of a command that wants out: programs of the workspace."""
        about = _about.get()
        return about.brought.get(action, ()) if about is not None else ()

    # What is on the disk; not on the event loop, unless it came with the request

    def protected(self, action: Write | Delete, workspace: str) -> str:
        """What file it is that needs approval in any case; empty when it does not."""
        about = _about.get()
        if about is not None and action in about.protected:
            return about.protected[action]
        if self._waiting.on_loop():
            return f"{action.path}, which cannot be looked at from here"
        return self._wait(self._line.ask("protected", Guarded(action, workspace), str))

    def named(self, arguments: Any, workspace: str, home: str) -> Sequence[str]:
        """Every text in arguments as a path, and where that leads."""
        asked = Names(arguments, workspace, home)
        return self._wait(self._line.ask("named", asked, list[str]))

    def grounded(
        self, judgement: Judgement, place: CommandPlace, lines: str, *, shared: bool, outside: bool
    ) -> Judgement:
        """A judgement whose facts name what is really reached."""
        asked = Grounding(judgement, place, lines, shared, outside)
        return self._wait(self._line.ask("grounded", asked, Judgement))

    def _wait(self, asked: Coroutine[Any, Any, T]) -> T:
        if self._waiting.on_loop():
            asked.close()
            raise SteersmanError("Another machine's disk cannot be looked at here.")
        return self._waiting.wait(asked)
