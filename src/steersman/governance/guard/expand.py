"""From the words of the tree to the words a program would get, as far as they can be known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steersman.governance.guard.environment import secret_name
from steersman.governance.guard.marks import (
    ANY_MARK,
    EMPTY,
    NEXT,
    OUT,
    SPLIT,
    TILDE,
    TOKEN,
    UNSET,
    braces,
    literal,
    live,
)
from steersman.governance.guard.parameters import shaped
from steersman.governance.guard.scene import MAX_TEXT
from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from steersman.governance.guard.shell import Shell, Value

_SIMPLE = pattern(r"[A-Za-z0-9_./:=@%+-]+\Z")
_ESCAPE = pattern(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}
_BLANK = pattern(r"[ \t\n]+")
_NAME = pattern(r"([!#]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!0-])(?:\[([^]]*)\])?(.*)\Z", re.DOTALL)
_OPERATOR = pattern(r":?[-=+?]")
_DOLLAR = pattern(r"\\.|\$([A-Za-z_]\w*|[0-9@*#?$!-])", re.DOTALL)
_STRUCTURED = ("command_substitution", "expansion", "string", "concatenation")
_UNQUOTE = pattern(r"\\(.)", re.DOTALL)
_TILDE = pattern(r"(~|[\w]+=~|~\+|~-)(?=[/:]|\Z)")
MAX_WORDS = 400
QUOTES = "\"'"


def ansi(text: str) -> str:
    r"""The text of `$'…'`: escapes resolved."""
    return _ESCAPE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    hexa = found[1] or found[2] or found[3]
    if hexa:
        code = int(hexa, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE100 else "?"
    if found[4]:
        return chr(int(found[4], 8) & 255)
    if found[5]:
        return chr(ord(found[5]) & 31)
    letter = found[6]
    return _LETTERS.get(letter, letter if letter in "\\'\"?" else "\\" + letter)


def words_of(nodes: list[Node], shell: Shell) -> list[str]:
    """The fields some word nodes expand to; globs stay live, unknown parts stay marked."""
    made: list[str] = []
    count = len(nodes)
    for at, node in enumerate(nodes):
        if at and nodes[at - 1].end_byte == node.start_byte:
            continue
        if at + 1 < count and node.end_byte == nodes[at + 1].start_byte:
            raw, end = raw_word(node, shell), at + 1
            while end < count and nodes[end - 1].end_byte == nodes[end].start_byte:
                raw += _after_dollar(nodes[end - 1], nodes[end], shell)
                end += 1
            made += fields(raw, shell)
            continue
        text = node.text.decode("utf-8", "replace") if node.text else ""
        if _SIMPLE.match(text) and node.type in ("word", "number"):
            made.append(text)
        else:
            made += fields(raw_word(node, shell), shell)
        if len(made) > MAX_WORDS:
            shell.scene.too_complex("too many words")
            break
    return made


def _after_dollar(before: Node, node: Node, shell: Shell) -> str:
    """The next part of a word; the grammar may have cut `$NAME` in two."""
    found = re.match(r"[A-Za-z_]\w*", _text(node))
    if found and (before.text or b"").endswith(b"$"):
        return _variable(found[0], shell, False) + live(_text(node)[found.end() :])
    return raw_word(node, shell)


def fields(raw: str, shell: Shell) -> list[str]:
    """Brace, tilde and field splitting of one marked word."""
    made = []
    for word in braces(shell.scene.fit(raw)):
        for part in re.split(f"[{SPLIT}{NEXT}]", word) if ANY_MARK.search(word) else (word,):
            if part:
                made.append(shell.scene.fit(finish(part, shell)))
    return made


def finish(part: str, shell: Shell) -> str:
    """One field with its tilde resolved and dead braces put back."""
    if TILDE in part:
        home = shell.value("HOME")
        part = part.replace(TILDE, home if isinstance(home, str) else shell.scene.place.home, 1)
    for mark, letter in ((EMPTY, ""), ("\ue014", "{"), ("\ue015", ","), ("\ue016", "}")):
        if mark in part:
            part = part.replace(mark, letter)
    return part


def one_word(node: Node | None, shell: Shell) -> str:
    """A word where no splitting happens: the value of an assignment, a redirect's target."""
    if node is None:
        return ""
    raw = shell.scene.fit(raw_word(node, shell)).replace(SPLIT, " ").replace(NEXT, " ")
    return literal(finish(raw, shell)) if node.type != "word" else finish(raw, shell)


def raw_word(node: Node, shell: Shell, quoted: bool = False) -> str:
    """One word as a marked string."""
    maker = _MAKERS.get(node.type)
    if maker is not None:
        return maker(node, shell, quoted)
    if node.named_child_count:
        return "".join(raw_word(child, shell, quoted) for child in node.named_children)
    return _text(node)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _word(node: Node, shell: Shell, quoted: bool) -> str:
    text = _text(node)
    if quoted:
        return text
    text = text.lstrip("\n")
    first = _TILDE.match(text)
    made = _unescaped(text)
    if first and "~" in made:
        if text.startswith(("~+", "~-")):
            return shell.cwd + made[2:]
        before = node.prev_sibling
        joined = node.parent is not None and node.parent.type == "concatenation"
        if not (joined and before is not None and before.end_byte == node.start_byte):
            made = made.replace("~", TILDE, 1)
    elif text.startswith("~"):
        made = "/root" + made[5:] if text.startswith("~root") else "/home/" + made[1:]
    return made


def _unescaped(text: str) -> str:
    """Unquoted text: what a backslash precedes is only itself."""
    made, at = "", 0
    for found in _UNQUOTE.finditer(text):
        made += live(text[at : found.start()]) + ("" if found[1] == "\n" else found[1])
        at = found.end()
    return made + live(text[at:])


def _string(node: Node, shell: Shell, quoted: bool) -> str:
    start, end = node.start_byte + 1, node.end_byte - 1
    source = node.text or b""
    if node.named_child_count == 0:
        return _double(source[1:-1]) or EMPTY
    parts: list[str] = []
    at = start
    for child in node.named_children:
        if child.type == "string_content":
            continue
        parts.append(_double(source[at - node.start_byte : child.start_byte - node.start_byte]))
        parts.append(raw_word(child, shell, True))
        at = child.end_byte
    parts.append(_double(source[at - node.start_byte : end - node.start_byte]))
    return "".join(parts) or EMPTY


_IN_DOUBLE = pattern(r"\\([\\$`\"\n])")


def _double(source: bytes) -> str:
    text = source.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    return _IN_DOUBLE.sub(lambda found: "" if found[1] == "\n" else found[1], text)


def _raw(node: Node, shell: Shell, quoted: bool) -> str:
    return _text(node)[1:-1] or EMPTY


def _ansi(node: Node, shell: Shell, quoted: bool) -> str:
    return ansi(_text(node)[2:-1]) or EMPTY


def _translated(node: Node, shell: Shell, quoted: bool) -> str:
    return "".join(raw_word(child, shell, quoted) for child in node.named_children)


def _substitution(node: Node, shell: Shell, quoted: bool) -> str:
    text = shell.substitute(node).rstrip("\n")
    return text if quoted else _split(text, shell)


def _process(node: Node, shell: Shell, quoted: bool) -> str:
    return shell.process(node)


def _simple(node: Node, shell: Shell, quoted: bool) -> str:
    return _variable(_text(node)[1:], shell, quoted)


def _variable(name: str, shell: Shell, quoted: bool) -> str:
    value = _fitting(shell.value(name), shell)
    if value is None:
        shell.scene.plain = False
        return TOKEN if secret_name(name) else UNSET
    if isinstance(value, list):
        if name in ("@", "*"):
            return NEXT.join(value) if name == "@" or not quoted else _between(shell).join(value)
        return value[0] if value else ""
    return value if quoted else _split(live(value), shell)


def _fitting(value: Value | None, shell: Shell) -> Value | None:
    """A value as far as it is followed."""
    if isinstance(value, list):
        return value if sum(map(len, value)) <= MAX_TEXT else [shell.scene.fit("".join(value))]
    return value if value is None else shell.scene.fit(value)


def _split(text: str, shell: Shell) -> str:
    """Field splitting, with the separators this shell was given."""
    given = shell.variables.get("IFS")
    if isinstance(given, str):
        # the text may have live letters by now, the separators do not
        return re.sub(f"[{re.escape(given + live(given))}]+", SPLIT, text) if given else text
    return _BLANK.sub(SPLIT, text)


def _between(shell: Shell) -> str:
    """What is between the words of `"$*"`."""
    given = shell.variables.get("IFS")
    return given[:1] if isinstance(given, str) else " "


def _expansion(node: Node, shell: Shell, quoted: bool) -> str:
    for child in node.named_children:
        if child.type == "subscript":
            shell.visit_inside(child)
    inside = _text(node)[2:-1]
    structured = any(child.type in _STRUCTURED for child in node.named_children)
    if not structured and ("`" in inside or "$(" in inside):
        shell.reveal(inside)
    found = _NAME.match(inside)
    if found is None:
        return OUT
    operator = _OPERATOR.match(found[4])
    start = node.end_byte - 1 - len(found[4].encode()) + (operator.end() if operator else 0)
    word = _operand(node, start, shell, quoted or operator is None)
    if operator is None:
        return _parameter(found, word, shell, quoted)
    value = _get(found, shell, quoted)
    if "+" in operator[0]:
        return word
    if value is not None and not (value == "" and operator[0].startswith(":")):
        return value
    if "?" in operator[0]:
        return _asserted(found[2], found[4], shell)
    if "=" in operator[0]:
        shell.variables[found[2]] = literal(word.replace(SPLIT, " ").replace(NEXT, " "))
    return word


def _operand(node: Node, start: int, shell: Shell, quoted: bool) -> str:
    """The word behind the operator of `${X:-word}`, expanded like any other word.

    The grammar opens only some of it: what it leaves out, or gives as text, is read here.
    """
    source, base, at = node.text or b"", node.start_byte, start
    made = ""
    for child in _leaves(node):
        if child.start_byte < at:
            continue
        made += _loose(source[at - base : child.start_byte - base], shell, quoted, not made)
        if child.type in ("word", "regex", "number"):
            made += _loose(child.text or b"", shell, quoted, not made)
        else:
            made += raw_word(child, shell, quoted)
        at = child.end_byte
    return made + _loose(source[at - base : -1], shell, quoted, not made)


def _leaves(node: Node) -> Iterator[Node]:
    """The parts of an expansion, those of a concatenation one by one."""
    for child in node.named_children:
        if child.type == "concatenation":
            yield from _leaves(child)
        else:
            yield child


def _loose(source: bytes, shell: Shell, quoted: bool, first: bool) -> str:
    """Text inside an expansion, in which a `$NAME` may be that the grammar did not see."""
    text, made, at = source.decode("utf-8", "replace"), "", 0
    for found in _DOLLAR.finditer(text):
        if found[1]:
            made += _letters(text[at : found.start()], shell, quoted)
            made += _variable(found[1], shell, quoted)
            at = found.end()
    made += _letters(text[at:], shell, quoted)
    if first and made.startswith("~") and _TILDE.match(made):
        home = shell.value("HOME")
        return (home if isinstance(home, str) else UNSET) + made[1:]
    return made


def _letters(text: str, shell: Shell, quoted: bool) -> str:
    return _double(text.encode()) if quoted else _split(_unescaped(text), shell)


def _parameter(found: re.Match[str], rest: str, shell: Shell, quoted: bool) -> str:
    """`${X}`, `${X%…}`, `${X/…/…}` and the like."""
    value = _get(found, shell, quoted)
    if found[1] == "#":
        return "1"
    if rest.startswith(("@P", "@A")):
        shell.reveal(value)
        return value if value is not None else OUT
    if value is None:
        shell.scene.plain = False
        return TOKEN if secret_name(found[2]) else UNSET
    return shaped(value, found[4] if rest.startswith(":") else rest)


def _asserted(name: str, rest: str, shell: Shell) -> str:
    """`${X:?}` of an unknown variable: not empty, or nothing is run."""
    shell.scene.plain = False
    if secret_name(name):
        return TOKEN
    return OUT if rest.startswith(":?") else UNSET


def _get(found: re.Match[str], shell: Shell, quoted: bool) -> str | None:
    value = _fitting(shell.value(found[2]), shell)
    if found[1] == "!":
        value = _fitting(shell.value(value), shell) if isinstance(value, str) else None
    index = found[3]
    keyed = _fitting(shell.value(f"{found[2]}[{index.strip(QUOTES)}]"), shell) if index else None
    if isinstance(keyed, str):
        value = keyed
    if isinstance(value, list):
        if index in ("@", "*") or found[2] in ("@", "*"):
            return NEXT.join(value) if index != "*" or not quoted else _between(shell).join(value)
        at = int(index) if index and index.lstrip("-").isdigit() else 0
        value = value[at] if -len(value) <= at < len(value) else ""
    if isinstance(value, str) and not quoted:
        return _split(live(value), shell)
    return value


def _arithmetic(node: Node, shell: Shell, quoted: bool) -> str:
    shell.visit_inside(node)
    text = _text(node).strip("$()[] ")
    return text if text.isdigit() else "1"


def _heredoc(node: Node, shell: Shell, quoted: bool) -> str:
    return _string_like(node, shell)


def _string_like(node: Node, shell: Shell) -> str:
    source = node.text or b""
    parts, at = [], node.start_byte
    for child in node.named_children:
        if child.type in ("heredoc_content", "string_content"):
            continue
        parts.append(_double(source[at - node.start_byte : child.start_byte - node.start_byte]))
        parts.append(raw_word(child, shell, True))
        at = child.end_byte
    parts.append(_double(source[at - node.start_byte :]))
    return "".join(parts)


_MAKERS = {
    "word": _word,
    "number": _word,
    "extglob_pattern": _word,
    "test_operator": _word,
    "variable_name": _word,
    "regex": _word,
    "string": _string,
    "raw_string": _raw,
    "ansi_c_string": _ansi,
    "translated_string": _translated,
    "command_substitution": _substitution,
    "process_substitution": _process,
    "simple_expansion": _simple,
    "expansion": _expansion,
    "arithmetic_expansion": _arithmetic,
    "heredoc_body": _heredoc,
}
