"""The decision itself: a pure function from an action and its circumstances to a verdict.

Order, first match wins: circuit breaker, trust ceiling, secret files, mode, secrets that would be
sent, rules, remembered answers, approvals level. `steps` gives the whole way, for people who want
to know why.
"""

from collections.abc import Callable, Iterator
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from steersman.governance import breaker, levels, modes
from steersman.governance.leaks import Leak
from steersman.governance.naming import paths_in
from steersman.governance.rule import BEHIND_HOOKS
from steersman.records.action import (
    LISTING,
    Action,
    ChangeMany,
    Delete,
    Execute,
    List,
    McpCall,
    Network,
    Read,
    Search,
    Setting,
    SpawnAgent,
    Verdict,
    Write,
)
from steersman.records.far_disk import far_disk
from steersman.records.judgement import Judgement
from steersman.records.protection import inside
from steersman.records.secret_files import PLAIN_SIGHT, SecretFiles
from steersman.records.settings import Approvals as Approvals
from steersman.records.settings import Mode as Mode

Trust = Literal["restricted", "sandboxed", "untrusted"]
Containment = Literal["full", "weaker", "none"]
# Settings about how work is done; every other one says what may be done, or what is run.
FREE = frozenset({"model", "effort", "mode", "output_style", "window", "max_steps", "on_hangup"})


class Book(Protocol):
    """Rules that may decide on an action."""

    def verdict(
        self, action: Action, tool: str, judgement: Judgement | None, workspace: str
    ) -> Verdict | None:
        """The word of the strictest rule that matches, if any does."""
        ...

    def allows_servers(self) -> bool:
        """Whether a rule allows any tool of an MCP server."""
        ...

    def names(self, action: Action, workspace: str) -> bool:
        """Whether a rule allows a change by the very name of the file."""
        ...


class Blank:
    """No rules."""

    def verdict(
        self, action: Action, tool: str, judgement: Judgement | None, workspace: str
    ) -> Verdict | None:
        """None."""
        return None

    def allows_servers(self) -> bool:
        """None does."""
        return False

    def names(self, action: Action, workspace: str) -> bool:
        """None does."""
        return False


BLANK = Blank()


class Circumstances(Struct, frozen=True):
    """What a decision depends on besides the action. Paths are resolved.

    `plan` is the one file plan mode may write. `containment` shows how well commands are confined
    here, `bare` that the user lets them run where nothing confines them, `safer` that a command
    is replaced by its safer form where there is one, `guard` "refuse" that what the guard would ask
    about is refused. `rules` are written in files, `answers` are
    what people said before; `secret_files` names the secret files, `leak` finds a secret in what
    would be sent, and `readable` are the folders outside the workspace that may be read.
    """

    workspace: str
    mode: Mode = "code"
    trust: Trust = "sandboxed"
    approvals: Approvals = "on-request"
    home: str = ""
    plan: str = ""
    containment: Containment = "full"
    bare: bool = False
    safer: bool = False
    guard: Literal["ask", "refuse"] = "ask"
    rules: Book = BLANK
    answers: Book = BLANK
    secret_files: SecretFiles = PLAIN_SIGHT
    leak: Callable[[str], Leak | None] = lambda text: None
    readable: tuple[str, ...] = ()


class Evidence(Struct, frozen=True):
    """What was found out before an action is judged: who asks, and what the guard read."""

    tool: str = ""
    judgement: Judgement | None = None


NOTHING = Evidence()


class Step(Struct, frozen=True):
    """One step of a decision; the first with a verdict decides."""

    name: str
    verdict: Verdict | None


def decide(action: Action, where: Circumstances, evidence: Evidence = NOTHING) -> Verdict:
    """The verdict on one action."""
    for step in steps(action, where, evidence):
        if step.verdict is not None:
            return step.verdict
    raise AssertionError("the last step always decides")


def steps(action: Action, where: Circumstances, evidence: Evidence) -> Iterator[Step]:
    """Every step of a decision, in order."""
    judgement = evidence.judgement
    read = judgement if isinstance(action, Execute) else None
    asked = (_for_rules(action, where), read, where.workspace)
    tools = _names(action, evidence.tool)
    yield Step("circuit breaker", breaker.verdict(action, judgement, where.workspace, where.home))
    yield Step("trust ceiling", _ceiling(action, where))
    yield Step("secret files", _secrets(action, where))
    yield Step("mode", _mode(action, where, read))
    yield Step("commands in arguments", _carried(action, judgement))
    yield Step("a strict guard", _strictly(judgement, where))
    yield Step("the user's own undo", _undo(action))
    spoken = (isinstance(action, ChangeMany) and action.named) or (
        isinstance(action, Execute) and bool(action.failed)  # each failure is asked about
    )
    yield Step("secrets that would be sent", _sent(action, where, tools))
    yield Step("rules", None if spoken else _ruled(where, tools, *asked))
    yield Step("remembered answers", None if spoken else _word(where.answers, tools, *asked))
    yield Step("approvals level", _approvals(action, where, judgement))


def _names(action: Action, tool: str) -> tuple[str, ...]:
    """The names under which rules may speak of a tool: a server's has its own, however called."""
    if isinstance(action, McpCall):
        return tuple(dict.fromkeys((tool, f"{action.server}__{action.tool}")))
    return (tool,)


def _word(
    book: Book,
    tools: tuple[str, ...],
    action: Action,
    judgement: Judgement | None,
    workspace: str,
) -> Verdict | None:
    """The strictest word that a book has on an action, under any of the tool's names."""
    said = (book.verdict(action, tool, judgement, workspace) for tool in tools)
    strict = ("deny", "ask", "allow")
    return min(filter(None, said), key=lambda one: strict.index(one.decision), default=None)


def _ruled(
    where: Circumstances,
    tools: tuple[str, ...],
    action: Action,
    judgement: Judgement | None,
    workspace: str,
) -> Verdict | None:
    """The word of rules; about what hooks run, an answer that names the file comes first."""
    word = _word(where.rules, tools, action, judgement, workspace)
    behind = word is not None and word.decision == "ask" and word.rule.startswith(BEHIND_HOOKS)
    return None if behind and where.answers.names(action, workspace) else word


def _ceiling(action: Action, where: Circumstances) -> Verdict | None:
    match action:
        case Write() | Delete() | ChangeMany() | Execute() | Network() | Setting() if (
            where.trust == "restricted"
        ):
            return Verdict(
                "deny",
                "trust.restricted",
                "this folder is open with restricted trust: nothing may be written, run or fetched",
                "say what you would change; the user can raise the trust with --trust sandboxed",
            )
        case Setting(key=key) if key not in FREE:
            reason = f"“{key}” decides what agents may do, so only you set it"
            return Verdict("deny", "settings.yours", reason, f"ask for: steer config set {key} …")
        case McpCall() if where.trust == "restricted":
            return Verdict("deny", "trust.restricted", "restricted trust: no server is started")
        case Write(path=path) | Delete(path=path) | ChangeMany(path=path):
            # Whatever the trust: what is outside the workspace could not be undone.
            return _within(path, where)
        case Execute(writes=writes) if any(_holds_much(path, where) for path in writes):
            reason = (
                "a folder that holds the workspace or the home folder is not opened to commands"
            )
            return Verdict("deny", "paths.outside", reason, "name the file that is to be written")
        case Read(path=path) | List(path=path) | Search(path=path) if _added(path, where):
            return None
        case Read(path=path) | List(path=path) | Search(path=path) | Execute(cwd=path):
            return None if where.trust == "untrusted" else _within(path, where)
    return None


def _holds_much(path: str, where: Circumstances) -> bool:
    return inside(where.workspace, path) or bool(where.home and inside(where.home, path))


def _added(path: str, where: Circumstances) -> bool:
    """Whether a path is in a folder beside the workspace that the user lets the agent read."""
    return any(inside(path, folder) for folder in where.readable)


def _within(path: str, where: Circumstances) -> Verdict | None:
    if inside(path, where.workspace):
        return None
    if _added(path, where):
        reason = f"{path} is in a folder that was added for reading only"
        return Verdict("deny", "paths.readable", reason, "change files inside the workspace")
    reason = f"{path} is outside the workspace {where.workspace}"
    return Verdict("deny", "paths.outside", reason, "use paths inside the workspace")


def forbids(action: Action, where: Circumstances) -> bool:
    """Whether the mode denies what a tool does, whatever its arguments are."""
    word = _mode(action, where, None)
    return word is not None and word.decision == "deny"


def _mode(action: Action, where: Circumstances, judgement: Judgement | None) -> Verdict | None:
    if isinstance(action, ChangeMany) and action.named and action.origin == "tool":
        return None  # the mode had its word on each change
    return modes.verdict(
        action,
        where.mode,
        where.workspace,
        where.plan,
        where.containment,
        judgement,
        where.approvals,
        lambda: _named(action, where),
    )


def _named(action: Action, where: Circumstances) -> bool:
    """Whether a rule that the user wrote allows it by its name; those of a project only tighten.

    To see what tools there are is allowed where some are.
    """
    if isinstance(action, McpCall) and action.tool == LISTING:
        return where.rules.allows_servers()
    word = _word(where.rules, _names(action, "")[-1:], action, None, where.workspace)
    return word is not None and word.decision == "allow"


def _secrets(action: Action, where: Circumstances) -> Verdict | None:
    match action:
        case Read(path=path) | Search(path=path):
            pass
        case Write(path=path, before=before, origin="tool") if before:
            pass
        case Delete(path=path, origin="tool"):
            pass
        case McpCall(arguments=arguments):
            there = far_disk()
            look = paths_in if there is None else there.named
            named = look(arguments, where.workspace, where.home)
            path = next(filter(where.secret_files.covers, named), "")
        case _:
            return None
    if not (why := where.secret_files.covers(path)):
        return None
    return Verdict(
        "deny",
        "secrets.hidden",
        f"{path} contains secrets ({why})",
        "continue without it; the user can name exceptions in .steersmanignore "
        "and agree to them with `steer policy trust`",
    )


def _sent(action: Action, where: Circumstances, tools: tuple[str, ...]) -> Verdict | None:
    """A secret in an address or a search: an answer about the host was not meant for that."""
    if not isinstance(action, Network):
        return None
    leak = where.leak(f"{action.host} {action.url} {action.query}")
    if leak is None:
        return None
    part = "search" if action.query else "address"
    if leak.known:
        reason = f"the {part} contains {leak.what}"
        return Verdict("deny", "secrets.sent", reason, f"leave it out of the {part}")
    books = (where.rules, where.answers)
    said = [_word(book, tools, action, None, where.workspace) for book in books]
    if action.near or any(word and word.decision == "deny" for word in said):
        return None  # what may be on this machine is not asked about, nor what is denied anyway
    what = f"{_reaching(action)[1]}, with {leak.what} in the {part},"
    return levels.asked(where.approvals, "secrets.sent", what, contained=False)


def _carried(action: Action, judgement: Judgement | None) -> Verdict | None:
    """A command that a server would run: what the guard blocks no rule about the tool allows."""
    if not isinstance(action, McpCall) or judgement is None or judgement.verdict != "block":
        return None
    reason = f"the arguments carry a command that the guard blocks: {judgement.reason}"
    return Verdict("deny", judgement.rule, reason, judgement.instead)


def _strictly(judgement: Judgement | None, where: Circumstances) -> Verdict | None:
    """What the guard would ask about, where the settings have it refused."""
    if where.guard == "ask" or judgement is None or judgement.verdict != "ask":
        return None
    why = judgement.reason.rstrip(".")
    reason = f"{why}, and the setting `guard` refuses what the guard would ask about"
    return Verdict("deny", judgement.rule, reason, judgement.instead)


def _undo(action: Action) -> Verdict | None:
    match action:
        case Write(origin="person") | Delete(origin="person") | ChangeMany(origin="person"):
            return Verdict("allow", "person.undo", "the user undoes a change")
        case Write(origin="past") | Delete(origin="past") | ChangeMany(origin="past"):
            return Verdict(
                "allow", "command.past", "the command was allowed to run on the folder itself"
            )
    return None


def unconfined(where: Circumstances) -> bool:
    """Whether nothing confines commands here."""
    free = where.trust == "untrusted" or where.containment == "none"
    return free and not modes.looks_only(where.mode)


def _for_rules(action: Action, where: Circumstances) -> Action:
    """An action as rules see it: where nothing confines commands, each is outside the sandbox."""
    if isinstance(action, Execute) and unconfined(where):
        return msgspec.structs.replace(action, outside=True)
    return action


def _approvals(action: Action, where: Circumstances, judgement: Judgement | None) -> Verdict:
    match action:
        case Read() | List() | Search():
            return Verdict("allow", "paths.inside", "looking at files that may be read")
        case SpawnAgent():
            return Verdict("allow", "agents.gated", "everything the agent does is gated itself")
        case McpCall(server=server, tool=tool) if judgement and judgement.verdict == "ask":
            what = f"{tool} of the MCP server {server}, with a command ({judgement.reason}),"
            return levels.asked(where.approvals, judgement.rule, what, contained=False)
        case McpCall(effect="reads"):
            return Verdict("allow", "mcp.reads", "the server says that this only reads")
        case Execute():
            # Planning happens in the sandbox, however far the folder is trusted.
            trust = "sandboxed" if modes.looks_only(where.mode) else where.trust
            return levels.again(action, where.approvals) or levels.execute(
                action, judgement, trust, where.approvals, where.containment, where.bare
            )
        case Network():
            return _reached(action, where.approvals)
        case McpCall() | Setting():
            return levels.asked(where.approvals, *_beyond(action), contained=False)
        case Write() | Delete() | ChangeMany():
            return levels.change(action, where.workspace, where.approvals)


def _beyond(action: McpCall | Setting) -> tuple[str, str]:
    """The rule for what no sandbox contains, and what it is."""
    if isinstance(action, Setting):
        return "settings.change", f"a change of your setting {action.key}"
    return (
        "mcp.writes",
        f"{action.tool} of the MCP server {action.server}, which may change things,",
    )


def _reached(action: Network, approvals: Approvals) -> Verdict:
    if action.near:
        reason = f"{action.host} is {action.near}, and no rule names it"
        host = f"[{action.host}]" if ":" in action.host else action.host
        rule = f"WebFetch(domain:{host}:{action.port})"
        instead = f"the user can allow it by its exact name: --allow '{rule}'"
        return Verdict("deny", "network.near", reason, instead)
    return levels.asked(approvals, *_reaching(action), contained=False)


def _reaching(action: Network) -> tuple[str, str]:
    """The rule for a connection, and what it is: of a package manager, with all that it names."""
    if action.query:
        return "network.unknown", f"a search of the web with {action.host}"
    if action.url:
        return "network.unknown", f"reading a page of {action.host}:{action.port}"
    if not action.registries:
        return "network.unknown", f"a connection to {action.host}:{action.port}"
    hosts = ", ".join(host.removesuffix(":443") for host in action.registries)
    told = f"letting package managers reach the registries that this project names ({hosts})"
    return "network.registries", told
