"""Which `rg` is used, and that nothing of it is left when a search is cancelled."""

import asyncio
import os

import pytest

from steersman.operations.finding import Query, SearchPlace, find, program
from steersman.records.errors import ToolProblem
from tests.operations.finding.kit import plant

SLOW = "#!/bin/sh\necho $$ > {0}/pid\nexec sleep 600\n"


def fake(folder, name="rg", text="#!/bin/sh\n"):
    plant(folder, {name: text})
    (folder / name).chmod(0o755)
    return str(folder / name)


def test_the_rg_of_the_path_comes_first_then_the_wheel(folder, tmp_path):
    mine = fake(tmp_path / "bin")
    assert program.ripgrep({"PATH": f"relative::{tmp_path}/bin"}, str(folder)) == mine
    of_the_wheel = program.ripgrep({"PATH": ""}, str(folder))
    assert of_the_wheel is not None
    assert os.path.basename(of_the_wheel) == "rg"


def test_an_rg_of_the_workspace_is_never_used(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(program, "_of_the_wheel", list)
    inside = fake(folder / "bin")
    (tmp_path / "link").mkdir()
    os.symlink(inside, tmp_path / "link" / "rg")
    for path in (folder / "bin", tmp_path / "link", "bin", "."):
        assert program.ripgrep({"PATH": str(path)}, str(folder)) is None


def test_settings_of_ripgrep_are_not_read(folder, tmp_path, finder):
    plant(folder, {"f": "harbour\n", ".ignore": "f\n", ".rgignore": "f\n"})
    plant(tmp_path, {"settings": "--files\n--pre=false\n"})
    assert finder.text("harbour")["total"] == 1


@pytest.mark.parametrize("end", ["cancel", "time limit"])
def test_a_search_that_is_ended_leaves_no_process(folder, tmp_path, monkeypatch, end):
    fake(tmp_path / "bin", text=SLOW.format(tmp_path))
    place, noted = SearchPlace(str(folder), str(folder)), tmp_path / "pid"

    async def begin_and_end():
        search = asyncio.create_task(find(place, Query("x"), {"PATH": f"{tmp_path}/bin:/bin"}))
        if end == "cancel":
            while not (noted.exists() and noted.read_text().strip()):
                await asyncio.sleep(0.01)
            search.cancel()
        await search

    monkeypatch.setattr(program, "LONGEST", 600 if end == "cancel" else 0.5)
    expected = asyncio.CancelledError if end == "cancel" else ToolProblem
    with pytest.raises(expected):
        asyncio.run(begin_and_end())
    assert not os.path.exists(f"/proc/{noted.read_text().strip()}")


def test_a_pattern_that_never_ends_is_ended(folder, monkeypatch):
    monkeypatch.setattr(program, "_of_the_wheel", list)
    monkeypatch.setattr(program, "LONGEST", 1.5)
    plant(folder, {"f": "a" * 40 + "b"})
    place = SearchPlace(str(folder), str(folder))
    with pytest.raises(ToolProblem, match="was ended"):
        asyncio.run(find(place, Query("(a+)+$"), {"PATH": ""}))


def test_nothing_of_the_workspace_is_taken_for_a_module(folder, monkeypatch):
    monkeypatch.setattr(program, "_of_the_wheel", list)
    plant(folder, {"re.py": "raise SystemExit(9)", "steersman/__init__.py": "raise SystemExit(9)"})
    monkeypatch.chdir(folder)
    place = SearchPlace(str(folder), str(folder))
    assert asyncio.run(find(place, Query("Exit"), {"PATH": ""})).counts == [
        (b"re.py", 1),
        (b"steersman/__init__.py", 1),
    ]


def test_output_without_end_is_cut_short(folder, tmp_path, monkeypatch):
    endless = fake(tmp_path / "bin", text="#!/bin/sh\nwhile :; do echo ./f; done\n")
    monkeypatch.setattr(program, "MOST_OUTPUT", 1000)
    ran = asyncio.run(program.run([endless], str(folder), {"PATH": "/bin"}))
    assert (ran.complete, len(ran.out)) == (False, 1000)
