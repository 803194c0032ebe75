"""Lines of a `.gitignore` come from strangers: they mean what git means, and none takes long."""

import resource
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.governance.rule_paths import path_pattern, spot
from steersman.governance.secret_finder import Finder
from steersman.records.errors import ToolProblem
from steersman.records.gitignore import Globs, parse
from steersman.records.gitignore_index import Index
from steersman.records.secret_files import SecretFiles

SECONDS = 30  # of the processor, after which the kernel ends the tests: without limits none ends
DEEP = "a/" * 200 + "1"


@pytest.fixture(autouse=True, scope="module")
def limits():
    """Where a line is tried in every way there is, the tests end and not the machine."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = int(spent.ru_utime + spent.ru_stime) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
    yield
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


LONG_TO_TRY = {
    "any folder, again and again": "**/" * 20 + "a*1c",
    "any folder between folders": "**/a/" * 20 + "a*1c",
    "any folder between two folders": "**/a/a/" * 20 + "*1c",
    "any folder between any names": "**/*/" * 20 + "*1c",
    "any folder between stars": "**/*a*/" * 20 + "*1c",
    "a star, again and again": "*" * 500 + "1c",
    "stars between letters": "*a" * 500 + "*1c",
}


@pytest.mark.parametrize("line", LONG_TO_TRY.values(), ids=LONG_TO_TRY)
def test_a_line_that_can_be_tried_in_many_ways_is_answered_all_the_same(line, tmp_path):
    path = DEEP.encode()
    assert parse(line.encode()).verdict(path, False) is None
    assert Index(line).verdict(path, False) is None
    assert not Globs([line]).take(path)
    assert not SecretFiles("/w", line).covers(f"/w/{DEEP}")
    assert not path_pattern(line, "/home/ann", str).covers(spot(f"/w/{DEEP}", "/w"))


def test_a_folder_cannot_stop_the_search_for_secrets_with_its_own_lines(tmp_path):
    (tmp_path / ".steersmanignore").write_text("**/" * 20 + "a*c\n**/a/**/a/deep.txt\n")
    deep = tmp_path / ("a/" * 60)
    deep.mkdir(parents=True)
    (deep / "deep.txt").write_text("x")
    assert Finder(str(tmp_path)).find()[1] == (str(deep / "deep.txt"),)


def test_a_path_longer_than_any_disk_takes_is_not_looked_through():
    """Nothing is there to be read, and nothing is said about it that would let it be read."""
    lines = SecretFiles("/w", "*.pem")
    assert not lines.covers("/w/" + "a/" * 2000 + "1")
    assert "too long" in lines.covers("/w/" + "a/" * 100_000 + "1")
    assert not lines.covers("/elsewhere/" + "a/" * 100_000 + "1")


@pytest.mark.parametrize("long", ["[" * 1_000_000, "\\a" * 500_000, "{a," * 300_000])
def test_a_line_longer_than_any_path_is_passed_over(long):
    assert parse(f"{long}\nb".encode()).verdict(b"b", False) is True
    assert Index(f"{long}\nb").verdict(b"b", False) is True


def test_a_line_whose_choices_are_very_long_together_is_not_valid():
    assert Globs(["{a,b}" * 8]).take(b"abababab")
    for line in ("{a,b}" * 9, "{a,b}" * 8 + "c" * 4000):
        with pytest.raises(ToolProblem, match="not valid"):
            Globs([line])


def test_a_bracket_closes_after_its_first_letter():
    for line in ("*[!]a]", "*[]a]", "x[^]]"):
        assert Index(line).verdict(b"xb", False) is parse(line.encode()).verdict(b"xb", False)


NAMES = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name.strip("."))
PATHS = st.lists(NAMES, min_size=1, max_size=6).map("/".join)
PARTS = st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=4), NAMES)
LINES = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["", "/", "**/"]),
    st.lists(PARTS, min_size=1, max_size=6),
    st.sampled_from(["", "/**", "/**/a"]),
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@settings(max_examples=25, deadline=None)
@given(line=LINES, paths=st.lists(PATHS, min_size=20, max_size=40))
def test_lines_mean_what_git_means(repository, line, paths):
    (repository / ".git/info/exclude").write_text(f"{line}\n")
    asked = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin"],
        cwd=repository,
        input="\n".join(paths),
        capture_output=True,
        text=True,
    )
    rules = parse(line.encode())
    index = Index(line)
    for path in paths:
        names = path.encode().split(b"/")
        above = [(b"/".join(names[:n]), n < len(names)) for n in range(1, len(names) + 1)]
        expected = path in asked.stdout.split("\n")
        assert any(rules.verdict(*one) for one in above) is expected, (line, path)
        assert any(index.verdict(*one) for one in above) is expected, (line, path)
        pattern = path_pattern(line, "/home/ann", str) if line[0] != "/" else None
        assert pattern is None or pattern.covers(spot(f"/w/{path}", "/w")) is expected
