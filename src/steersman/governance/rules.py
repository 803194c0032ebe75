"""Rules that people write, or leave behind by their answers: deny before ask before allow.

A set of rules is pure once it is made. What a rule is, is in `rule.py`; reading rules from files
is in `rule_files.py`, remembered answers are in `answers.py`.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import get_args

from steersman.governance.rule import REMEMBERED, Rule, RuleProblem, Source, stands, subject
from steersman.governance.rule_paths import Touch, spot, unescaped
from steersman.governance.rule_ready import Matter, Ready, host_of, named_hosts, ready, touches
from steersman.governance.rule_words import begins, only_redirects, spelled_out, stays
from steersman.records.action import (
    Action,
    ChangeMany,
    Delete,
    Execute,
    McpCall,
    Network,
    Setting,
    SpawnAgent,
    Verdict,
    Write,
)
from steersman.records.judgement import Fact, Judgement
from steersman.records.protection import inside, protected

__all__ = ["Rule", "RuleProblem", "RuleSet", "subject"]

_DECISIONS = {"deny": 0, "ask": 1, "allow": 2}
_SOURCES = {name: rank for rank, name in enumerate(get_args(Source))}
# The guard does not keep more of a line than about twice as many.
MOST_COMMANDS = 100
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})


class RuleSet:
    """Rules that decide together; whichever order they are given in, the strictest wins.

    `home` is what `~` stands for. Absolute paths are also taken as `resolve` says they really are.
    """

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        *,
        home: str | None = None,
        resolve: Callable[[str], str] = os.path.realpath,
    ) -> None:
        home = os.path.expanduser("~") if home is None else home
        order = sorted(rules, key=lambda rule: (_DECISIONS[rule.decision], _SOURCES[rule.source]))
        self.rules = tuple(order)
        made = [ready(rule, home, resolve) for rule in order]
        self._strict = _Shelf([one for one in made if one.rule.decision != "allow"], allowing=False)
        self._lenient = _Shelf([one for one in made if one.rule.decision == "allow"], allowing=True)

    def verdict(
        self, action: Action, tool: str, judgement: Judgement | None, workspace: str
    ) -> Verdict | None:
        """The word of the strictest rule that matches; None when no rule speaks of it."""
        matter = Matter(action, tool, judgement, workspace)
        for one in self._strict.about(matter):
            if one.against(matter):
                many = isinstance(action, ChangeMany) and one.path is not None
                return _perhaps(one.rule) if many else _word(one.rule)
        if isinstance(action, Execute):
            if len(matter.facts) > MOST_COMMANDS:
                return _too_many(self._strict.every)
            if action.writes or action.reaches:
                if action.online or matter.blocked or any(fact.remote for fact in matter.facts):
                    return None  # an answer about a path or an address says nothing of that
                return _together(self._opening(action, workspace))
            return _together(self._covering(matter, outside=action.outside or action.online))
        for one in self._lenient.about(matter):
            if one.lets(matter):
                return _word(one.rule)
        return None

    def allows_servers(self) -> bool:
        """Whether a rule allows any tool of an MCP server."""
        allowing = (one for one in self.rules if one.decision == "allow")
        return any(one.mcp or "__" in one.tool or "*" in one.tool for one in allowing)

    def names(self, action: Action, workspace: str) -> bool:
        """Whether a rule allows a change by the very name of the file."""
        matter = Matter(action, "", None, workspace)
        changes = isinstance(action, Write | Delete)
        return changes and any(
            one.path is not None and one.path.named and one.lets(matter)
            for one in self._lenient.about(matter)
        )

    def over(self, changes: Iterable[tuple[Touch, str]], workspace: str) -> Verdict | None:
        """The strictest verdict of rules about paths on many changes; nothing is allowed here."""
        strict = self._strict.paths
        found: Verdict | None = None
        for touch, path in changes if strict else ():
            place = spot(path, workspace)
            one = next((one for one in strict if one.touched(touch, place)), None)
            if one is not None and one.rule.decision == "deny":
                return _word(one.rule)
            if one is not None and found is None:
                found = _word(one.rule)
        return found

    def _opening(self, action: Execute, workspace: str) -> list[Rule]:
        """The rules that together give a command more than its sandbox does; none if they do not.

        Those about commands are not among them: they say nothing of what is outside.
        """
        wanted: list[Action] = [Write(path) for path in action.writes]
        wanted += [Network(*host_of(name)) for name in action.reaches]
        used: list[Rule] = []
        for one in wanted:
            matter = Matter(one, "", None, workspace)
            found = (r.rule for r in self._lenient.about(matter) if not r.tool and r.lets(matter))
            rule = next(found, None)
            if rule is None:
                return []
            used.append(rule)
        return list(dict.fromkeys(used))

    def opened(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Paths outside the workspace, and hosts, that remembered answers open to every command."""
        given = [r for r in self.rules if r.decision == "allow" and r.source in REMEMBERED]
        paths = [r.path for r in given if r.path.startswith("/") and r.on == ("write",)]
        hosts = [rule.domain for rule in given if rule.domain and not rule.installs]
        return tuple(map(unescaped, paths)), tuple(hosts)

    def unreadable(self) -> tuple[str, ...]:
        """The patterns of paths that rules deny to read, as they were written."""
        denied = (rule for rule in self.rules if rule.path and rule.decision == "deny")
        return tuple(rule.path for rule in denied if not rule.on or "read" in rule.on)

    def _covering(self, matter: Matter, *, outside: bool) -> list[Rule]:
        """The rules that together allow a whole command line; none if they do not.

        A line that the guard blocks needs rules that spell out each of its commands.
        """
        for one in () if matter.blocked or outside else self._lenient.tools:
            if one.tool is not None and one.tool.fullmatch(matter.tool):
                return [one.rule]
        used: list[Rule] = []
        for fact in matter.facts if matter.plain else ():
            rule = self._letting(fact, matter, outside=outside)
            if rule is not None:
                used.append(rule)
            elif (outside and fact.unsure) or not self._needs_none(fact, matter.workspace):
                return []
        return list(dict.fromkeys(used))

    def _needs_none(self, fact: Fact, workspace: str) -> bool:
        """Whether a part of a line starts nothing that needs a rule."""
        if only_redirects(fact):
            return self._changes_covered(fact, workspace)
        return stays(fact, workspace)

    def _letting(self, fact: Fact, matter: Matter, *, outside: bool) -> Rule | None:
        if not fact.words or not fact.known or (outside and fact.unsure):
            return None
        if not self._changes_covered(fact, matter.workspace):
            return None
        for one in self._lenient.commands(fact.words[0]):
            rule = one.rule
            if outside and rule.source in REMEMBERED and not fact.exact:
                continue
            if (outside and not rule.outside) or (matter.blocked and not spelled_out(rule.command)):
                continue
            if begins(rule.command, fact, whole=rule.whole or matter.blocked):
                return rule
        return None

    def _changes_covered(self, fact: Fact, workspace: str) -> bool:
        """True when all that is written or deleted is plainly inside, or allowed by itself."""
        for touch, path in touches((fact,)):
            if touch == "read" or path in _NOWHERE:
                continue
            change = Write(path) if touch == "write" else Delete(path)
            if inside(path, workspace) and not protected(change, workspace):
                continue
            written = (one for one in self._lenient.paths if one.rule.source not in REMEMBERED)
            matter = Matter(change, "", None, workspace)
            if not any(one.lets(matter) for one in written):
                return False
        return True


class _Shelf:
    """Rules sorted by what they can be about, each sort in the order of all."""

    def __init__(self, every: list[Ready], *, allowing: bool) -> None:
        self.every = every
        self.tools = [one for one in every if one.tool is not None]
        self.paths = [one for one in every if one.path is not None]
        self._hosts = [one for one in every if one.tool is not None or one.hosts is not None]
        self._servers = [one for one in every if one.tool is not None or one.mcp is not None]
        self._places = [one for one in every if one.tool is not None or one.path is not None]
        self._lines = [one for one in every if one.mcp is None and not one.programs]
        self._ranks = {id(one): rank for rank, one in enumerate(every)}
        named = {name for one in every for name in one.programs or ()}
        self._commands = {
            name: [one for one in every if one.rule.command and name in (one.programs or {name})]
            for name in named
        }
        self._any_command = [one for one in every if one.rule.command and not one.programs]
        patterns = [one.rule.domain for one in every if one.hosts is not None]
        # A host is brought into its one spelling once for all rules, not once for each.
        self._named = named_hosts(patterns, allowing=allowing) if patterns else None

    def about(self, matter: Matter) -> list[Ready]:
        """The rules that may decide on a matter."""
        match matter.action:
            case Execute():
                return self._about_line(matter)
            case Network(host=host, port=port):
                named = self._named is not None and self._named(host, port)
                return self._hosts if named else self.tools
            case McpCall():
                return self._servers
            case SpawnAgent() | Setting():
                return self.tools
        return self._places

    def commands(self, program: str) -> list[Ready]:
        """The rules that may be about a program."""
        return self._commands.get(program.rpartition("/")[2], self._any_command)

    def _about_line(self, matter: Matter) -> list[Ready]:
        special = [one for name in matter.programs for one in self._commands.get(name, ())]
        if not special:
            return self._lines
        found = {id(one): one for one in (*self._lines, *special)}
        return sorted(found.values(), key=lambda one: self._ranks[id(one)])


def _word(rule: Rule) -> Verdict:
    verb = {"deny": "denied", "ask": "asked about", "allow": "allowed"}[rule.decision]
    reason = rule.reason or f"{subject(rule)}: {verb} by {stands(rule)}"
    if rule.decision != "deny":
        return Verdict(rule.decision, rule.id, reason)
    return Verdict("deny", rule.id, reason, f"continue without it; see {stands(rule)}")


def _perhaps(rule: Rule) -> Verdict:
    """More was changed than is looked at one by one, and a rule may speak of some of it."""
    reason = f"so many changes may touch what a rule is about ({subject(rule)}; {stands(rule)})"
    return Verdict("ask", rule.id, reason)


def _too_many(strict: Sequence[Ready]) -> Verdict | None:
    """More commands than are looked at: nothing allows it, and whatever forbids any, asks."""
    rule = next((one.rule for one in strict if not one.rule.tool and not one.rule.mcp), None)
    if rule is None:
        return None
    reason = f"so many commands may hide one that a rule is about ({subject(rule)}; {stands(rule)})"
    return Verdict("ask", rule.id, reason)


def _together(rules: Sequence[Rule]) -> Verdict | None:
    if len(rules) <= 1:
        return _word(rules[0]) if rules else None
    reasons = "; ".join(_word(rule).reason for rule in rules)
    return Verdict("allow", "+".join(rule.id for rule in rules), reasons)
