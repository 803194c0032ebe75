"""All servers of a thread behind one door: found by words, described when chosen, called by name.

No server is started before it is used: lists of tools come from the cache where there is one. A
server that fails is left out with its reason, and nobody who looks around waits for it longer than
`patience`; whoever names a tool of it waits as long as its own `timeout` lets it take.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from steersman.operations.mcp.authority import effect, hidden, named
from steersman.operations.mcp.cache import Cache, Listing
from steersman.operations.mcp.catalogue import rank
from steersman.operations.mcp.server_slot import Later, Link, Progress, ServerSlot, later
from steersman.operations.mcp.starting import brought
from steersman.operations.mcp.templates import line_of
from steersman.records.errors import SteersmanError
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import (
    Condition,
    Effect,
    Outcome,
    RemoteTool,
    ServerProblem,
)

PATIENCE = 20.0
MOST_SELECTED = 40


class Found(Struct, frozen=True):
    """Tools in order of how well they fit, servers left out with the reason, ages in seconds.

    `unasked` are servers whose tools nobody knows and that did not have to be started.
    """

    tools: tuple[RemoteTool, ...]
    skipped: Mapping[str, str] = {}
    ages: Mapping[str, float] = {}
    unasked: tuple[str, ...] = ()


class Described(Struct, frozen=True):
    """Tools that were asked for by name, and by name why others cannot be had."""

    tools: tuple[RemoteTool, ...]
    problems: Mapping[str, str] = {}


class Gateway:
    """The servers of one thread.

    `connect` makes a link to a server and starts nothing yet. `workspace` shows which servers a
    folder brought: their word about what a tool does is not believed. `shared` gives the slots of
    servers that other threads use too; whoever made those ends them.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        connect: Callable[[Server], Link],
        cache: Cache,
        *,
        workspace: str = "",
        patience: float = PATIENCE,
        wait: Later = later,
        shared: Callable[[Server], ServerSlot] | None = None,
    ) -> None:
        self.servers = tuple(servers)
        self._cache = cache
        self._workspace = workspace
        self._patience = patience
        self._shared = {one.name: shared(one) for one in servers if shared and one.shared}
        self._own = {
            one.name: ServerSlot(one, connect, cache, wait)
            for one in servers
            if one.name not in self._shared
        }
        both = {**self._shared, **self._own}
        self._slots = {one.name: both[one.name] for one in servers}
        self._selected: dict[str, RemoteTool] = {}  # by the name a model calls it

    # What there is

    def enabled(self) -> tuple[Server, ...]:
        """The servers that may be used."""
        return tuple(server for server in self.servers if server.enabled)

    def conditions(self) -> list[Condition]:
        """How every server is doing."""
        return [slot.condition() for slot in self._slots.values()]

    def tools_of(self, server: str) -> tuple[RemoteTool, ...]:
        """The tools of a server as far as they are known without asking it, hidden ones too."""
        slot = self._slots.get(server)
        known = slot.known if slot is not None else None
        return known.tools if known else ()

    async def find(self, words: str = "", server: str = "", *, refresh: bool = False) -> Found:
        """Tools whose names and descriptions have the words; `refresh` asks the servers again.

        Of servers whose tools are not known, those are asked first whose own line has the words,
        and the others only when nothing else is found.
        """
        chosen = [self._slot(server)] if server else self._enabled()
        abouts = {slot.server.name: line_of(slot.server) for slot in chosen}
        rest = [] if server or refresh else self._unlikely(chosen, words, abouts)
        asked = [slot for slot in chosen if slot not in rest]
        listings, skipped = await self._listings(asked, refresh=refresh)
        tools = self._ranked(listings, words, abouts)
        if rest and not tools:
            more, failed = await self._listings(rest)
            listings, skipped, rest = {**listings, **more}, {**skipped, **failed}, []
            tools = self._ranked(listings, words, abouts)
        ages = {name: self._cache.age(listing) for name, listing in listings.items()}
        return Found(tuple(tools), skipped, ages, tuple(slot.server.name for slot in rest))

    def _unlikely(
        self, chosen: Sequence[ServerSlot], words: str, abouts: Mapping[str, str]
    ) -> list[ServerSlot]:
        """Servers whose tools are not known and whose own line has none of the words."""
        unknown = [slot for slot in chosen if slot.fresh is None]
        lines = [RemoteTool(slot.server.name, "", abouts[slot.server.name]) for slot in unknown]
        likely = {line.server for line in rank(lines, words)}
        return [slot for slot in unknown if slot.server.name not in likely]

    def _ranked(
        self, listings: Mapping[str, Listing], words: str, abouts: Mapping[str, str]
    ) -> list[RemoteTool]:
        tools = [
            tool
            for name in self._slots
            if name in listings
            for tool in self._offered(self._slots[name].server, listings[name])
        ]
        return rank(tools, words, abouts)

    async def describe(self, names: Sequence[str]) -> Described:
        """Everything about tools named as `server__tool`, and why some cannot be had."""
        problems: dict[str, str] = {}
        wanted: dict[str, ServerSlot] = {}
        for name in dict.fromkeys(names):
            slot = self._slot_of(name)
            if slot is None:
                problems[name] = f"Tools are named server__tool; servers: {self._names()}."
            else:
                wanted[name] = slot
        listings, skipped = await self._listings(list(wanted.values()), meant=True)
        tools = []
        for name, slot in wanted.items():
            found = self._the_tool(name, slot, listings.get(slot.server.name))
            if isinstance(found, RemoteTool):
                tools.append(found)
            else:
                problems[name] = skipped.get(slot.server.name, found)
        return Described(tuple(tools), problems)

    # What a model has chosen

    def select(self, names: Sequence[str]) -> tuple[RemoteTool, ...]:
        """Offer tools by their own names from now on; they must be known already."""
        for name in names:
            tool = self.tool(name)
            if tool is None:
                raise ServerProblem(
                    f"The tool “{name}” is not known.",
                    try_this="Look for it with mcp_list_tools.",
                )
            if tool.call_name not in self._selected and len(self._selected) >= MOST_SELECTED:
                raise ServerProblem(
                    f"{MOST_SELECTED} tools of MCP servers are selected already.",
                    "More would make every request long.",
                    "Call others with mcp_call_tool.",
                )
            self._selected.setdefault(tool.call_name, tool)
        return self.selected()

    def selected(self) -> tuple[RemoteTool, ...]:
        """The chosen tools in the order they were chosen, without any that a server has no more."""
        return tuple(tool for name in self._selected if (tool := self.tool(name)) is not None)

    def tool(self, name: str) -> RemoteTool | None:
        """A tool by the name a model calls it, if it is known and offered."""
        slot = self._slot_of(name)
        if slot is None or not slot.server.enabled:
            return None
        found = self._the_tool(name, slot, slot.known)
        return found if isinstance(found, RemoteTool) else None

    # What is done

    def effect(self, server: str, tool: str) -> Effect:
        """Whether a call counts as looking or as changing; what is not known may change things."""
        slot = self._slots.get(server)
        if slot is None:
            return "writes"
        said = named(tool, slot.server)
        if said is not None:
            return said
        personal = not brought(slot.server, self._workspace)
        for one in self.tools_of(server):
            if one.name == tool:
                return effect(one, slot.server, personal=personal)
        return "writes"

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        progress: Progress | None = None,
        *,
        internal: bool = False,
    ) -> Outcome:
        """Call a tool; one that is not offered to a model only for the host itself."""
        slot = self._slot(server)
        if not internal:
            listing = slot.known or await slot.listing()  # what it is, its tools tell
            why = hidden(tool, slot.server, {one.name for one in listing.tools})
            if why:
                raise ServerProblem(why)
        return await slot.call(tool, arguments, progress, whole=internal)

    def changed(self, server: str) -> None:
        """A server says that its tools are others now: it is asked again when they are needed."""
        if server in self._slots:
            self._slots[server].changed()

    async def close(self) -> None:
        """Stop every server that nobody else uses, and wait until all are gone."""
        await asyncio.gather(*(slot.close() for slot in self._own.values()))

    # Inside

    async def _listings(
        self, slots: Sequence[ServerSlot], *, refresh: bool = False, meant: bool = False
    ) -> tuple[dict[str, Listing], dict[str, str]]:
        """The lists of servers, all asked at the same time, and why some have none."""
        known: dict[str, Listing] = {}
        asked: dict[str, asyncio.Task[Listing]] = {}
        for slot in dict.fromkeys(slots):
            name, fresh = slot.server.name, None if refresh else slot.fresh
            if fresh is not None:
                known[name] = fresh
            else:
                asked[name] = asyncio.create_task(slot.listing(refresh=refresh))
        skipped: dict[str, str] = {}
        try:
            if asked:
                await asyncio.wait(asked.values(), timeout=None if meant else self._patience)
            for name, task in asked.items():
                found = self._came(name, task)
                if isinstance(found, Listing):
                    known[name] = found
                else:
                    skipped[name] = found
        finally:
            for task in asked.values():
                task.cancel()  # only the waiting ends: a server that starts continues starting
        return known, skipped

    def _came(self, name: str, task: asyncio.Task[Listing]) -> Listing | str:
        if not task.done():
            return f"It has not listed its tools within {self._patience:g} s; ask again later."
        try:
            return task.result()
        except SteersmanError as error:
            return " ".join(part for part in (error.what, error.why) if part)
        except Exception as error:
            # A defect in the way to one server must not hide the others.
            return f"The connection to {name} failed: {type(error).__name__}: {error}"

    def _offered(self, server: Server, listing: Listing) -> list[RemoteTool]:
        names = {tool.name for tool in listing.tools}
        return [tool for tool in listing.tools if not hidden(tool.name, server, names)]

    def _the_tool(self, name: str, slot: ServerSlot, listing: Listing | None) -> RemoteTool | str:
        """The tool a name means, or a sentence."""
        server = slot.server
        if listing is None:
            return f"The tools of {server.name} are not known."
        for tool in listing.tools:
            if name in (tool.call_name, tool.full_name):
                why = hidden(tool.name, server, {one.name for one in listing.tools})
                return why or tool
        short = name[len(server.name) + 2 :]
        near = [tool.call_name for tool in rank(self._offered(server, listing), short)[:5]]
        return f"{server.name} has no such tool" + (f"; near: {', '.join(near)}." if near else ".")

    def _enabled(self) -> list[ServerSlot]:
        return [slot for slot in self._slots.values() if slot.server.enabled]

    def _names(self) -> str:
        return ", ".join(server.name for server in self.enabled()) or "none"

    def _slot(self, name: str) -> ServerSlot:
        slot = self._slots.get(name)
        if slot is None:
            raise ServerProblem(f"There is no MCP server “{name}”.", f"There are: {self._names()}.")
        if not slot.server.enabled:
            raise ServerProblem(
                f"The MCP server {name} is disabled.",
                try_this=f"The user can enable it: steer mcp enable {name}",
            )
        return slot

    def _slot_of(self, name: str) -> ServerSlot | None:
        """The server whose tool a name is; none ends in one or has two in its own."""
        server, mark, _ = name.partition("__")
        return self._slots.get(server) if mark else None
