"""Servers that do not do as they should: every question ends soon, with a sentence."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from steersman.operations.code.backend import Spot, Target, Unable, Wanted
from steersman.operations.code.lsp import session
from steersman.operations.code.lsp.backend import LspBackend, language_servers
from steersman.operations.code.lsp.servers import LanguageServer
from steersman.operations.code.records import Symbol
from steersman.records.action import Read, Search
from steersman.records.errors import ToolProblem
from tests.operations.code.lsp.kit import Yard

FAKE = Path(__file__).with_name("fake_server.py")


@pytest.fixture
def yard(tmp_path):
    yard = Yard(tmp_path, sandbox=False)
    (yard.root / "one.fake").write_text("# 🚢\n🚢 thing = 1\n")
    (yard.root / "two.fake").write_text("thing = 2\n")
    return yard


def fake(behaviour: str, yard: Yard, companions: Any, **options: Any) -> LspBackend:
    """A backend over the fake server, which writes its notes where nothing can be confined."""
    argv = (sys.executable, str(FAKE), behaviour, str(yard.root.parent / "notes"))
    server = LanguageServer("fake", argv, languages={"fake": (".fake",)}, **options)
    return LspBackend(server, str(yard.root), companions, {"PATH": os.environ["PATH"]})


def notes(yard: Yard) -> list[dict[str, Any]]:
    """What the server was told."""
    return [json.loads(line) for line in (yard.root.parent / "notes").read_text().splitlines()]


def methods(yard: Yard) -> list[str]:
    return [note["method"] for note in notes(yard) if "method" in note]


async def overview(backend: LspBackend, yard: Yard, name: str = "one.fake") -> list[Symbol]:
    return await backend.overview(yard.path(name), 0, yard.bench())


THING = Symbol("thing", "thing", "variable", "one.fake", 2, 2, column=3, signature="🚢 thing = 1")


@pytest.mark.parametrize("behaviour", ["well", "odd", "asks", "busy"])
def test_a_server_that_answers_somehow_is_understood(yard, behaviour):
    async def work(companions):
        backend = fake(behaviour, yard, companions)
        found = await overview(backend, yard)
        await backend.close()
        return found

    assert yard.run(work) == [THING]


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ("dies", "out of cheese"),
        ("garbage", "no header ends"),
        ("not-json", "not JSON"),
        ("huge", "larger than"),
        ("errors", "the index is broken"),
        ("silent", "did not answer"),
    ],
)
def test_a_server_that_does_not_is_told_apart(yard, behaviour, why, monkeypatch):
    if behaviour == "silent":
        monkeypatch.setattr(session.LanguageSession.ask, "__defaults__", (0.5,))

    async def work(companions):
        backend = fake(behaviour, yard, companions)
        with pytest.raises(Unable) as caught:
            await overview(backend, yard)
        await backend.close()
        return str(caught.value)

    assert why in yard.run(work)


def test_what_a_server_asks_is_answered_and_nothing_is_changed_for_it(yard):
    async def work(companions):
        backend = fake("asks", yard, companions, settings={"fake": {"depth": 3}})
        await overview(backend, yard)
        await backend.close()

    yard.run(work)
    said = {note["id"]: note.get("result", note.get("error")) for note in notes(yard)
            if str(note.get("id", "")).startswith("q")}  # fmt: skip
    assert said == {
        "q0": [3, None],
        "q1": None,
        "q2": None,
        "q3": [{"uri": f"file://{yard.root}", "name": "workspace"}],
        "q4": {"applied": False, "failureReason": "the workspace is only looked at"},
        "q5": None,
        "q6": None,
        "q7": {"code": -32601, "message": "made/up is not served"},
    }


def test_answers_may_come_in_any_order(yard):
    async def work(companions):
        backend = fake("disorder", yard, companions)
        both = await asyncio.gather(overview(backend, yard), overview(backend, yard, "two.fake"))
        await backend.close()
        return both

    one, two = yard.run(work)
    assert [one[0].path, two[0].path] == ["one.fake", "two.fake"]


def test_a_question_that_is_given_up_is_cancelled_at_the_server(yard):
    async def work(companions):
        backend = fake("silent", yard, companions)
        asking = asyncio.create_task(overview(backend, yard))
        while "textDocument/documentSymbol" not in _told(yard):
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        while "$/cancelRequest" not in _told(yard):
            await asyncio.sleep(0.01)
        await backend.close()

    yard.run(work)
    (cancelled,) = [note for note in notes(yard) if note.get("method") == "$/cancelRequest"]
    (asked,) = [n for n in notes(yard) if n.get("method") == "textDocument/documentSymbol"]
    assert cancelled["params"]["id"] == asked["id"]


def _told(yard: Yard) -> str:
    place = yard.root.parent / "notes"
    return place.read_text() if place.exists() else ""


def test_a_crashed_server_is_started_again_but_not_for_ever(yard):
    async def work(companions):
        backend = fake("dies", yard, companions)
        told = []
        for _ in range(5):
            with pytest.raises(Unable) as caught:
                await overview(backend, yard)
            told.append(caught.value.what)
        serves = backend.serves("overview", yard.path("one.fake"))
        await backend.close()
        return told, serves

    told, serves = yard.run(work)
    assert told == 3 * ["fake is no longer running."] + 2 * [
        "fake failed 3 times and is not used for a while."
    ]
    assert not serves
    assert methods(yard).count("initialize") == 3


def test_a_crash_counts_once_however_many_were_asking(yard):
    async def work(companions):
        backend = fake("dies", yard, companions)
        asked = [overview(backend, yard), overview(backend, yard, "two.fake")]
        told = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(one, Unable) for one in told)
        serves = backend.serves("overview", yard.path("one.fake"))
        await backend.close()
        return serves

    assert yard.run(work)


def test_a_server_that_stays_silent_is_ended_after_the_second_time(yard, monkeypatch):
    monkeypatch.setattr(session.LanguageSession.ask, "__defaults__", (0.2,))

    async def work(companions):
        backend = fake("silent", yard, companions)
        for _ in range(3):
            with pytest.raises(Unable, match="did not answer"):
                await overview(backend, yard)
        await backend.close()

    yard.run(work)
    assert methods(yard).count("initialize") == 2


def test_no_server_is_started_before_it_is_needed_and_an_idle_one_is_stopped(yard):
    async def work(companions):
        backend = fake("well", yard, companions, idle=0.01)
        assert backend.serves("overview", yard.path("one.fake"))
        assert backend.serves("find", str(yard.root))
        assert not backend.serves("overview", yard.path("one.py"))
        assert not (yard.root.parent / "notes").exists()
        await overview(backend, yard)
        while "exit" not in methods(yard):
            await asyncio.sleep(0.01)
        again = await overview(backend, yard)
        await backend.close()
        return again

    assert yard.run(work) == [THING]
    assert methods(yard).count("initialize") == 2
    assert methods(yard)[-2:] == ["shutdown", "exit"]


def test_a_server_hears_of_files_that_changed_on_the_disk(yard):
    async def work(companions):
        backend = fake("well", yard, companions)
        first = await overview(backend, yard, "two.fake")
        (yard.root / "two.fake").write_text("\n\nthing = 22\n")
        (yard.root / "three.fake").write_text("thing = 3\n")
        (yard.root / "one.fake").unlink()
        second = await overview(backend, yard, "two.fake")
        await backend.close()
        return first[0].line, second[0].line

    assert yard.run(work) == (1, 3)
    sent = [n for n in notes(yard) if n.get("method") == "workspace/didChangeWatchedFiles"]
    changes = {Path(c["uri"]).name: c["type"] for note in sent for c in note["params"]["changes"]}
    assert changes == {"two.fake": 2, "three.fake": 1, "one.fake": 3}
    changed = [n for n in notes(yard) if n.get("method") == "textDocument/didChange"]
    assert [n["params"]["textDocument"]["version"] for n in changed] == [2]


def test_a_file_is_sent_once_while_it_stays_the_same(yard):
    async def work(companions):
        backend = fake("well", yard, companions)
        for _ in range(3):
            await overview(backend, yard)
        await backend.close()

    yard.run(work)
    assert methods(yard).count("textDocument/didOpen") == 1
    assert methods(yard).count("textDocument/documentSymbol") == 1


def test_diagnostics_that_are_only_published_are_waited_for(yard):
    async def work(companions):
        backend = fake("publishes", yard, companions)
        found = await backend.diagnostics((yard.path("one.fake"),), yard.bench())
        await backend.close()
        return found

    (said,) = yard.run(work)
    assert (said.line, said.column, said.severity, said.code) == (1, 3, "warning", "7")


def test_a_server_that_publishes_nothing_is_not_waited_for_for_ever(yard, monkeypatch):
    monkeypatch.setattr("steersman.operations.code.lsp.backend.PUBLISHING", 0.2)

    async def work(companions):
        backend = fake("well", yard, companions)
        with pytest.raises(Unable, match="said nothing"):
            await backend.diagnostics((yard.path("one.fake"),), yard.bench())
        await backend.close()

    yard.run(work)


def test_what_a_server_does_not_offer_is_left_to_the_next(yard):
    async def work(companions):
        backend = fake("well", yard, companions)
        with pytest.raises(Unable):
            await backend.diagnostics((str(yard.root),), yard.bench())
        # No `workspace/symbol` here: files with the word are asked one by one.
        found = await backend.find(Wanted("thing", str(yard.root)), yard.bench())
        await backend.close()
        return [symbol.path for symbol in found]

    assert yard.run(work) == ["one.fake", "two.fake"]


def test_secret_and_ignored_files_are_neither_opened_nor_shown(tmp_path):
    yard = Yard(tmp_path, secret="secret.fake\n", sandbox=False)
    for name in ("open.fake", "secret.fake", "left_out.fake"):
        (yard.root / name).write_text("thing = 1\n")
    (yard.root / ".gitignore").write_text("left_out.fake\n")

    async def work(companions):
        backend = fake("well", yard, companions)
        found = await backend.find(Wanted("thing", str(yard.root)), yard.bench())
        with pytest.raises(ToolProblem, match="may not be read"):
            await overview(backend, yard, "secret.fake")
        asked = await overview(backend, yard, "left_out.fake")
        await backend.close()
        return [symbol.path for symbol in (*found, *asked)]

    assert yard.run(work) == ["open.fake", "left_out.fake"]
    assert "secret.fake" not in "".join(
        json.dumps(note) for note in notes(yard) if note.get("method") == "textDocument/didOpen"
    )


def test_only_what_leave_was_given_for_is_looked_at(yard):
    granted = Read(yard.path("one.fake"))

    async def work(companions):
        backend = fake("well", yard, companions)
        bench = yard.bench(granted)
        assert await backend.overview(yard.path("one.fake"), 0, bench) == [THING]
        with pytest.raises(ToolProblem):
            await backend.overview(yard.path("two.fake"), 0, bench)
        assert await backend.find(Wanted("thing", str(yard.root)), bench) == []
        below = yard.bench(Search(yard.path("two.fake"), "thing"))
        with pytest.raises(ToolProblem):
            await backend.declaration(Spot(yard.path("one.fake"), 2, 3), below)
        with pytest.raises(ToolProblem):
            await backend.references(Target(THING, str(yard.root)), below)
        await backend.close()

    yard.run(work)


def test_a_server_that_runs_code_of_the_project_is_only_started_confined(yard):
    async def work(companions):
        backend = fake("well", yard, companions, runs_code=True)
        with pytest.raises(Unable, match="could not be started") as caught:
            await overview(backend, yard)
        await backend.close()
        return caught.value.why

    assert "only confined: There is no sandbox here." in yard.run(work)
    assert not (yard.root.parent / "notes").exists()


@pytest.mark.parametrize(
    "said",
    [
        {"command": [sys.executable, "tools/server.py"], "runs_code": False},
        {"command": [sys.executable, "-m", "server"], "runs_code": False},
        {"command": [sys.executable, "-c", "import tools.server"]},
        {"command": [sys.executable, "-c", ""], "environ": {"PYTHONSTARTUP": "tools/server.py"},
         "runs_code": False},
    ],
)  # fmt: skip
def test_a_script_of_the_folder_that_settings_name_is_only_started_confined(yard, said):
    """A folder says of itself that its server only reads, or hides it behind a known name."""
    mark = yard.root.parent / "mark"
    code = f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n"
    (yard.root / "tools").mkdir()
    for place in ("tools/server.py", "server.py"):
        (yard.root / place).write_text(code)
    table = {"ty": {**said, "languages": {"fake": [".fake"]}}}

    async def work(companions):
        backend = language_servers(str(yard.root), companions, dict(os.environ), table)[0]
        with pytest.raises(Unable) as caught:
            await overview(backend, yard)
        await backend.close()
        return caught.value.why

    assert "only confined: There is no sandbox here." in yard.run(work)
    assert not mark.exists()
