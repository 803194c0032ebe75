"""What an outline tells of a file, in every language that has a grammar here."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.operations.code.trees import grammar, languages
from steersman.operations.code.trees.definition import Definition, nested
from steersman.operations.code.trees.languages import BY_NAME, LANGUAGES, Language
from steersman.operations.code.trees.outline import LONGEST_SIGNATURE, outline
from steersman.operations.code.trees.reading import LARGEST, Unreadable

HERE = Path(__file__).parent
SAMPLES = sorted((HERE / "samples").iterdir(), key=lambda path: path.name)
PYTHON = BY_NAME["python"]
WITH_GRAMMAR = [language for language in LANGUAGES if language.grammar]


def shown(found: list[Definition]) -> list[str]:
    """An outline as a person reads it: place, kind, name path, signature."""
    return [
        f"{one.line}-{one.end_line}:{one.column} {one.kind} {one.name_path} | {one.signature}"
        for one in found
    ]


def paths(source: str, language: Language = PYTHON) -> list[str]:
    """The name paths in a source."""
    return [one.name_path for one in outline(source.encode(), language)]


def expected() -> dict[str, list[str]]:
    """`outlines.txt`: a name in brackets, then the lines of its outline."""
    found: dict[str, list[str]] = {}
    for line in (HERE / "outlines.txt").read_text().splitlines():
        if line.startswith("[") and line.endswith("]"):
            lines = found[line[1:-1]] = []
        elif line:
            lines.append(line)
    return found


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_every_language_has_an_outline(sample: Path) -> None:
    name = sample.name.removesuffix(".txt")
    language = languages.of_path(name)
    assert language is not None
    assert shown(outline(sample.read_bytes(), language)) == expected()[name]


@pytest.mark.parametrize("language", WITH_GRAMMAR, ids=lambda language: language.name)
def test_the_tables_speak_of_nodes_that_the_grammar_has(language: Language) -> None:
    ready = grammar.grammar(language)
    table = ready.table
    named = {*table.define, *table.enter, *table.outside, *table.needs_body, *table.members}
    named |= {node for node in table.refine}
    assert {n for n in named if ready.syntax.id_for_node_kind(n, True) is None} == set()
    refining = {node for inner in table.refine.values() for node in inner}
    known = {
        node
        for node in refining
        for is_named in (True, False)
        if ready.syntax.id_for_node_kind(node, is_named) is not None
    }
    assert refining == known


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.py", "python"),
        ("a.pyi", "python"),
        ("A.JAVA", "java"),
        ("x/y.tsx", "tsx"),
        ("y.mjs", "javascript"),
        ("a.h", "c"),
        ("a.hpp", "cpp"),
        ("Rakefile", "ruby"),
        ("README.md", "markdown"),
        ("uv.lock", "toml"),
    ],
)
def test_a_name_tells_the_language(path: str, name: str) -> None:
    assert languages.of_path(path) == BY_NAME[name]


@pytest.mark.parametrize("path", ["a.txt", "a", ".py", "noending", "photo.png"])
def test_some_names_tell_none(path: str) -> None:
    assert languages.of_path(path) is None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"#!/bin/sh\n", "bash"),
        (b"#! /usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/env -S FOO=1 node --x\n", "javascript"),
        (b"#!/opt/ruby/bin/ruby -w\n", "ruby"),
    ],
)
def test_the_first_line_tells_the_language_of_a_script(line: bytes, name: str) -> None:
    assert languages.of_first_line(line) == BY_NAME[name]


@pytest.mark.parametrize("line", [b"", b"hello", b"#!/usr/bin/awk -f", b"#!", b"# python"])
def test_other_first_lines_tell_none(line: bytes) -> None:
    assert languages.of_first_line(line) is None


def test_a_missing_grammar_is_told_in_a_sentence() -> None:
    strange = Language("strange", "not_there", (".strange",))
    assert not languages.is_known(strange)
    with pytest.raises(Unreadable, match=r"pip install tree-sitter-not-there"):
        outline(b"x", strange)


def test_what_does_not_parse_still_has_an_outline() -> None:
    broken = "def good():\n    pass\n\ndef broken(:\n    x = (\n\n"
    rest = "class Later:\n    def inside(self): 1\n"
    found = outline((broken + rest).encode(), PYTHON)
    assert shown(found) == [
        "1-2:5 function good | def good()",
        "7-8:7 class Later | class Later",
        "8-8:9 method Later/inside | def inside(self)",
    ]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\xef\xbb\xbfdef first(): 1\n", ["1-1:5 function first | def first()"]),
        (
            b"# \xe9t\xe9\r\nclass A:\r\n\tdef b(self,\r\n\t\t\tc): 1\r\n",
            ["2-4:7 class A | class A", "3-4:6 method A/b | def b(self, c)"],
        ),
        ('x = "ä"; y = 1\n'.encode(), [
            '1-1:1 variable x | x = "ä"', "1-1:10 variable y | y = 1",
        ]),
        ("def größe(): 1\n".encode(), ["1-1:5 function größe | def größe()"]),
        ("def wide(): 1\n".encode("utf-16"), ["1-1:5 function wide | def wide()"]),
    ],
    ids=["empty", "byte order mark", "latin-1, CRLF and tabs", "columns", "umlauts", "utf-16"],
)  # fmt: skip
def test_encodings_and_line_ends(content: bytes, lines: list[str]) -> None:
    assert shown(outline(content, PYTHON)) == lines


def test_what_is_no_text_or_too_much_has_none() -> None:
    with pytest.raises(Unreadable, match="not a text"):
        outline(b"def a(): 1\n\0", PYTHON)
    with pytest.raises(Unreadable, match="larger than 2 MB"):
        outline(b"#" * (LARGEST + 1), PYTHON)


def test_deep_nesting_ends_somewhere() -> None:
    deep = "".join(f"{' ' * n}def f{n}():\n" for n in range(300)) + " " * 300 + "pass\n"
    found = paths(deep)
    assert found[:2] == ["f0", "f0/f1"]
    assert len(found) < 300
    assert paths("x = " + "(" * 50_000 + ")" * 50_000 + "\ndef after(): 1\n") in (
        ["x", "after"], ["x"], ["after"], [],
    )  # fmt: skip


def test_signatures_are_one_short_line() -> None:
    (one,) = outline(b"def f(" + b"argument: int,\n" * 100 + b"): pass\n", PYTHON)
    assert len(one.signature) == LONGEST_SIGNATURE
    assert one.signature.startswith("def f(argument: int, argument: int")
    assert "\n" not in one.signature


def test_nested_to_a_depth() -> None:
    found = outline(b"class A:\n    class B:\n        def c(self): 1\ndef d(): 1\n", PYTHON)
    flat = nested(found, "a.py", 0)
    assert [(one.name_path, one.children) for one in flat] == [("A", ()), ("d", ())]
    (b,) = nested(found, "a.py", 1)[0].children
    assert (b.name_path, b.path, b.children) == ("A/B", "a.py", ())
    assert [one.name_path for one in nested(found, "a.py", 2)[0].children[0].children] == ["A/B/c"]


def test_methods_stand_below_their_type_wherever_they_are_written() -> None:
    source = (
        b"package p\nfunc (c *Client) Send() {}\ntype Client struct{}\nfunc (o Other) Go() {}\n"
    )
    found = nested(outline(source, BY_NAME["go"]), "p.go", 1)
    assert [(one.name_path, len(one.children)) for one in found] == [("Client", 1), ("Other/Go", 0)]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_no_bytes_make_it_fail(language: Language) -> None:
    """Samples with pieces cut out, doubled and mixed, by a fixed seed."""
    chance = random.Random(language.name)
    texts = [path.read_bytes() for path in SAMPLES]
    for _ in range(25):
        source = chance.choice(texts)
        start, end = sorted(chance.choices(range(len(source) + 1), k=2))
        piece = source[start:end] * chance.randint(0, 3) + chance.choice(texts)[:start]
        for one in outline(piece.replace(b"\0", b""), language):
            assert 1 <= one.line <= one.end_line <= piece.count(b"\n") + 1
            assert one.column >= 1
            assert one.name


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="def class():\n\t #\"'xyé=,[]{}@*", max_size=200))
def test_lines_and_columns_point_at_the_name(source: str) -> None:
    content = source.encode()
    lines = source.split("\n")
    for one in outline(content, PYTHON):
        assert lines[one.line - 1][one.column - 1 :].startswith(one.name.replace("|", "/"))


def test_plain_files_of_this_repository_have_outlines() -> None:
    root = HERE.parents[3]
    found = outline((root / "AGENTS.md").read_bytes(), BY_NAME["markdown"])
    assert os.path.isfile(root / "AGENTS.md")
    assert [one.name_path for one in found][:2] == [
        "Working in this repository",
        "Working in this repository/Commands",
    ]
