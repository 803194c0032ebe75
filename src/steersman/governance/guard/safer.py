"""The same command in a form that does less harm when something is not as expected."""

import re

from tree_sitter import Node

from steersman.governance.guard.shell import parse

_VARIABLE = re.compile(r"\A(\"?)\$(?:\{(\w+)\}|(\w+))(?=\"?/)")
_ALWAYS_SET = ("HOME", "PWD", "OLDPWD", "USER")


def safer(command: str) -> str:
    """The command with a safer form of its parts; empty when there is none.

    `git push --force` stops with a lease when someone else has pushed; `rm -r $X/…` stops with
    `${X:?}` when the variable is empty. Only what is written out is changed, nothing in quotes.
    """
    if not command.isascii():  # places in the tree are bytes
        return ""
    root = parse(command)
    if root.has_error:
        return ""
    made = command
    for start, end, text in sorted(_changes(root), reverse=True):
        made = made[:start] + text + made[end:]
    return made if made != command else ""


def _changes(node: Node) -> list[tuple[int, int, str]]:
    found = [change for child in node.named_children for change in _changes(child)]
    if node.type == "command":
        words = [child for child in node.named_children if not child.type.endswith("redirect")]
        texts = [(word.text or b"").decode() for word in words]
        name = texts[0].rpartition("/")[2] if texts else ""
        if name == "git" and "push" in texts:
            found += _leased(words, texts)
        elif name == "rm" and any(re.fullmatch(r"-\w*[rR]\w*|--recursive", text) for text in texts):
            found += _set(words, texts)
    return found


def _leased(words: list[Node], texts: list[str]) -> list[tuple[int, int, str]]:
    start = texts.index("push")
    return [
        (word.start_byte, word.end_byte, "--force-with-lease")
        for word, text in zip(words[start:], texts[start:], strict=True)
        if text in ("-f", "--force")
    ]


def _set(words: list[Node], texts: list[str]) -> list[tuple[int, int, str]]:
    made = []
    for word, text in zip(words, texts, strict=True):
        found = _VARIABLE.match(text)
        if found and (name := found[2] or found[3]) not in _ALWAYS_SET:
            end = word.start_byte + found.end()
            made.append((word.start_byte, end, f"{found[1]}${{{name}:?}}"))
    return made
