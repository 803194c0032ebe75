"""What each kind of node in the syntax tree means for a shell that is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.expand import one_word, raw_word, words_of
from steersman.governance.guard.forks import Fork
from steersman.governance.guard.marks import OUT, RANDOM, UNSET
from steersman.governance.guard.redirects import read_redirects, write_sinks
from steersman.governance.guard.scene import ASK, BREAK, MAX_DEPTH
from steersman.governance.guard.variables import check_assignment
from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

    from steersman.governance.guard.shell import Shell, Value

_SUBSTITUTION = pattern(r"\$\(|`|<\(")


def tears(node: Node | None, start: int, child: Node) -> bool:
    """A line's end between two words that the grammar took for one command: it misreads a line
    that begins with a backslash."""
    if node is None or node.text is None:
        return False
    gap = node.text[start - node.start_byte : child.start_byte - node.start_byte]
    return (child.text or b"").startswith(b"\n") or b"\n" in gap.replace(b"\\\n", b"")


def unnested(nodes: list[Node]) -> tuple[list[Node], list[Node]]:
    """Redirects, and the words after them that the grammar took for a part of a redirect."""
    redirects: list[Node] = []
    words: list[Node] = []
    for node in nodes:
        redirects.append(node)
        if node.type == "file_redirect":
            words += node.children_by_field_name("destination")[1:]
        elif node.type == "heredoc_redirect":
            words += node.children_by_field_name("argument")
            inner = [child for child in node.children if child.type.endswith("_redirect")]
            more, after = unnested(inner)
            redirects += more
            words += after
    return redirects, words


# ---- visitors of the tree's kinds


def _command(shell: Shell, node: Node, stdin: str | None) -> str:
    return shell.command(node, stdin if stdin is not None else shell.stdin)


def _redirected(shell: Shell, node: Node, stdin: str | None) -> str:
    body = node.child_by_field_name("body")
    nodes = [child for child in node.children if child.type.endswith("_redirect")]
    made = _with_redirects(shell, body, nodes, stdin)
    for redirect in nodes:
        if redirect.type == "heredoc_redirect":
            made = _after_heredoc(shell, redirect, made)
    return made


def _with_redirects(shell: Shell, body: Node | None, nodes: list[Node], stdin: str | None) -> str:
    """A command with redirects; of a list or a pipeline they belong to the last part."""
    if body is None or body.type == "command":
        words, assigns, inner = shell.split(body)
        outer, more = unnested(nodes)
        feed = stdin if stdin is not None else shell.stdin
        return shell.simple(words + more, assigns, inner + outer, feed)
    parts = body.named_children
    if body.type == "list" and len(parts) > 1:
        for part in parts[:-1]:
            shell.visit(part, stdin)
        return _with_redirects(shell, parts[-1], nodes, stdin)
    if body.type == "pipeline" and len(parts) > 1:
        for part in parts[:-1]:
            stdin = shell.copy().visit(part, stdin)
        return _with_redirects(shell.copy(), parts[-1], nodes, stdin)
    nodes, more = unnested(nodes)
    if more:
        shell.simple(more, [], [], None)
    streams = read_redirects(shell, nodes, stdin)
    shell.only_read(streams.reads)
    kept, shell.stdin = shell.stdin, streams.stdin if streams.stdin is not None else shell.stdin
    made = shell.visit(body, streams.stdin)
    shell.stdin = kept
    write_sinks(shell, streams.sinks, made)
    return made if streams.printed else ""


def _after_heredoc(shell: Shell, node: Node, made: str) -> str:
    for child in node.named_children:
        if child.type == "pipeline":
            made = _pipeline(shell, child, made)
        elif child.type not in (
            "heredoc_start",
            "heredoc_body",
            "heredoc_end",
            "file_descriptor",
            "file_redirect",
            "herestring_redirect",
            "word",
            "string",
            "raw_string",
            "concatenation",
            "simple_expansion",
        ):
            made = shell.visit(child, None)
    return made


def _pipeline(shell: Shell, node: Node, stdin: str | None) -> str:
    flow = stdin
    children = node.named_children
    for child in children:
        inner = shell.copy() if len(children) > 1 or stdin is not None else shell
        flow = inner.visit(child, flow)
    return flow or ""


def _subshell(shell: Shell, node: Node, stdin: str | None) -> str:
    return shell.copy().each(node, stdin)


def _for(shell: Shell, node: Node, stdin: str | None) -> str:
    variable = node.child_by_field_name("variable")
    name = ((variable.text if variable else None) or b"").decode()
    values = words_of(node.children_by_field_name("value"), shell)
    body = node.child_by_field_name("body")
    if not node.children_by_field_name("value"):
        values = shell.arguments or [UNSET]
    made = ""
    for value in values[:24] or [OUT]:
        shell.variables[name] = value
        if body is not None:
            made += shell.visit(body, stdin)
    return made


_ENDLESS = ((b":",), (b"true",), (b"1",), (b"((1))",), (b"[ 1 ]",), (b"/bin/true",))


def _while(shell: Shell, node: Node, stdin: str | None) -> str:
    condition = node.children_by_field_name("condition")
    first = (condition[0].text or b"").strip() if condition else b""
    endless = (first,) in _ENDLESS or first in (b"((1))", b"(( 1 ))", b"[[ 1 ]]", b"sleep 0")
    endless = endless or (
        node.children[0].type == "until" and first in (b"false", b"/bin/false", b"! true")
    )
    if endless:
        shell.loop += 1
    made = "".join(shell.visit(part, stdin) for part in condition if part.is_named)
    body = node.child_by_field_name("body")
    fork = Fork(shell)
    before = dict(shell.scene.files)
    made += shell.visit(body, stdin) if body is not None else ""
    fork.skipped()
    if endless:
        _fills(shell, body, before)
    if (
        endless
        and body is not None
        and re.search(rb"\b(\w+)=\"?\$\{?\1\}?\$\{?\1", body.text or b"")
    ):
        shell.scene.note(
            BREAK, "exhaust.memory", "An endless loop doubles a text until memory is gone."
        )
    if endless:
        if body is not None and _backgrounds(body):
            shell.scene.note(
                BREAK,
                "forkbomb.loop",
                "An endless loop starts background processes without limit.",
                "Start a fixed number of processes and wait for them.",
            )
        shell.loop -= 1
    return made + (RANDOM if endless and made else "")


_PAUSES = re.compile(rb"\b(?:sleep|wait|read|break|exit|return|inotifywait|timeout|exec)\b")


def _fills(shell: Shell, body: Node | None, before: dict[str, str]) -> None:
    """An endless loop that writes files and never pauses or ends."""
    if body is None or _PAUSES.search(body.text or b"") or shell.scene.files == before:
        return
    shell.scene.note(
        ASK,
        "exhaust.disk",
        "An endless loop writes files without a pause.",
        "Say how often, or pause between two rounds.",
    )


def _backgrounds(node: Node) -> bool:
    if node.type == "&":
        return True
    return any(_backgrounds(child) for child in node.children)


def _c_for(shell: Shell, node: Node, stdin: str | None) -> str:
    header = (node.text or b"").split(b"do", 1)[0]
    if re.search(rb"\(\(\s*;\s*;", header):
        body = node.child_by_field_name("body")
        if body is not None and _backgrounds(body):
            shell.scene.note(
                BREAK, "forkbomb.loop", "An endless loop starts background processes without limit."
            )
    made, before = OUT, dict(shell.scene.files)
    for child in node.named_children:
        if child.type in ("do_group", "compound_statement"):
            made += shell.visit(child, stdin)
        else:
            shell.visit_inside(child)
    if re.search(rb"\(\(\s*;\s*;", header):
        _fills(shell, node.child_by_field_name("body"), before)
    return made


def _branches(shell: Shell, node: Node, stdin: str | None) -> str:
    """`if`: every branch begins with what was known before; afterwards any may have been taken."""
    conditions = node.children_by_field_name("condition")
    made = ""
    for child in conditions:
        if child.is_named:
            made += shell.visit(child, stdin)
    fork = Fork(shell)
    whole = False
    for child in node.named_children:
        if child in conditions:
            continue
        if child.type in ("elif_clause", "else_clause"):
            fork.branch()
            whole = whole or child.type == "else_clause"
        made += shell.visit(child, stdin)
    fork.join(always=whole)
    return made


def _case(shell: Shell, node: Node, stdin: str | None) -> str:
    made = ""
    value = node.child_by_field_name("value")
    if value is not None:
        one_word(value, shell)
    fork = Fork(shell)
    for item in node.named_children:
        if item.type != "case_item":
            continue
        fork.branch()
        for child in item.named_children:
            if child in item.children_by_field_name("value"):
                raw_word(child, shell)
            else:
                made += shell.visit(child, stdin)
    fork.join()
    return made


def _list(shell: Shell, node: Node, stdin: str | None) -> str:
    """`a && b`, `a || b`: afterwards `b` may have been skipped."""
    parts = node.named_children
    made = shell.visit(parts[0], stdin) if parts else ""
    fork = Fork(shell)
    for part in parts[1:]:
        made += shell.visit(part, stdin)
    fork.skipped()
    return made


def _function(shell: Shell, node: Node, stdin: str | None) -> str:
    name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name_node is None or body is None:
        return ""
    name = (name_node.text or b"").decode()
    shell.functions[name] = body
    calls = _calls(body, name_node.text or b"")
    if calls and (_backgrounds(body) or calls > 1 or b"|" in (body.text or b"")):
        shell.scene.note(
            BREAK,
            "forkbomb.function",
            f"The function {name} starts copies of itself without end.",
            "Do not start processes recursively.",
        )
        return ""
    inner = shell.copy()
    inner.calling = (*inner.calling, name)
    inner.depth += 1
    if inner.depth <= MAX_DEPTH:
        inner.visit(body, stdin)
    return ""


def _calls(node: Node, name: bytes) -> int:
    count = 1 if node.type == "command_name" and node.text == name else 0
    return count + sum(_calls(child, name) for child in node.named_children)


def _assignment(shell: Shell, node: Node, stdin: str | None) -> str:
    given: dict[str, Value] = {}
    shell.assign(node, given)
    shell.variables.update(given)
    for name, value in given.items():
        check_assignment(shell, name, value, False)
    return ""


def _declaration(shell: Shell, node: Node, stdin: str | None) -> str:
    text = (node.text or b"").decode("utf-8", "replace")
    words = [text.split(None, 1)[0]]
    reference = False
    for child in node.named_children:
        if child.type == "variable_assignment":
            given: dict[str, Value] = {}
            shell.assign(child, given)
            if reference:
                _refer(shell, given)
            shell.variables.update(given)
            for name, value in given.items():
                check_assignment(shell, name, value, True)
                words.append(name + "=" + (value if isinstance(value, str) else "…"))
        else:
            more = words_of([child], shell)
            reference = reference or any(re.match(r"-\w*n", word) for word in more)
            words += more
    call = ProgramCall(words, shell, stdin)
    call.out = "\ue003" if len(words) == 1 or words[1:] == ["-p"] else ""
    call.done()
    return call.out


def _refer(shell: Shell, given: dict[str, Value]) -> None:
    """`declare -n a=b`: from now on `$a` is what `$b` is."""
    for name, other in given.items():
        value = shell.value(other) if isinstance(other, str) else None
        given[name] = UNSET if value is None else value


def _unset(shell: Shell, node: Node, stdin: str | None) -> str:
    for word in words_of(node.named_children, shell):
        if _SUBSTITUTION.search(word):
            shell.reveal(word)
        shell.variables.pop(word, None)
    return ""


def _test(shell: Shell, node: Node, stdin: str | None) -> str:
    for child in node.named_children:
        _test_part(shell, child)
    shell.scene.plain = False
    return ""


def _test_part(shell: Shell, node: Node) -> None:
    if node.type.endswith("_expression"):
        for child in node.named_children:
            _test_part(shell, child)
        return
    if node.type in {"raw_string", "string"}:
        text = raw_word(node, shell, True)
        if node.type == "raw_string" and re.search(r"\w\[.*(\$\(|`)", text):
            shell.reveal(text)
        return
    words_of([node], shell)


def _heredoc_alone(shell: Shell, node: Node, stdin: str | None) -> str:
    return _after_heredoc(shell, node, shell.heredoc(node))


def _silent(shell: Shell, node: Node, stdin: str | None) -> str:
    return ""


def _expression(shell: Shell, node: Node, stdin: str | None) -> str:
    shell.visit_inside(node)
    return ""


def _substitution(shell: Shell, node: Node, stdin: str | None) -> str:
    return shell.substitute(node)


def _word_alone(shell: Shell, node: Node, stdin: str | None) -> str:
    raw_word(node, shell)
    return ""


def _file_redirect(shell: Shell, node: Node, stdin: str | None) -> str:
    streams = read_redirects(shell, [node], None)
    shell.only_read(streams.reads)
    write_sinks(shell, streams.sinks, "")
    return ""


def _compound(shell: Shell, node: Node, stdin: str | None) -> str:
    if (node.text or b"").startswith(b"(("):
        shell.visit_inside(node)
        return ""
    return shell.each(node, stdin)


VISITORS: dict[str, Callable[[Shell, Node, str | None], str]] = {
    "command": _command,
    "redirected_statement": _redirected,
    "pipeline": _pipeline,
    "list": _list,
    "subshell": _subshell,
    "for_statement": _for,
    "while_statement": _while,
    "c_style_for_statement": _c_for,
    "if_statement": _branches,
    "case_statement": _case,
    "function_definition": _function,
    "variable_assignment": _assignment,
    "declaration_command": _declaration,
    "unset_command": _unset,
    "test_command": _test,
    "heredoc_redirect": _heredoc_alone,
    "comment": _silent,
    "compound_statement": _compound,
    "command_substitution": _substitution,
    "process_substitution": _substitution,
    "file_redirect": _file_redirect,
    "string": _word_alone,
    "raw_string": _silent,
    "word": _silent,
    "number": _silent,
    "concatenation": _word_alone,
    "expansion": _word_alone,
    "simple_expansion": _silent,
    "arithmetic_expansion": _word_alone,
    "subscript": _expression,
    "binary_expression": _expression,
    "unary_expression": _expression,
    "heredoc_body": _silent,
    "heredoc_start": _silent,
    "herestring_redirect": _silent,
}
