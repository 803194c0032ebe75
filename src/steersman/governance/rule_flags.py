"""Rules as people give them to one run: `--allow 'Bash(npm test *)'`, in Claude Code's spelling.

A rule of a run decides like one of the user's own file: a deny before it, the circuit breaker and
the sandbox stay what they are.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from steersman.governance.domains import check_pattern
from steersman.governance.rule import Decision, Rule, RuleProblem
from steersman.governance.rule_paths import Touch
from steersman.governance.rule_words import check_command
from steersman.records.tool_names import MCP, named

_FORM = re.compile(r"\s*((?:tool:)?[A-Za-z_][\w*.-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_TOUCHES: dict[str, tuple[Touch, ...]] = {
    "Read": ("read",), "Edit": ("write", "delete"), "Write": ("write", "delete"),
    "MultiEdit": ("write", "delete"),
}  # fmt: skip
_SPLIT = re.compile(r"[,\s]+(?![^()]*\))")


def rules_of(texts: Iterable[str], decision: Decision) -> Iterator[Rule]:
    """The rules that some texts name; several may be in one, with commas or blanks between."""
    for text in texts:
        for one in filter(None, _SPLIT.split(text.strip())):
            yield from _rules(one, decision)


def _rules(text: str, decision: Decision) -> Iterator[Rule]:
    form = _FORM.fullmatch(text)
    if form is None:
        raise _problem(text, "It is a tool's name, with what it is about in brackets.")
    name, about = form[1], form[2]
    base = Rule(f"run:{text}", decision, reason="this run was started with it", source="run")
    try:
        if about == "" and name != "Bash":
            raise ValueError("there is nothing in the brackets")
        if name.startswith(MCP):
            if about not in (None, "*"):
                raise ValueError("a tool of an MCP server has nothing in brackets")
            server, _, tool = name.removeprefix(MCP).partition("__")
            yield replace(base, mcp=f"{server}/{tool}" if tool and tool != "*" else server)
        elif about in (None, "*"):
            yield from (replace(base, tool=one) for one in named(name))
        elif name == "Bash":
            yield replace(base, **_command(about))
        elif name in _TOUCHES:
            yield replace(base, path=_path(about), on=_TOUCHES[name])
        elif name == "WebFetch" and about.startswith("domain:"):
            yield replace(base, domain=_domain(about.removeprefix("domain:")))
        else:
            named(name)
            raise ValueError(f"{name} has nothing in brackets")
    except ValueError as error:
        raise _problem(text, f"{str(error)[:1].upper()}{str(error)[1:]}.") from error


def _command(about: str) -> dict[str, Any]:
    """The beginning of a command, or a whole one."""
    begins = re.fullmatch(r"(.*?)(?::\*|\s+\*)", about.strip(), re.DOTALL)
    words = tuple(shlex.split(begins[1] if begins else about))
    if any("*" in word for word in words):
        raise ValueError("a star is only for the end of a command")
    check_command(words)
    return {"command": words, "whole": begins is None}


def _path(about: str) -> str:
    """A path from the workspace, `/` or `./` before it or not; `//` is the top of the machine."""
    return about[1:] if about.startswith("//") else re.sub(r"^\.?/", "", about)


def _domain(name: str) -> str:
    if wrong := check_pattern(name):
        raise ValueError(wrong.rstrip("."))
    return name


def _problem(text: str, why: str) -> RuleProblem:
    return RuleProblem(
        f"The rule “{text}” cannot be read.", why, "See docs/policy.md, Rules for one run."
    )
