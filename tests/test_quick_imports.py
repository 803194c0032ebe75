"""Modules are found in fewer steps, and are what Python would have made of them."""

import importlib
import importlib.util
import os
import py_compile
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from steersman.quick_imports import OTHERS, QuickFinder, QuickLoader

PLACES = ("__name__", "__package__", "__file__", "__cached__", "__path__", "__doc__")


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with a module and a package in it, which have been imported before."""
    folder = tmp_path / "sample"
    for name in ("__init__.py", "one.py", "inner/__init__.py", "inner/two.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f'"""{name}"""\nVALUE = 1\n')
        py_compile.compile(str(folder / name))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield folder
    forget()


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "sample"]:
        del sys.modules[name]


def imported(name: str) -> ModuleType:
    forget()
    importlib.invalidate_caches()
    return importlib.import_module(name)


@pytest.mark.parametrize("name", ["sample.one", "sample.inner", "sample.inner.two"])
def test_a_module_is_the_same_however_it_is_found(
    sample: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    usual = imported(name)
    monkeypatch.setattr(sys, "meta_path", [QuickFinder("sample"), *sys.meta_path])
    quick = imported(name)
    assert isinstance(quick.__loader__, QuickLoader)
    assert [getattr(quick, place, None) for place in PLACES] == [
        getattr(usual, place, None) for place in PLACES
    ]
    assert quick.VALUE == usual.VALUE
    assert quick.__loader__.get_source(name) == Path(str(usual.__file__)).read_text()
    assert importlib.reload(quick) is quick


@pytest.fixture
def found_quickly(sample: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "meta_path", [QuickFinder("sample"), *sys.meta_path])
    return sample


def as_ever(name: str) -> ModuleType:
    """A module that Python found itself."""
    module = imported(name)
    assert type(module.__loader__) is SourceFileLoader
    return module


def test_a_source_that_changed_is_compiled_again(found_quickly: Path) -> None:
    (found_quickly / "one.py").write_text("VALUE = 1000\n")
    assert as_ever("sample.one").VALUE == 1000
    assert isinstance(imported("sample.one").__loader__, QuickLoader)


def test_so_is_one_of_the_same_size_and_another_time(found_quickly: Path) -> None:
    source = found_quickly / "one.py"
    source.write_text(source.read_text().replace("1", "2"))
    os.utime(source, (1, 1))
    assert as_ever("sample.one").VALUE == 2


def test_what_was_never_compiled_is_found_by_python(found_quickly: Path) -> None:
    (found_quickly / "new.py").write_text("VALUE = 3\n")
    assert as_ever("sample.new").VALUE == 3


def test_bytecode_of_another_python_or_kind_is_left_to_python(found_quickly: Path) -> None:
    cached = Path(importlib.util.cache_from_source(str(found_quickly / "one.py")))
    cached.write_bytes(b"\0\0\r\n" + cached.read_bytes()[4:])
    assert as_ever("sample.one").VALUE == 1
    kind = py_compile.PycInvalidationMode.CHECKED_HASH
    py_compile.compile(str(found_quickly / "one.py"), invalidation_mode=kind)
    assert as_ever("sample.one").VALUE == 1
    cached.write_bytes(b"")
    assert as_ever("sample.one").VALUE == 1


def test_a_module_without_its_source_is_missing(found_quickly: Path) -> None:
    (found_quickly / "one.py").unlink()
    with pytest.raises(ModuleNotFoundError):
        imported("sample.one")


def test_a_folder_of_that_name_is_found_in_place_of_a_removed_module(found_quickly: Path) -> None:
    (found_quickly / "one.py").unlink()
    (found_quickly / "one").mkdir()
    (found_quickly / "one" / "__init__.py").write_text("VALUE = 4\n")
    assert as_ever("sample.one").VALUE == 4


COMMAND = """
import sys
from steersman.__main__ import main
try:
    main()
except SystemExit:
    pass
print(type(sys.modules["steersman.ports.cli.app"].__loader__).__name__)
"""


def test_the_command_line_finds_its_modules_so() -> None:
    line = [sys.executable, "-c", COMMAND, "--help"]
    environ = {"PATH": os.environ["PATH"]}
    first, again = (
        subprocess.run(line, env=environ, capture_output=True, text=True, check=True)
        for _ in range(2)  # the first compiles what nobody compiled before
    )
    assert again.stdout.splitlines()[-1] == "QuickLoader", first.stderr


@pytest.mark.parametrize("package", OTHERS)
def test_other_packages_have_no_compiled_module_that_python_would_prefer(package: str) -> None:
    found = importlib.util.find_spec(package)
    assert found is not None
    [folder] = found.submodule_search_locations or []
    endings = tuple(importlib.machinery.EXTENSION_SUFFIXES)
    assert [one.name for one in Path(folder).rglob("*") if one.name.endswith(endings)] == []
