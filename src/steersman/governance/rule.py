"""What a rule is, and how it is shown to a person. How rules decide is in `rules.py`."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from steersman.governance.rule_paths import Touch
from steersman.governance.rule_words import Prefix
from steersman.records.errors import Exit, SteersmanError

Decision = Literal["deny", "ask", "allow"]
Source = Literal["managed", "user", "run", "project", "here", "thread", "turn"]
SUBJECTS = ("tool", "path", "command", "domain", "mcp")
REMEMBERED = ("here", "thread", "turn")
BEHIND_HOOKS = "hook:"  # how the names of rules begin about what hooks run
WRITTEN = ("managed", "user", "project")  # in files of rules


class RuleProblem(SteersmanError):
    """Rules cannot be used as they are written; `problems` are all of them, each with its place."""

    exit = Exit.USAGE

    def __init__(
        self, what: str, why: str = "", try_this: str = "", problems: Sequence[str] = ()
    ) -> None:
        super().__init__(what, why, try_this)
        self.problems = tuple(problems)


class Rule(Struct, frozen=True, omit_defaults=True):
    """One rule about one subject.

    `on` narrows a rule about paths; without it all three are meant. `whole` says that a command
    has no more words than the rule. An allowing rule with `outside` also lets a command leave the
    sandbox; another one with it is only about commands that want to. A domain with `installs` is
    about commands that only install packages.
    """

    id: str
    decision: Decision
    tool: str = ""
    path: str = ""
    on: tuple[Touch, ...] = ()
    command: Prefix = ()
    whole: bool = False
    outside: bool = False
    domain: str = ""
    installs: bool = False
    mcp: str = ""
    reason: str = ""
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()
    source: Source = "user"
    file: str = ""
    line: int = 0


def subject(rule: Rule) -> str:
    """What a rule is about, in words that fit into a sentence."""
    if rule.tool:
        return f"the tool {rule.tool}"
    if rule.path:
        return f"{_doing(rule.on)} {rule.path}"
    if rule.command:
        words = " ".join(w if isinstance(w, str) else f"({'|'.join(w)})" for w in rule.command)
        told = f"the command `{words}`" if rule.whole else f"commands beginning with `{words}`"
        return f"{told} outside the sandbox" if rule.outside else told
    if rule.domain:
        who = "package managers' connections" if rule.installs else "connections"
        return f"{who} to {rule.domain.removesuffix(':443') if rule.installs else rule.domain}"
    server, _, tool = rule.mcp.partition("/")
    return f"the tool {tool} of MCP server {server}" if tool else f"MCP server {server}"


def _doing(on: Sequence[Touch]) -> str:
    names = {"read": "reading", "write": "changes of", "delete": "deletion of"}
    return " and ".join(names[touch] for touch in on) if on else "any use of"


def stands(rule: Rule) -> str:
    """Where a rule is, for a sentence."""
    if rule.file:
        return f"{rule.file}:{rule.line}"
    answers = {"turn": "an answer for this turn", "thread": "an answer for this thread",
               "here": "an answer for this folder"}  # fmt: skip
    return answers.get(rule.source, f"the rule {rule.id}")
