"""What the guard says of a shell command, and what it found out about it."""

from typing import Literal

from msgspec import Struct


class CommandPlace(Struct, frozen=True):
    """Where a command would run. The folders need not exist; nothing is looked up on disk."""

    workspace: str
    home: str
    cwd: str = ""


class Fact(Struct, frozen=True, omit_defaults=True):
    """One simple command as it would run, its wrappers taken off.

    `words` are the program and its arguments; `known` is False when any of them is not known for
    certain. Paths are absolute. `patterns` are those of them that name no single file: a glob as
    it was written (`/w/*.pem`; `**` is any depth) or a path with a part nobody knows (`$?`). A
    rule about paths should take each as possibly any path it may match. `network` are hosts, with
    their port where one was written (`host:8080`), or `*` when any may be reached; `remote` says
    what is changed on another machine; `unknown_code` that the program runs unreviewed code.
    `exact` when every file that it writes is among `writes` and `deletes`.
    `places` are the paths that its words and redirects may name, as written: no `..` is taken away.
    `unsure` says why an answer or a rule does not cover it outside the sandbox: sentences about
    what lies at those paths, or may lie there when it runs.
    """

    words: tuple[str, ...]
    known: bool = True
    via: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    remote: str = ""
    unknown_code: bool = False
    patterns: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    exact: bool = False


class Judgement(Struct, frozen=True, omit_defaults=True):
    """The guard's verdict on a whole command line, with the rule that decided.

    `breaker` marks what no setting lifts. `plain` is True when the line is made only of simple
    commands whose words are all known, so that rules about prefixes may allow it; `facts` then
    hold every one of them.
    """

    verdict: Literal["allow", "ask", "block"]
    rule: str
    reason: str
    instead: str = ""
    breaker: bool = False
    plain: bool = False
    facts: tuple[Fact, ...] = ()
