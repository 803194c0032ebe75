"""Checkers at work: real ones on repositories with known mistakes, and some that misbehave."""

import json
import os
import sys
from typing import Any

import pytest

from steersman.operations.code.backend import Spot, Unable, Wanted
from steersman.operations.code.checkers.backend import CheckerBackend
from steersman.operations.code.checkers.table import Checker
from steersman.records.action import Read
from steersman.records.errors import ToolProblem
from tests.operations.code.lsp.kit import REPOS, Yard
from tests.provision import node, package

MACHINE = "/usr/bin:/bin"


def check(yard: Yard, *names: str, checkers: tuple[Checker, ...] = (), path: str = MACHINE) -> Any:
    """What checkers say about files or folders of a yard."""

    async def work(companions: Any) -> Any:
        backend = CheckerBackend(str(yard.root), companions, {"PATH": path}, checkers)
        paths = tuple(yard.path(name) if name != "." else str(yard.root) for name in names)
        assert all(backend.serves("diagnostics", path) for path in paths)
        return await backend.diagnostics(paths, yard.bench())

    return yard.run(work)


def lines(found: Any, source: str) -> list[tuple[str, int, str]]:
    return [(d.path, d.line, d.severity) for d in found if d.source == source]


def known(repo: str) -> list[tuple[str, int, str]]:
    told = json.loads((REPOS / repo / "expected.json").read_text())["diagnostics"]
    return [(one["path"], one["line"], one["severity"]) for one in told]


@pytest.mark.parametrize("asked", ["src/harbour/broken.py", "src", "."])
def test_python_by_ty(tmp_path, asked):
    found = check(Yard(tmp_path, "python"), asked)
    assert "ty" in found.by
    assert found.failed == ()
    assert lines(found, "ty") == known("python")


@pytest.mark.parametrize("asked", ["src/broken.ts", "src"])
def test_typescript_by_tsc(tmp_path, asked):
    programs = f"{package('typescript').parent / '.bin'}:{MACHINE}"
    found = check(Yard(tmp_path, "typescript"), asked, path=programs)
    assert found.by == ("tsc",)
    assert lines(found, "tsc") == known("typescript")


def test_what_was_not_asked_for_is_left_out(tmp_path):
    programs = f"{package('typescript').parent / '.bin'}:{MACHINE}"
    assert check(Yard(tmp_path, "typescript"), "src/ships.ts", path=programs) == []


def test_several_languages_at_once(tmp_path):
    yard = Yard(tmp_path)
    (yard.root / "a.sh").write_text('if true; then\necho "x\n')
    (yard.root / "b.js").write_text('const s = "🚢"; let x = ;\n')
    (yard.root / "c.py").write_text("def f(:\n    pass\n")
    found = check(yard, ".", path=f"{os.path.dirname(node())}:/bin")
    assert {"node", "ty"} < set(found.by)
    assert {d.path for d in found} == {"a.sh", "b.js", "c.py"}
    assert all(d.severity == "error" for d in found)


def speaker(code: str, **fields: Any) -> Checker:
    """A checker made up of a few lines of Python."""
    options = {
        "ends": (".x",),
        "always": True,
        "takes": "paths",
        "lines": r"(?P<path>.+?):(?P<line>\d+):(?P<column>\d+): (?P<message>.+)",
    }
    name = fields.pop("name", "speaker")
    return Checker(name, (sys.executable, "-c", code), **(options | fields))


@pytest.fixture
def yard(tmp_path):
    yard = Yard(tmp_path)
    (yard.root / "a.x").write_text("one\nØ🚢 two\n")
    (yard.root / "sub").mkdir()
    (yard.root / "sub" / "b.x").write_text("three\n")
    return yard


SAYS = "import sys; print(f'{sys.argv[1]}:2:%d: odd'); sys.exit(1)"


@pytest.mark.parametrize(
    ("columns", "printed", "column"),
    [("utf-32", 4, 4), ("utf-16", 5, 4), ("utf-8", 8, 4), ("utf-8", 99, 7)],
)
def test_columns_are_told_in_characters_whatever_a_checker_counts(yard, columns, printed, column):
    (said,) = check(yard, "a.x", checkers=(speaker(SAYS % printed, columns=columns),))
    assert (said.path, said.line, said.column, said.source) == ("a.x", 2, column, "speaker")


def test_the_same_thing_is_told_once_and_everybody_is_named(yard):
    both = (
        speaker(SAYS % 4, name="first", group="1"),
        speaker(SAYS % 4, name="second", group="2"),
    )
    found = check(yard, "a.x", checkers=both)
    assert [d.source for d in found] == ["first"]
    assert found.by == ("first", "second")


def test_one_that_fails_does_not_silence_the_others(yard):
    failing = speaker("import sys; sys.exit('no licence')", name="bad", group="1")
    found = check(yard, "a.x", checkers=(failing, speaker(SAYS % 4, name="good", group="2")))
    assert found.by == ("good",)
    assert found.failed == ("bad could not check. no licence",)


@pytest.mark.parametrize(
    ("code", "options", "why"),
    [
        ("import sys; sys.exit('no licence')", {}, "no licence"),
        ("print('oops')", {"lines": "", "reads": "ruff"}, "oops"),
        ("import time; time.sleep(60)", {"patience": 0.5}, "more than 0.5 seconds"),
        ("while True: print('x' * 9999)", {}, "more than 16 MB"),
    ],
)
def test_when_nobody_could_check_that_is_said(yard, code, options, why):
    with pytest.raises(Unable) as caught:
        check(yard, "a.x", checkers=(speaker(code, **options),))
    assert why in str(caught.value)


def test_a_checker_of_single_files_gets_each_file_of_a_folder_that_git_knows(yard):
    (yard.root / ".gitignore").write_text("left.x\n")
    (yard.root / "left.x").touch()
    found = check(yard, ".", checkers=(speaker(SAYS % 1, takes="file"),))
    assert [d.path for d in found] == ["a.x", "sub/b.x"]


def test_nothing_of_secret_files_or_of_elsewhere_is_told(tmp_path):
    yard = Yard(tmp_path, secret="secret.x\n")
    for name in ("a.x", "secret.x"):
        (yard.root / name).write_text("one\n")
    code = "print('a.x:1:1: fine\\nsecret.x:1:1: token\\n/etc/passwd:1:1: root\\n../b.x:1:1: up')"
    found = check(yard, ".", checkers=(speaker(code, takes="project"),))
    assert [d.message for d in found] == ["fine"]


def test_a_checker_changes_nothing(yard):
    code = (
        "import sys\n"
        "try:\n open('new', 'w')\nexcept OSError as e:\n print(f'a.x:1:1: {e.strerror}')"
    )
    (said,) = check(yard, "a.x", checkers=(speaker(code),))
    assert said.message == "Read-only file system"
    assert not (yard.root / "new").exists()


def test_one_that_runs_code_of_the_project_is_only_run_confined(tmp_path):
    yard = Yard(tmp_path, sandbox=False)
    (yard.root / "a.x").write_text("one\ntwo\n")
    assert len(check(yard, "a.x", checkers=(speaker(SAYS % 1),))) == 1
    with pytest.raises(Unable, match="could check") as caught:
        check(yard, "a.x", checkers=(speaker(SAYS % 1, runs_code=True),))
    assert "only confined" in caught.value.why


def test_checkers_do_nothing_but_check(yard):
    async def work(companions):
        backend = CheckerBackend(str(yard.root), companions, {"PATH": MACHINE})
        assert not backend.serves("find", yard.path("a.x"))
        assert not backend.serves("diagnostics", yard.path("a.x"))
        with pytest.raises(Unable):
            await backend.find(Wanted("one", str(yard.root)), yard.bench())
        with pytest.raises(Unable):
            await backend.declaration(Spot(yard.path("a.x"), 1, 1), yard.bench())
        with pytest.raises(ToolProblem, match="may not be read"):
            await backend.diagnostics((yard.path("a.x"),), yard.bench(Read(yard.path("sub/b.x"))))
        await backend.close()

    yard.run(work)
