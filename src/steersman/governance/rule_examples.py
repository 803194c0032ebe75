"""Whether an example in a rule file is met by its rule: the rule's own test."""

import posixpath

from steersman.governance.rule import Rule
from steersman.governance.rule_paths import spot
from steersman.governance.rule_ready import Ready, ready
from steersman.governance.rules import RuleSet
from steersman.records.action import Execute


def matching(rule: Rule, example: str, *, workspace: str, home: str) -> bool:
    """Whether a rule alone decides on an example; ValueError when that cannot be one.

    An example is what the rule is about: a command line, a path, `host:port`, `server/tool`, or a
    tool's name.
    """
    if not example.strip():
        raise ValueError("it is empty")
    if rule.command:
        return _command(rule, example, workspace, home)
    one = ready(rule, home, str)
    if one.path is not None:
        return one.path.covers(spot(_path(example, workspace, home), workspace))
    if one.tool is not None:
        return one.tool.fullmatch(example) is not None
    return _host(one, example) if one.hosts is not None else _mcp(one, example)


def _command(rule: Rule, example: str, workspace: str, home: str) -> bool:
    from steersman.governance.guard.judge import judge
    from steersman.records.judgement import CommandPlace

    judgement = judge(example, CommandPlace(workspace, home, workspace))
    action = Execute(example, workspace, outside=rule.outside)
    alone = RuleSet([rule], home=home, resolve=str)
    return alone.verdict(action, "", judgement, workspace) is not None


def _path(example: str, workspace: str, home: str) -> str:
    expanded = home.rstrip("/") + example[1:] if example.split("/")[0] == "~" else example
    return posixpath.normpath(posixpath.join(workspace, expanded))


def _host(one: Ready, example: str) -> bool:
    host, colon, port = example.rpartition(":")
    if not colon or (":" in host and not host.endswith("]")):
        host, port = example, "443"
    if not (port.isascii() and port.isdigit()) or "/" in example:
        raise ValueError("a host is written as example.org or example.org:8080")
    return one.hosts is not None and one.hosts(host, int(port))


def _mcp(one: Ready, example: str) -> bool:
    server, slash, tool = example.partition("/")
    if not slash or one.mcp is None:
        raise ValueError("a tool of a server is written as server/tool")
    return bool(one.mcp[0].fullmatch(server) and one.mcp[1].fullmatch(tool))
