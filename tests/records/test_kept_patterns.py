"""Regular expressions are kept from run to run, and are what Python would have made of them."""

import marshal
import os
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import steersman
from steersman.records.kept_patterns import KeptPatterns
from steersman.records.patterns import Pattern

SIMPLE = (r"(?P<day>\d+)\.(?P<month>\d+)", re.IGNORECASE)


@pytest.fixture(autouse=True)
def written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def every_pattern() -> set[tuple[str, int]]:
    """The patterns that the package's modules have, by themselves or in tables."""
    for found in pkgutil.walk_packages(steersman.__path__, "steersman."):
        if found.name.startswith(("steersman.governance", "steersman.records", "steersman.store")):
            import_module(found.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("steersman.")]
    values = (value for module in modules for value in vars(module).values())
    return {(value.text, int(value.flags)) for value in values if isinstance(value, Pattern)}


def test_what_is_kept_is_what_python_compiles(tmp_path: Path) -> None:
    patterns = every_pattern()
    assert len(patterns) > 100
    first = KeptPatterns(str(tmp_path / "kept"))
    for text, flags in patterns:
        first.compile(text, flags)
    first.keep()

    second = KeptPatterns(str(tmp_path / "kept"))

    for text, flags in patterns:
        assert (text, flags) in second._known
        assert second.compile(text, flags) == re.compile(text, flags)


def test_a_kept_one_has_names_and_flags(tmp_path: Path) -> None:
    for _ in range(2):
        kept = KeptPatterns(str(tmp_path / "kept"))
        made = kept.compile(*SIMPLE)
        kept.keep()
        found = made.fullmatch("24.12")
        assert found is not None
        assert found.groupdict() == {"day": "24", "month": "12"}
        assert made.flags == re.compile(*SIMPLE).flags


def test_what_several_programs_keep_is_together(tmp_path: Path) -> None:
    file = str(tmp_path / "kept")
    one, other = KeptPatterns(file), KeptPatterns(file)
    one.compile("one", 0)
    other.compile("other", 0)
    one.keep()
    other.keep()
    assert {text for text, _ in KeptPatterns(file)._known} == {"one", "other"}


@pytest.mark.parametrize("content", [b"", b"nonsense", marshal.dumps(7), marshal.dumps((1, {}))])
def test_a_file_of_another_python_or_none_at_all_is_not_used(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "kept").write_bytes(content)
    kept = KeptPatterns(str(tmp_path / "kept"))
    assert kept.compile(*SIMPLE) == re.compile(*SIMPLE)
    kept.keep()
    assert set(KeptPatterns(str(tmp_path / "kept"))._known) == {(SIMPLE[0], int(SIMPLE[1]))}


def test_where_nothing_can_be_written_python_compiles(tmp_path: Path) -> None:
    kept = KeptPatterns(str(tmp_path / "missing" / "kept"))
    assert kept.compile(*SIMPLE) == re.compile(*SIMPLE)
    kept.keep()
    assert not (tmp_path / "missing").exists()


def test_without_a_place_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = KeptPatterns("")
    assert kept.compile(*SIMPLE) == re.compile(*SIMPLE)
    kept.keep()
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_can_change_what_is_kept(tmp_path: Path) -> None:
    kept = KeptPatterns(str(tmp_path / "kept"))
    kept.compile(*SIMPLE)
    before = os.umask(0)
    try:
        kept.keep()
    finally:
        os.umask(before)
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o644


def test_what_is_not_as_it_was_written_is_compiled_again(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    kept = KeptPatterns(str(file))
    kept.compile(*SIMPLE)
    kept.keep()
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        assert KeptPatterns(str(file)).compile(*SIMPLE) == re.compile(*SIMPLE)


def test_a_wrong_expression_is_refused_as_ever(tmp_path: Path) -> None:
    with pytest.raises(re.error):
        KeptPatterns(str(tmp_path / "kept")).compile("(", 0)


def test_a_second_run_compiles_hardly_any() -> None:
    """The first keeps them; the second asks Python's compiler for what is made from tables."""
    program = (
        "from steersman.records.kept_patterns import KEPT;"
        "import re._compiler as compiler; made = []; real = compiler.compile;"
        "compiler.compile = lambda *given: (made.append(given[0]), real(*given))[1];"
        "from steersman.governance.guard.judge import judge;"
        "from steersman.records.judgement import CommandPlace;"
        "made.clear(); judge('echo a >> b', CommandPlace('/w', '/h', '/w'));"
        "print(len(made)); KEPT.keep()"
    )
    line = [sys.executable, "-B", "-c", f"import sys; sys.dont_write_bytecode = False; {program}"]
    runs = [subprocess.run(line, capture_output=True, text=True, check=True) for _ in range(2)]
    assert int(runs[1].stdout) < 3
