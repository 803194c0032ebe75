"""The threads of another machine, over its `steer serve`: what commands ask of a `Host`, as far as
they ask it of threads that run elsewhere anyway."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any

from steersman.client import AsyncClient, Client
from steersman.client.connecting import PATIENCE, address, is_here
from steersman.host.remote_facts import NotUnderstood, apart, further
from steersman.host.remote_handle import RemoteHandle
from steersman.records.dialogue import Image
from steersman.records.errors import UsageProblem
from steersman.records.message import Message
from steersman.records.thread import Thread, ThreadState
from steersman.records.thread_facts import ThreadFacts

PAGE = 500
MOST = 100_000  # threads of a server
REACH = 1.0  # seconds in which a server must answer at first; later it may be away for longer


class Remote:
    """One server's threads. Use it as an async context manager where threads are spoken to."""

    def __init__(self, url: str, token: str, *, plain_http: bool = False) -> None:
        _check(url, plain_http=plain_http)
        self.url = url.rstrip("/")
        self._token = token
        self._client = Client(self.url, token, patience=REACH)
        self._known: dict[str, ThreadState] = {}

    async def __aenter__(self) -> "Remote":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._client.close()
        if "_speaking" in self.__dict__:
            await self._speaking.close()

    @cached_property
    def _speaking(self) -> AsyncClient:
        return AsyncClient(self.url, self._token)

    def threads(self, *workspaces: str) -> list[Thread]:
        """Threads, of some workspaces or all, the most recently used first."""
        found = [one for each in workspaces or ("",) for one in self._listed(workspace=each)]
        return sorted(map(self._note, found), key=lambda one: one.updated, reverse=True)

    def states(self, threads: Sequence[Thread]) -> dict[str, ThreadState]:
        """What threads were doing when they were looked up."""
        return {one.id: self._known[one.id] for one in threads}

    def find(self, wanted: str) -> Thread:
        """The thread a person means by an id or the beginning of one."""
        matches = [one for one in self._listed(q=wanted) if one.id.startswith(wanted)]
        if wanted and len(matches) == 1:
            return self._note(matches[0])
        if wanted and matches:
            ids = ", ".join(one.id for one in matches)
            raise UsageProblem(
                f"“{wanted}” matches several thread ids: {ids}.", try_this="Type more."
            )
        raise UsageProblem(
            f"There is no thread “{wanted}” at {self.url}.",
            try_this=f"`steer threads list --connect {self.url}` shows them.",
        )

    def latest(self, *workspaces: str) -> Thread:
        """The conversation last worked on, in a workspace or anywhere."""
        for thread in self.threads(*workspaces):
            if thread.origin != "call":
                return thread
        where = workspaces[0] if workspaces else self.url
        raise UsageProblem(f"There is no thread for {where} yet.")

    def messages(
        self, thread_id: str, *, after: int = 0, kinds: Collection[str] | None = None
    ) -> Iterator[Message]:
        """Stored messages in order."""
        while True:
            page = self._client.messages(thread_id, after, limit=PAGE, kinds=sorted(kinds or ()))
            yield from page.messages
            if len(page.messages) < PAGE:
                return
            after = further(after, page.messages[-1].seq)

    async def tidy(self, thread_id: str) -> str:
        """Nothing: the server sees to its threads."""
        return ""

    async def attach(self, thread_id: str) -> RemoteHandle:
        """A handle on a thread."""
        thread = await asyncio.to_thread(self.find, thread_id)
        self._client.patience = PATIENCE
        return RemoteHandle(self._speaking, thread)

    async def start(
        self, folder: str, text: str, images: tuple[Image, ...], **how: Any
    ) -> RemoteHandle:
        """Make a thread there that works on these words; the server runs it."""
        await asyncio.to_thread(self._client.threads, limit=1)  # nobody there is said at once
        self._client.patience = PATIENCE
        made = await self._speaking.start(folder, text, images=images, **how)
        return RemoteHandle(self._speaking, self._note(made))

    def _listed(self, workspace: str = "", q: str = "") -> Iterator[ThreadFacts]:
        skip, more = 0, True
        while more:
            page = self._client.threads(workspace, q, calls=True, skip=skip, limit=PAGE)
            yield from page.threads
            skip, more = skip + len(page.threads), page.more and bool(page.threads)
            if skip > MOST:
                raise NotUnderstood

    def _note(self, facts: ThreadFacts) -> Thread:
        thread, self._known[facts.id] = apart(facts)
        return thread


def _check(url: str, *, plain_http: bool) -> None:
    """Refuse an address that would give a secret away; the address may have one: it is not said."""
    if any(sign in url for sign in "@?#"):
        raise UsageProblem(
            "An address has no name, password or token in it.",
            "Whoever sees your command line or a log could read it.",
            "Set STEERSMAN_TOKEN, or pass --token-file FILE.",
        )
    parts = address(url)
    if parts.scheme == "http" and not (plain_http or is_here(parts.hostname or "")):
        raise UsageProblem(
            f"{parts.hostname} would be reached without TLS.",
            "Whoever listens on the way reads your token.",
            "Use its https address. Pass --plain-http if the way there is safe by itself.",
        )
