"""Outlines without a grammar: headings of Markdown, tables and top keys of TOML, YAML and JSON."""

from __future__ import annotations

import re
from collections.abc import Callable

from steersman.operations.code.trees.definition import Definition

LONGEST = 200
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_TOML_TABLE = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_TOML_KEY = re.compile(r"""([\w.-]+|"[^"\n]*"|'[^'\n]*')\s*=""")
_YAML_KEY = re.compile(
    r"""([^\s#'"&*!|>%@`{\[\-][^:#]*?|-[^\s:#][^:#]*?|"[^"\n]*"|'[^'\n]*')\s*:(?:\s|$)"""
)
_JSON_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\]]|\n')

Heads = list[tuple[int, int, str, str]]  # level, line, name, kind


def outline(source: bytes, language: str) -> list[Definition]:
    """The outline of a file in a language that is read line by line."""
    text = source.decode("utf-8", "replace")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    heads = _json(text) if language == "json" else _READERS[language](lines)
    return _closed(heads, lines)


def _closed(heads: Heads, lines: list[str]) -> list[Definition]:
    """Each ends where the next of its level or above begins."""
    found: list[Definition] = []
    above: list[tuple[int, str]] = []
    ends = _ends(heads, len(lines))
    for (level, line, name, kind), end in zip(heads, ends, strict=True):
        while above and above[-1][0] >= level:
            above.pop()
        part = name.replace("/", "|")
        path = "/".join([*(name for _, name in above), part])
        text = lines[line - 1] if line <= len(lines) else ""
        column = max(text.find(name), 0) + 1
        found.append(Definition(path, kind, line, end, column, text.strip()[:LONGEST]))
        above.append((level, part))
    return found


def _ends(heads: Heads, last: int) -> list[int]:
    ends = [last] * len(heads)
    open_: list[int] = []
    for place, (level, line, _, _) in enumerate(heads):
        while open_ and heads[open_[-1]][0] >= level:
            ends[open_.pop()] = max(line - 1, heads[place - 1][1])
        open_.append(place)
    return ends


def _markdown(lines: list[str]) -> Heads:
    heads: Heads = []
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line.strip(" `~"))):
            fence = "" if fence else mark[1]
        elif fence:
            continue
        elif heading := _HEADING.match(line):
            heads.append((len(heading[1]), number, (heading[2] or "").strip(), "heading"))
        elif (under := _UNDERLINE.match(line)) and number > 1 and _is_text(lines[number - 2]):
            level = 1 if under[1][0] == "=" else 2
            heads.append((level, number - 1, lines[number - 2].strip(), "heading"))
    return [head for head in heads if head[2]]


def _is_text(line: str) -> bool:
    said = line.strip()
    return bool(said) and said[0] not in "#>-*+|`~=" and not line.startswith("    ")


def _toml(lines: list[str]) -> Heads:
    heads: Heads = []
    quote = ""
    in_table = False
    for number, line in enumerate(lines, 1):
        if quote:
            quote = "" if quote in line else quote
            continue
        if table := _TOML_TABLE.match(line):
            in_table = True
            heads.append((1, number, table[1].replace('"', ""), "key"))
        elif key := _TOML_KEY.match(line):
            heads.append((2 if in_table else 1, number, key[1].strip("\"'"), "key"))
        for mark in ('"""', "'''"):
            if line.count(mark) % 2:
                quote = mark
    return heads


def _yaml(lines: list[str]) -> Heads:
    return [
        (1, number, key[1].strip("\"'"), "key")
        for number, line in enumerate(lines, 1)
        if (key := _YAML_KEY.match(line))
    ]


def _json(text: str) -> Heads:
    heads: Heads = []
    depth, line = 0, 1
    for token in _JSON_TOKEN.finditer(text):
        said = token[0]
        if said == "\n":
            line += 1
        elif said in "{[":
            depth += 1
        elif said in "}]":
            depth -= 1
        elif depth == 1 and text[token.end() : token.end() + 20].lstrip().startswith(":"):
            heads.append((1, line, said[1:-1], "key"))
    return heads


_READERS: dict[str, Callable[[list[str]], Heads]] = {
    "markdown": _markdown,
    "toml": _toml,
    "yaml": _yaml,
}
