"""What an "always" would mean, shown before it is given; `answers.py` keeps what was given.

An offer is made of rules: everything it would allow is in its sentences, and nothing else is.
"""

from collections.abc import Callable, Sequence
from os.path import join, normpath
from typing import Literal

import msgspec
from msgspec import Struct

from steersman.governance.rule import BEHIND_HOOKS, Rule, RuleProblem, subject
from steersman.governance.rule_paths import Touch, escaped
from steersman.governance.rule_words import only_redirects, stays
from steersman.governance.rules import RuleSet
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
from steersman.records.counting import counted
from steersman.records.judgement import Fact, Judgement
from steersman.records.protection import inside, protected
from steersman.store.redactor import readable

Scope = Literal["once", "turn", "thread", "here"]
MOST_PARTS = 5


class Choice(Struct, frozen=True):
    """One thing a person can say besides yes: `same` for such a request, `edits` for any edit.

    `sentences` tell all that the rules allow; `scopes` for how long they may.
    """

    name: Literal["same", "edits"]
    rules: tuple[Rule, ...]
    sentences: tuple[str, ...]
    scopes: tuple[Scope, ...] = ("thread", "here")


class Offer(Struct, frozen=True):
    """What can be answered for longer than once; `why_not` shows why nothing can."""

    choices: tuple[Choice, ...] = ()
    why_not: str = ""


class _NoOffer(Exception):
    """There is a reason why nothing is offered."""


def offers(
    actions: Sequence[Action],
    judgement: Judgement | None,
    workspace: str,
    *,
    rules: RuleSet | None = None,
    tool: str = "",
    redact: Callable[[str], str] = str,
) -> Offer:
    """What an "always" to a request could allow.

    `rules` are those written in files: what one of them asks about is asked every time.
    """
    try:
        edits = all(isinstance(action, Write | Delete) for action in actions)
        behind = False  # what hooks run: only an answer that names it holds
        for action in actions:
            word = rules.verdict(action, tool, judgement, workspace) if rules else None
            if word is not None and word.decision != "allow":
                behind = edits and word.rule.startswith(BEHIND_HOOKS)
                if not behind:
                    raise _NoOffer(f"a rule asks about this each time ({word.rule})")
        made, scopes = _rules(actions, judgement, workspace)
        choices = [Choice("same", made, tuple(map(told, made)), scopes)]
        if edits and not behind:
            choices.append(_edits(actions))
        # "The like" of an edit is any edit, of anything else the same again.
        if not behind and not any(
            isinstance(action, Network) for action in actions
        ):  # asked once in a thread
            widest = choices.pop()
            choices.append(msgspec.structs.replace(widest, scopes=("turn", *widest.scopes)))
        for choice in choices:
            _prove(choice, actions, judgement, workspace, redact)
    except _NoOffer as reason:
        return Offer(why_not=str(reason))
    except RuleProblem as problem:
        return Offer(why_not=problem.why.rstrip("."))
    return Offer(tuple(choices))


def told(rule: Rule) -> str:
    """What a remembered rule allows, as a person reads it."""
    if rule.path == ".":
        kinds = " and deletions" if "delete" in rule.on else ""
        return f"changes{kinds} of any file in the workspace, but not of protected ones"
    return subject(rule)


def _rules(
    actions: Sequence[Action], judgement: Judgement | None, workspace: str
) -> tuple[tuple[Rule, ...], tuple[Scope, ...]]:
    """One rule for each part of a request, and for how long they may be kept."""
    if not actions:
        raise _NoOffer("there is nothing to allow")
    if sum(isinstance(action, Execute) for action in actions) > 1:
        raise _NoOffer("several commands are approved one by one")
    made: list[Rule] = []
    scopes: tuple[Scope, ...] = ("thread", "here")
    for action in actions:
        match action:
            case Execute(failed=failed) if failed:
                raise _NoOffer("you are asked after each failure")
            case Execute():
                made += _command(action, judgement, workspace)
                scopes = ("thread",) if action.outside else scopes
            case Network():
                made += _hosts(action)
            case McpCall(server=server, tool=name):
                made.append(Rule("", "allow", mcp=f"{_plain(server)}/{_plain(name)}"))
            case Write() | Delete():
                made.append(_change(action, workspace))
                scopes = ("thread",)
            case Read(path=path) | List(path=path) | Search(path=path):
                made.append(Rule("", "allow", path=_named(path, workspace), on=("read",)))
                scopes = ("thread",)
            case ChangeMany() as many:
                lost = many.lost or many.discarded or many.commits or many.objects or many.unnamed
                what = "deletes work that git does not keep" if lost else "changes this many files"
                raise _NoOffer(f"you are asked each time a command {what}")
            case _:
                raise _NoOffer("you are asked about such a request each time")
    unique = tuple(dict.fromkeys(made))
    if len(unique) > MOST_PARTS and not all(rule.installs for rule in unique):
        raise _NoOffer(f"it has {counted(len(unique), 'part')}, too many to read at a glance")
    return unique, scopes


def _hosts(action: Network) -> list[Rule]:
    if action.registries:
        return [Rule("", "allow", domain=one, installs=True) for one in action.registries]
    return [Rule("", "allow", domain=f"{_bracketed(action.host)}:{action.port}")]


def _command(action: Execute, judgement: Judgement | None, workspace: str) -> list[Rule]:
    if action.online:
        raise _NoOffer("with the whole network, a command could reach any host")
    if action.writes or action.reaches:
        for path in action.writes:
            if why := protected(Write(path), workspace):
                raise _NoOffer(f"you are asked about protected files each time: {why}")
        written = [Rule("", "allow", path=escaped(one), on=("write",)) for one in action.writes]
        return [*written, *(Rule("", "allow", domain=_address(one)) for one in action.reaches)]
    if judgement is None:
        raise _NoOffer("the command was not checked")
    if judgement.verdict == "block":
        raise _NoOffer(f"the guard objects to it ({judgement.rule})")
    if not judgement.plain or not judgement.facts:
        raise _NoOffer("it is more than plain commands, so a rule could allow something else")
    facts = [
        fact for fact in judgement.facts if not stays(fact, workspace) and not only_redirects(fact)
    ]
    if len(set(facts)) > MOST_PARTS:
        raise _NoOffer(f"it has {counted(len(facts), 'part')}, too many to read at a glance")
    if not facts:
        raise _NoOffer("it starts no program")
    for fact in judgement.facts:
        _check_paths(fact, workspace, outside=action.outside)
    return [_prefix(fact, workspace, outside=action.outside) for fact in facts]


def _prefix(fact: Fact, workspace: str, *, outside: bool) -> Rule:
    from steersman.governance.guard.prefixes import runs_anything, suggested_prefix

    line = " ".join(fact.words)
    if not fact.known:
        raise _NoOffer(f"`{line}` has words that are only known when it runs")
    if fact.words[0] in ("cd", "pushd", "popd"):
        raise _NoOffer(f"`{line}` may leave the workspace")
    if runs_anything(fact.words):
        raise _NoOffer(f"the next `{line}` may do something quite different")
    program = fact.words[0]
    if outside and "/" in program and inside(normpath(join(workspace, program)), workspace):
        raise _NoOffer(f"`{program}` is a file of the workspace, which can change")
    if outside and not fact.exact:
        raise _NoOffer(
            f"`{line}` may write files whose names are not known here, "
            "and any of them can become a link to another"
        )
    if fact.remote:
        # More words could make something else of it, such as --force.
        return Rule("", "allow", command=_literal(fact.words), whole=True, outside=outside)
    prefix = suggested_prefix(fact.words)
    if not prefix:
        raise _NoOffer(f"a rule for commands like `{line}` would allow too much")
    return Rule("", "allow", command=_literal(prefix), outside=outside)


def _check_paths(fact: Fact, workspace: str, *, outside: bool) -> None:
    """No answer covers a change elsewhere; outside the sandbox, none covers what may be a link."""
    for path in (*fact.writes, *fact.deletes):
        if not inside(path, workspace) and path != "/dev/null":
            raise _NoOffer(f"it changes {path}, which is outside the workspace")
    if outside and fact.unsure:
        raise _NoOffer(fact.unsure[0])


def _literal(words: tuple[str, ...]) -> tuple[str, ...]:
    if "*" in words:
        raise _NoOffer("a word of it is a lone `*`, which in a rule matches any word")
    return words


def _change(action: Write | Delete, workspace: str) -> Rule:
    if action.origin != "tool":
        raise _NoOffer("you are asked each time a command changes such a file")
    if why := protected(action, workspace):
        raise _NoOffer(f"you are asked about protected files each time: {why}")
    on: Touch = "write" if isinstance(action, Write) else "delete"
    return Rule("", "allow", path=_named(action.path, workspace), on=(on,))


def _edits(actions: Sequence[Action]) -> Choice:
    """Any edit: files of the workspace that are not protected."""
    deletes = any(isinstance(action, Delete) for action in actions)
    on: tuple[Touch, ...] = ("write", "delete") if deletes else ("write",)
    rule = Rule("", "allow", path=".", on=on)
    return Choice("edits", (rule,), (told(rule),))


def _named(path: str, workspace: str) -> str:
    """A pattern that names one path and nothing else."""
    if inside(path, workspace):
        below = path[len(workspace.rstrip("/")) + 1 :]
        return f"./{escaped(below)}" if below else "."
    return escaped(path)


def _plain(name: str) -> str:
    """A name that is not a pattern; a glob has no other way to say so than to stay away."""
    if not name or any(mark in name for mark in "*?[]/") or name != name.strip():
        raise _NoOffer(f"the name {name!r} cannot be used in a rule")
    return name


def _address(name: str) -> str:
    host, _, port = name.rpartition(":")
    return f"{_bracketed(host)}:{port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _prove(
    choice: Choice,
    actions: Sequence[Action],
    judgement: Judgement | None,
    workspace: str,
    redact: Callable[[str], str],
) -> None:
    """An offer that did not cover what was asked would be asked again; a secret is never kept."""
    for text in texts(choice.rules):
        if readable(text) != text:
            raise _NoOffer("it has a name that is not UTF-8, which cannot be stored")
        if redact(text) != text:
            raise _NoOffer("it contains a secret, which is not stored")
    given = [msgspec.structs.replace(rule, source="thread") for rule in choice.rules]
    covering = RuleSet(given, resolve=str)
    for action in actions:
        word = covering.verdict(action, "", judgement, workspace)
        if word is None or word.decision != "allow":
            raise _NoOffer("no rule allows exactly this and nothing else")


def texts(rules: Sequence[Rule]) -> list[str]:
    """Every text in rules by which a secret could be kept."""
    found: list[str] = []
    for rule in rules:
        words = [word for word in rule.command if isinstance(word, str)]
        found += [rule.path, rule.domain, rule.mcp, rule.tool, rule.reason, " ".join(words), *words]
    return found
