"""A process that asks things of a thread which another one runs, and notes what it heard.

`python -m tests.faults.sender THREAD NOTES DEEDS`; a note is written before a request is posted,
after it, and when its outcome is known.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from steersman.host import Host
from steersman.host.attached import Attached
from steersman.records.errors import SteersmanError, StorageProblem, TooLate, UsageProblem
from steersman.records.inbox import Asked, Request
from steersman.records.message import ConfirmResponse
from tests.faults.plan import Deed

PATIENCE = 20.0


class Note(Struct, frozen=True, omit_defaults=True):
    """What a sender knows about a deed so far."""

    deed: int
    verb: str
    text: str
    about: str = ""
    request: str = ""
    heard: str = ""


class Asking(Attached):
    """A handle that notes every request it has posted."""

    noted: Note
    notes: BinaryIO

    async def post(self, asked: Asked) -> Request:
        """Put something into the thread's inbox."""
        request = await super().post(asked)
        self.note(request=request.id)
        return request

    def note(self, **news: Any) -> None:
        """Write down what is known now, in one piece."""
        self.noted = msgspec.structs.replace(self.noted, **news)
        self.notes.write(msgspec.json.encode(self.noted) + b"\n")


class Sender:
    """Does its deeds one after the other."""

    def __init__(self, handle: Asking) -> None:
        self._handle = handle
        self._queued: list[str] = []

    async def do(self, number: int, deed: Deed) -> None:
        """Ask one thing; whatever comes of it is noted."""
        handle = self._handle
        about = await self._about(deed)
        if about is None:
            return
        handle.noted = Note(number, deed.verb, deed.text, about)
        handle.note()
        try:
            async with asyncio.timeout(PATIENCE):
                await self._ask(deed, about)
        except TimeoutError:
            handle.note(heard="nothing")
        except TooLate:
            handle.note(heard="too_late")
        except UsageProblem:
            handle.note(heard="refused")
        except StorageProblem as problem:
            handle.note(heard=f"problem: {problem.what}")
        except SteersmanError as problem:
            expired = problem.what.startswith("No process accepted the request in time")
            handle.note(heard="expired" if expired else f"problem: {problem.what}")
        else:
            handle.note(heard="taken")

    async def _about(self, deed: Deed) -> str | None:
        """The message or request a deed is about; None when there is nothing to do it to."""
        match deed.verb:
            case "withdraw":
                return self._queued.pop() if self._queued else None
            case "allow" | "deny":
                for _ in range(40):
                    state = await self._handle.state()
                    if state.activity.waiting:
                        return state.activity.waiting[0].corr
                    await asyncio.sleep(0.05)
                return None
        return ""

    async def _ask(self, deed: Deed, about: str) -> None:
        handle = self._handle
        match deed.verb:
            case "send":
                await handle.send(deed.text)
            case "steer":
                self._queued.append(await handle.steer(deed.text))
            case "queue":
                self._queued.append(await handle.queue(deed.text))
            case "withdraw":
                await handle.withdraw(about)
            case "allow":
                await handle.answer(about, ConfirmResponse("allow", deed.text))
            case "deny":
                await handle.answer(about, ConfirmResponse("deny", deed.text))
            case "cancel":
                await handle.cancel()
            case "set":
                await handle.set(title=deed.text)
            case "compact":
                await handle.compact()
            case "close":
                await handle.close()


async def main(thread: str, notes: str, deeds: list[Deed]) -> None:
    """Ask everything."""
    async with Host.at(Path(os.environ["STEERSMAN_HOME"]), os.environ) as host:
        handle = Asking(host, host.find(thread), None)
        with open(notes, "ab", buffering=0) as handle.notes:
            sender = Sender(handle)
            for number, deed in enumerate(deeds):
                await asyncio.sleep(deed.pause)
                try:
                    await sender.do(number, deed)
                except StorageProblem as problem:
                    print(f"{deed.verb}: {problem}", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], msgspec.json.decode(sys.argv[3], type=list[Deed])))
