"""What the status shows: facts of the seat and of the log, gathered; and the two ways to say them.

Pure apart from `branch`, which reads two small files of git.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping
from socket import gethostname
from typing import Any

from msgspec import Struct

from steersman.host import models
from steersman.host.writing import writable
from steersman.records.errors import UsageProblem
from steersman.records.plain_files import read_plain
from steersman.records.settings import Settings
from steersman.records.thread import Process
from steersman.views.blocks import Block, Work
from steersman.views.filling import percent
from steersman.views.seat import Doing, Seat
from steersman.views.story import Story
from steersman.views.text import amount, counted, one_line, tokens


class Facts(Struct, frozen=True):
    """Show the status."""

    doing: Doing = "nothing"
    owner: str = ""
    mode: str = "code"
    trust: str = ""
    approvals: str = ""
    model: str = ""
    effort: str = ""
    window: int = 0
    used: int = 0
    cost: float = 0.0
    tokens: int = 0
    thread: str = ""
    title: str = ""
    folder: str = ""
    branch: str = ""
    servers: tuple[str, ...] = ()
    code: str = ""
    waiting: int = 0
    queued: int = 0
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    jobs: int = 0


def at_home(folder: str, environ: Mapping[str, str]) -> str:
    """A folder as a person writes it: below their home with `~`."""
    home = environ.get("HOME", "").rstrip("/")
    below = folder.removeprefix(f"{home}/") if home else folder
    return f"~/{below}" if below != folder else folder


def branch(folder: str) -> str:
    """The branch a folder's repository is on, or the beginning of a commit; empty without one."""
    try:
        inner = _git_folder(folder)
        head = _head(os.path.join(inner, "HEAD")) if inner else ""
    except (OSError, UnicodeDecodeError):
        return ""
    if head.startswith("ref:"):
        return one_line(head.removeprefix("ref:").strip().removeprefix("refs/heads/"), 60)
    return one_line(head[:9], 60)


def last_move(folder: str) -> int:
    """When a folder's repository last went to another commit, as git notes it; 0 if unknown."""
    try:
        return os.stat(os.path.join(_git_folder(folder), "logs", "HEAD")).st_mtime_ns
    except (OSError, UnicodeDecodeError):
        return 0


def _git_folder(folder: str) -> str:
    """Where git keeps the HEAD of the repository that a folder is in; empty without one."""
    place = os.path.realpath(folder)
    while not os.path.exists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above
    inner = os.path.join(place, ".git")
    if os.path.isfile(inner):  # a worktree says where its own part of the repository is
        return os.path.join(place, _head(inner).removeprefix("gitdir:").strip())
    return inner


def _head(path: str) -> str:
    return read_plain(path, 4096).decode().strip()


def _git_now(folder: str) -> tuple[str, str, int]:
    return folder, branch(folder), last_move(folder)


def servers(seat: Seat) -> tuple[str, ...]:
    """The MCP servers of the thread, and how they do."""
    if not seat.here:
        return ()
    try:
        gateway = seat.host.servers(seat.id)
    except UsageProblem:
        return ()
    if gateway is None:
        return ()
    told = []
    for one in gateway.conditions():
        if one.state != "disabled":
            told.append(one.server if one.state == "idle" else f"{one.server} ({one.state})")
    return tuple(told)


def owner(process: Process | None) -> str:
    """The other process that runs a thread, as a person would look for it."""
    if process is None:
        return ""
    place = "" if process.machine == gethostname() else f" on {one_line(process.machine, 40)}"
    return f"process {process.pid}{place}"


def code_backend(blocks: Iterable[Block]) -> str:
    """What answered the last question about code, as the log has it."""
    for block in blocks:
        if isinstance(block, Work) and block.result is not None:
            output: Any = block.result.output
            if isinstance(output, dict) and isinstance(output.get("backend"), str):
                return str(output["backend"])
    return ""


def writes_to(seat: Seat, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Where the agent may write, as a person reads it."""
    found = writable(seat.folder, seat.settings, environ)
    return tuple(at_home(place, environ) for place in found)


class Gathering:
    """Gathers the facts. What is slow to find out is kept until the settings or folder change."""

    def __init__(self, seat: Seat, environ: Mapping[str, str]) -> None:
        self._seat = seat
        self._environ = environ
        self._of_model: tuple[Settings, int, str] | None = None
        self._branch: tuple[str, str, int] = ("", "", 0)  # and the folder, and its last move

    def look(self) -> None:
        """Look at the folder again: a command may have changed the branch."""
        self._branch = _git_now(self._seat.folder)

    async def look_again(self) -> tuple[bool, bool]:
        """Look beside the event loop: whether the branch is another, and whether its commit is."""
        before = self._branch
        found = await asyncio.to_thread(_git_now, self._seat.folder)
        self._branch = found
        return found[:2] != before[:2], found[0] == before[0] and found[2] != before[2]

    def facts(self, story: Story) -> Facts:
        """Show the status."""
        seat, settings, usage = self._seat, self._seat.settings, story.usage
        if self._branch[0] != seat.folder:
            self.look()
        if self._of_model is None or self._of_model[0] is not settings:
            effort = settings.effort if settings.effort != "default" else ""
            if effort and not models.takes_effort(settings, self._environ):
                effort = ""
            self._of_model = (settings, models.window(settings, self._environ), effort)
        return Facts(
            doing=seat.doing,
            owner=owner(seat.owner),
            mode=settings.mode,
            trust=settings.trust,
            approvals=settings.approvals,
            model=usage.model or (story.session.model if story.session else "") or settings.model,
            effort=self._of_model[2],
            window=self._of_model[1],
            used=usage.context,
            cost=usage.cost,
            tokens=usage.input + usage.output,
            thread=seat.id,
            title=seat.thread.title if seat.thread else "",
            folder=at_home(seat.folder, self._environ),
            branch=self._branch[1],
            servers=servers(seat),
            code=code_backend(reversed(story.blocks[-200:])),
            waiting=len(story.waiting()),
            queued=len(story.queued()),
            writable=writes_to(seat, self._environ),
            readable=tuple(at_home(one, self._environ) for one in settings.add_dir),
            jobs=len(seat.jobs),
        )


def money(cost: float) -> str:
    """Dollars: cents as they are, less than that with four places."""
    return f"${cost:.2f}" if cost >= 0.1 or cost == 0 else f"${cost:.4f}"


def share(facts: Facts) -> str:
    """How much of the window is used."""
    if not facts.used:
        return ""
    if not facts.window:
        return tokens(facts.used)
    return f"{percent(facts.used, facts.window)} of {amount(facts.window)}"


def short_model(name: str) -> str:
    """A model without what everybody knows: a script's folder, a provider's prefix."""
    kind, _, rest = name.partition(":")
    if kind == "scripted":
        return f"scripted:{os.path.basename(rest)}"
    return name


def bar(facts: Facts, width: int) -> list[str]:
    """The status in one line, the most important first; as many parts as fit."""
    parts = [
        f"runs in {facts.owner}" if facts.owner else "",
        facts.mode,
        one_line(short_model(facts.model), 32) or "no model",
        f"effort {facts.effort}" if facts.effort else "",
        share(facts),
        money(facts.cost) if facts.cost else "",
        f"{facts.queued} queued" if facts.queued else "",
        counted(facts.jobs, "job") if facts.jobs else "",
        facts.branch,
        facts.trust,
        facts.approvals,
        f"mcp {len(facts.servers)}" if facts.servers else "",
        f"code {facts.code}" if facts.code else "",
    ]
    kept: list[str] = []
    room = width
    for part in filter(None, parts):
        need = len(part) + (3 if kept else 0)
        if need <= room:
            kept.append(part)
            room -= need
    return kept


def rows(facts: Facts) -> list[tuple[str, str]]:
    """The status as a table; what there is nothing to say about is left out."""
    doing = "working" if facts.doing == "working" else "ready"
    waits = f", {facts.waiting} to answer" if facts.waiting else ""
    table = [
        ("thread", f"{facts.thread or 'new'}"),
        ("title", one_line(facts.title, 200)),
        ("state", doing + waits),
        ("runs in", facts.owner),
        ("model", short_model(facts.model) or "none"),
        ("effort", facts.effort),
        ("mode", facts.mode),
        ("trust", facts.trust),
        ("approvals", facts.approvals),
        ("writes", ", ".join(facts.writable) or "nothing"),
        ("also reads", one_line(", ".join(facts.readable), 200)),
        ("context", share(facts) or "nothing yet"),
        ("cost", f"{money(facts.cost)} · {tokens(facts.tokens)}"),
        ("folder", one_line(facts.folder, 200)),
        ("branch", facts.branch),
        ("servers", ", ".join(facts.servers)),
        ("jobs", f"{facts.jobs} running (/jobs)" if facts.jobs else ""),
        ("code", facts.code),
    ]
    return [(name, value) for name, value in table if value]
