"""A rule made ready to be asked: whether it forbids an action, or allows it.

What several rules say together is in `rules.py`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from functools import cached_property

from msgspec import Struct

from steersman.governance.rule import REMEMBERED, WRITTEN, Rule, RuleProblem
from steersman.governance.rule_paths import PathPattern, Spot, Touch, path_pattern, spot
from steersman.governance.rule_words import check_command, mentions, programs, started
from steersman.records.action import (
    Action,
    ChangeMany,
    Delete,
    Execute,
    List,
    McpCall,
    Network,
    Read,
    Search,
    Write,
)
from steersman.records.judgement import Fact, Judgement
from steersman.records.protection import protected

LONGEST_NAME = 500

Hosts = Callable[[str, int], bool]


class Matter:
    """An action with all that rules compare about it, found out once."""

    def __init__(
        self, action: Action, tool: str, judgement: Judgement | None, workspace: str
    ) -> None:
        self.action = action
        self.tool = tool
        self.workspace = workspace
        self.facts = judgement.facts if judgement is not None else ()
        self.blocked = judgement is not None and judgement.verdict == "block"
        self.plain = judgement is not None and judgement.plain

    @cached_property
    def spot(self) -> Spot:
        """Where the action is."""
        return spot(getattr(self.action, "path", ""), self.workspace)

    @cached_property
    def touched(self) -> list[tuple[Touch, Spot]]:
        """What is done to which path, as far as it is known."""
        if isinstance(self.action, Execute):
            named = [*touches(self.facts), *(("write", path) for path in self.action.writes)]
            return [(touch, spot(path, self.workspace)) for touch, path in named]
        return [(touch, self.spot) for touch in touch_of(self.action)]

    @cached_property
    def programs(self) -> frozenset[str]:
        """The names of the programs of a command line."""
        return started(self.facts)

    @cached_property
    def hosts(self) -> list[tuple[str, int]]:
        """The hosts that are named."""
        if isinstance(self.action, Network):
            return [(self.action.host, self.action.port)]
        named = [name for fact in self.facts for name in fact.network if name != "*"]
        named += self.action.reaches if isinstance(self.action, Execute) else ()
        return [host_of(name) for name in named]


class Ready(Struct, frozen=True):
    """A rule with its subject compiled: exactly one of the others is there, or it is a command.

    `programs` are those that a rule about commands may be about, None for any.
    """

    rule: Rule
    path: PathPattern | None = None
    tool: re.Pattern[str] | None = None
    mcp: tuple[re.Pattern[str], re.Pattern[str]] | None = None
    hosts: Hosts | None = None
    programs: frozenset[str] | None = None

    def against(self, matter: Matter) -> bool:
        """Whether this rule, which asks or denies, decides on the matter."""
        action = matter.action
        if self.tool is not None:
            return self.tool.fullmatch(matter.tool) is not None
        if self.path is not None:
            if isinstance(action, ChangeMany):
                return self._among(action, matter)
            return any(self.touched(touch, place) for touch, place in matter.touched)
        if self.hosts is not None:
            meant = not self.rule.installs or installs(action)
            return meant and any(self.hosts(host, port) for host, port in matter.hosts)
        if isinstance(action, McpCall):
            return self._names_tool(action)
        return isinstance(action, Execute) and self._in_command(action, matter)

    def touched(self, touch: Touch, place: Spot) -> bool:
        """Whether doing this to a path does it to something the rule names."""
        if self.path is None or (self.rule.on and touch not in self.rule.on):
            return False
        return self.path.covers(place) or (touch == "delete" and self.path.holds(place))

    def lets(self, matter: Matter) -> bool:
        """Whether this rule allows something that is not a command.

        What was remembered, and what is about tools, is only about what tools themselves do.
        Protected files, and very many changes, need a rule of a file that names the very place.
        """
        match matter.action:
            case Network(host=host, port=port) if self.hosts is not None:
                return self.hosts(host, port) and (
                    not self.rule.installs or installs(matter.action)
                )
            case Network(near=near) if near:
                return False
            case McpCall() as call if self.mcp is not None:
                return self._names_tool(call)
            case Write() | Delete() | ChangeMany() as change:
                if not self._fits(change, matter.workspace):
                    return False
        if self.tool is not None:
            return self.tool.fullmatch(matter.tool) is not None
        if self.path is None or not matter.touched or not self.path.covers(matter.spot):
            return False
        return not self.rule.on or set(touch_of(matter.action)) <= set(self.rule.on)

    def _fits(self, action: Write | Delete | ChangeMany, workspace: str) -> bool:
        remembered = self.rule.source in REMEMBERED
        if (remembered or self.path is None) and action.origin != "tool":
            return False
        if isinstance(action, ChangeMany) or protected(action, workspace):
            written = self.rule.source in WRITTEN
            return written and self.path is not None and self.path.named
        return True

    def _in_command(self, action: Execute, matter: Matter) -> bool:
        rule = self.rule
        if not rule.command or (rule.outside and not action.wants):
            return False
        return any(mentions(rule.command, fact, whole=rule.whole) for fact in matter.facts)

    def _among(self, action: ChangeMany, matter: Matter) -> bool:
        meant = not self.rule.on or any(touch in self.rule.on for touch in touch_of(action))
        return self.path is not None and meant and self.path.may_reach(matter.spot)

    def _names_tool(self, action: McpCall) -> bool:
        if self.mcp is None:
            return False
        server, tool = self.mcp
        return bool(server.fullmatch(action.server) and tool.fullmatch(action.tool))


def ready(rule: Rule, home: str, resolve: Callable[[str], str]) -> Ready:
    """Compile a rule's subject; raises RuleProblem with a sentence when it cannot be one."""
    try:
        if rule.path:
            return Ready(rule, path=path_pattern(rule.path, home, resolve))
        if rule.command:
            check_command(rule.command)
            return Ready(rule, programs=programs(rule.command))
        if rule.domain:
            allowing = rule.decision == "allow"
            return Ready(rule, hosts=named_hosts([rule.domain], allowing=allowing))
        if rule.mcp:
            server, slash, tool = rule.mcp.partition("/")
            return Ready(rule, mcp=(glob(server), glob(tool if slash else "*")))
        return Ready(rule, tool=glob(rule.tool))
    except ValueError as error:
        raise RuleProblem(f"The rule {rule.id} cannot be used.", f"{error}.") from error


def named_hosts(patterns: Sequence[str], *, allowing: bool) -> Hosts:
    """Whether a host and a port are meant by any; `*` is every host, never to be allowed."""
    from steersman.governance.domains import Domains, check_pattern
    from steersman.records.addresses import canonical_host

    if "*" in patterns and not allowing:
        return lambda host, port: True
    for text in patterns:
        if wrong := check_pattern(text, denied=not allowing):
            raise ValueError(f"{wrong[0].lower()}{wrong[1:].rstrip('.')}")
    if allowing:
        allowed = Domains(patterns)
        return lambda host, port: allowed.verdict(host, port) == "allow"
    denied = Domains([], patterns)
    return lambda host, port: denied.verdict(host, port) == "deny" and bool(canonical_host(host))


def host_of(name: str) -> tuple[str, int]:
    """A host as the guard names it, and its port; that of the web where it names none."""
    host, colon, port = name.rpartition(":")
    if colon and port.isascii() and port.isdigit() and (":" not in host or host.endswith("]")):
        return host, int(port)
    return name, 443


def installs(action: Action) -> bool:
    """Whether a host is one of a command that only installs packages."""
    return isinstance(action, Network) and bool(action.registries)


def touch_of(action: Action) -> tuple[Touch, ...]:
    """What an action does to its path."""
    match action:
        case Write():
            return ("write",)
        case Delete():
            return ("delete",)
        case ChangeMany(created=created, changed=changed, deleted=deleted):
            both: tuple[tuple[Touch, int], ...] = (
                ("write", created + changed),
                ("delete", deleted),
            )
            return tuple(touch for touch, count in both if count)
        case Read() | List() | Search():
            return ("read",)
    return ()


def glob(text: str) -> re.Pattern[str]:
    """A pattern for a name; raises ValueError with a sentence when it cannot be one."""
    if not text or text != text.strip() or "\n" in text:
        raise ValueError("the name is empty, or has spaces around it")
    if len(text) > LONGEST_NAME:  # Python reads brackets that do not close again and again
        raise ValueError(f"the name has more than {LONGEST_NAME} letters")
    return re.compile(translate(text))


def touches(facts: Sequence[Fact]) -> Iterator[tuple[Touch, str]]:
    """Every path that the facts of a command name, with what happens to it."""
    for fact in facts:
        for path in fact.reads:
            yield "read", path
        for path in fact.writes:
            yield "write", path
        for path in fact.deletes:
            yield "delete", path
