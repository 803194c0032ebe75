"""What users read is plain English: no phrase of `words.txt`, numbers agree with their nouns."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "steersman"
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
DATA = [
    path
    for path in sorted(SOURCE.rglob("*"))
    if path.suffix in {".md", ".toml", ".json", ".txt"} and "guard" not in path.parts
]
NOUNS = (
    r"agent|answer|byte|call|change|character|command|commit|connection|day|"
    r"definition|entrie|error|excerpt|file|hit|hunk|item|line|matche|message|"
    r"model|object|part|path|place|process|question|request|result|rule|server|"
    r"setting|skill|step|symbol|task|thread|time|token|tool|use"
)
COMMENT = re.compile(r"(?:^|\s)(# .*(?:\n[ \t]*# .*)*)", re.MULTILINE)
PLURAL = re.compile(rf"\s(?:[a-z]+ )?(?:{NOUNS})e?s\b(?! of| nothing)")
ONE = re.compile(rf"(?<![\d,.])1 (?:more )?(?:{NOUNS})e?s\b")


def phrases() -> Iterator[tuple[re.Pattern[str], str, str]]:
    """Each phrase, what to write, and the file in which it is right."""
    for line in (ROOT / "tests" / "words.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            phrase, instead, *right = line.split("\t")
            spaced = phrase.replace(" ", r"\s+")
            yield re.compile(spaced, re.IGNORECASE), instead, right[0] if right else ""


@cache
def trees() -> list[tuple[Path, ast.Module]]:
    """Every module of the package."""
    return [(path, ast.parse(path.read_text())) for path in sorted(SOURCE.rglob("*.py"))]


@cache
def texts() -> list[tuple[Path, int, str]]:
    """All of them, read once."""
    return list(_texts())


def _texts() -> Iterator[tuple[Path, int, str]]:
    """Every text with its file and its first line: literals, docstrings, comments, names in words,
    pages and data files.
    """
    for path, tree in trees():
        for hit in COMMENT.finditer(source := path.read_text()):
            yield path, source.count("\n", 0, hit.start(1)) + 1, hit[1].replace("#", " ")
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path, node.lineno, node.value
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield path, node.lineno, node.name.replace("_", " ")
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield path, node.lineno, node.id.replace("_", " ")
    for path in [*PAGES, *DATA]:
        yield path, 1, path.read_text()


def key(phrase: re.Pattern[str]) -> str:
    """Letters that are in every text with a phrase: to look for those first is much faster."""
    plain = re.sub(r"\\.|\[[^]]*\]", "\0", phrase.pattern)
    while "(" in plain:
        plain = re.sub(r"\([^()]*\)", "\0", plain)
    return max(re.findall("[a-z]+", re.sub(r".[?*]", "\0", plain)), key=len)


def test_no_text_has_a_phrase_that_people_do_not_use():
    rows = [(key(phrase), phrase, *more) for phrase, *more in phrases()]
    found = [
        f"{path.relative_to(ROOT)}:{line + text.count(chr(10), 0, hit.start())}: "
        f"“{hit[0]}”: write {instead}"
        for path, line, text in texts()
        for small in (text.lower(),)
        for letters, phrase, instead, right in rows
        if letters in small
        if not right or not str(path).endswith(right.partition(":")[0])
        for hit in phrase.finditer(text)
    ]
    assert not found, "\n".join(found)


def test_every_exception_has_a_reason_and_is_needed():
    for phrase, _, right in phrases():
        if right:
            name, _, why = right.partition(": ")
            assert why
            assert phrase.search((SOURCE / name).read_text()), f"{name} has no {phrase.pattern}"


def test_numbers_agree_with_their_nouns():
    """Where a number is put before a plural, `counted` does it."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {{{ast.unparse(value.value)}}}{text.value[:30]}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for value, text in zip(node.values, node.values[1:], strict=False)
        if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant)
        if PLURAL.match(text.value) and not _never_one(value)
    ]
    found += [
        f"{path.relative_to(ROOT)}:{line}: {hit[0]}"
        for path, line, text in texts()
        for hit in ONE.finditer(text)
    ]
    assert not found, "\n".join(found)


def _never_one(value: ast.FormattedValue) -> bool:
    """A constant, a number with a fraction, or one that a function has put in words."""
    spec = ast.unparse(value.format_spec) if value.format_spec else ""
    names = [node.id for node in ast.walk(value.value) if isinstance(node, ast.Name)]
    return (
        any(letter in spec for letter in "gf%")
        or "amount" in names
        or (bool(names) and all(name.isupper() for name in names))
    )


@pytest.mark.parametrize(
    ("text", "hits"),
    [
        ("The model is\n    told why.", 1),
        ("calls that can be told apart", 0),
        ("`steer doctor` tells what is missing", 1),
        ("`steer tell ID TEXT`", 0),
        ("leave it out", 0),
        ("it was let through", 1),
    ],
)
def test_phrases_are_found_across_lines_and_only_as_words(text, hits):
    assert sum(len(phrase.findall(text)) for phrase, _, _ in phrases()) == hits
