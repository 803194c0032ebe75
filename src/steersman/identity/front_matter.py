"""The lines between `---` at the beginning of a Markdown file: names and values, without YAML.

Only the simple part is read, which is all that skills use: `name: value`, quoted values, values
that continue over indented lines, and blocks after `|` or `>`. Lists and maps are passed over.
"""

import re

from steersman.records.patterns import pattern

_FIELD = pattern(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_BLOCK = pattern(r"([|>])[+-]?\d?[+-]?(?:\s+#.*)?$")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


def parse(text: str) -> tuple[dict[str, str], str]:
    """The fields of a text, and what follows them; no fields when it does not begin with them."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return {}, text
    for end, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            return _fields(lines[1:end]), "\n".join(lines[end + 1 :])
    return {}, text


def _fields(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(lines):
        field = _FIELD.match(lines[at])
        at += 1
        if field is None:
            continue
        more = []
        while at < len(lines) and (not lines[at].strip() or lines[at][:1] in " \t"):
            more.append(lines[at])
            at += 1
        found.setdefault(field[1], _value((field[2] or "").strip(), more))
    return found


def _value(first: str, more: list[str]) -> str:
    block = _BLOCK.match(first)
    stripped = [line.strip() for line in more]
    if block is not None:
        return ("\n" if block[1] == "|" else " ").join(stripped).strip()
    if not first and stripped and stripped[0].startswith("- "):
        return ""
    joined = " ".join([first, *filter(None, stripped)]).strip()
    return _plain(joined)


def _plain(value: str) -> str:
    if value[:1] == '"':
        body = re.match(r'"((?:[^"\\]|\\.)*)"', value, re.DOTALL)
        if body is not None:
            return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), body[1])
    if value[:1] == "'":
        body = re.match(r"'((?:[^']|'')*)'", value, re.DOTALL)
        if body is not None:
            return body[1].replace("''", "'")
    return re.sub(r"\s+#.*$", "", value)
