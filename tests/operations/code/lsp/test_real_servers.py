"""The real `ty server` and the real TypeScript 7, confined, on repositories with known truths."""

import json
import os
from functools import cache
from typing import Any

import pytest

from steersman.operations.code.backend import Spot, Target, Wanted
from steersman.operations.code.lsp.backend import LspBackend, language_servers
from steersman.operations.code.records import Symbol
from tests.operations.code.lsp.kit import REPOS, Yard
from tests.provision import package

SERVERS = {"python": "ty", "typescript": "typescript"}
BOTH = pytest.mark.parametrize("repo", SERVERS)


@cache
def truths(repo: str) -> dict[str, Any]:
    """What is known about a repository."""
    found: dict[str, Any] = json.loads((REPOS / repo / "expected.json").read_text())
    return found


def server_of(repo: str, yard: Yard, companions: Any) -> LspBackend:
    """The backend for a repository, with TypeScript on the PATH."""
    environ = dict(os.environ)
    if repo == "typescript":
        programs = package("typescript").parent / ".bin"
        environ["PATH"] = f"{programs}{os.pathsep}{environ['PATH']}"
    found = language_servers(str(yard.root), companions, environ)
    (backend,) = [one for one in found if one.name == SERVERS[repo]]
    return backend


def asked(repo: str, tmp_path: Any, work: Any) -> Any:
    """What a server says about a fresh copy of a repository."""
    yard = Yard(tmp_path, repo)

    async def ask(companions: Any) -> Any:
        backend = server_of(repo, yard, companions)
        try:
            return await work(backend, yard)
        finally:
            await backend.close()

    return yard.run(ask)


@BOTH
def test_definitions_are_found_by_name_where_they_stand(repo, tmp_path):
    async def work(backend, yard):
        return [
            await backend.find(Wanted("/" + d["name_path"], str(yard.root)), yard.bench())
            for d in truths(repo)["definitions"]
        ]

    for known, found in zip(truths(repo)["definitions"], asked(repo, tmp_path, work), strict=True):
        (symbol,) = found
        place = (symbol.path, symbol.line, symbol.column, symbol.end_line)
        assert place == (known["path"], known["line"], known["column"], known["end_line"])
        assert symbol.kind in known["kinds"]


@BOTH
def test_an_overview_has_the_same_definitions_nested(repo, tmp_path):
    paths = sorted({d["path"] for d in truths(repo)["definitions"]})

    async def work(backend, yard):
        return [await backend.overview(yard.path(path), 9, yard.bench()) for path in paths]

    found = {
        (symbol.path, symbol.name_path): symbol.line
        for symbols in asked(repo, tmp_path, work)
        for symbol in flat(symbols)
    }
    for known in truths(repo)["definitions"]:
        assert found[known["path"], known["name_path"]] == known["line"]


def flat(symbols: Any) -> list[Symbol]:
    return [one for symbol in symbols for one in (symbol, *flat(symbol.children))]


@BOTH
def test_uses_are_found_and_only_uses(repo, tmp_path):
    async def work(backend, yard):
        answers = []
        for known in truths(repo)["references"]:
            wanted = Wanted("/" + known["symbol"], yard.path(known["path"]))
            (symbol,) = await backend.find(wanted, yard.bench())
            answers.append(await backend.references(Target(symbol, str(yard.root)), yard.bench()))
        return answers

    for known, found in zip(truths(repo)["references"], asked(repo, tmp_path, work), strict=True):
        places = {(use.path, use.line, use.column): use for use in found}
        wanted = {(u["path"], u["line"], u["column"]): u["inside"] for u in known["uses"]}
        also = {(u["path"], u["line"], u["column"]) for u in known["also"]}
        assert set(wanted) <= set(places), known["symbol"]
        assert set(places) <= set(wanted) | also, known["symbol"]
        assert {place: places[place].inside for place in wanted} == wanted


@BOTH
def test_a_name_leads_to_its_definition(repo, tmp_path):
    async def work(backend, yard):
        return [
            await backend.declaration(
                Spot(yard.path(d["path"]), d["line"], d["column"], d["name"]), yard.bench()
            )
            for d in truths(repo)["declarations"]
        ]

    for known, found in zip(truths(repo)["declarations"], asked(repo, tmp_path, work), strict=True):
        (symbol,) = found
        told = {"name_path": symbol.name_path, "path": symbol.path, "line": symbol.line}
        assert told == known["definition"]


@BOTH
def test_mistakes_are_told_and_clean_files_are_clean(repo, tmp_path):
    known = truths(repo)
    broken = known["diagnostics"][0]["path"]

    async def work(backend, yard):
        said = await backend.diagnostics((yard.path(broken),), yard.bench())
        clean = tuple(yard.path(path) for path in known["clean"])
        return said, await backend.diagnostics(clean, yard.bench())

    said, nothing = asked(repo, tmp_path, work)
    told = [{"path": d.path, "line": d.line, "severity": d.severity} for d in said]
    assert [one for one in told if one["severity"] == "error"] == known["diagnostics"]
    assert nothing == []


@BOTH
def test_a_body_has_its_decorators_and_members_are_told_to_a_depth(repo, tmp_path):
    async def work(backend, yard):
        wanted = Wanted("Berth/assign", str(yard.root), body=True)
        (method,) = await backend.find(wanted, yard.bench())
        (berth,) = await backend.find(Wanted("/Berth", str(yard.root), depth=1), yard.bench())
        part = await backend.find(Wanted("erth", str(yard.root), substring=True), yard.bench())
        kinds = await backend.find(
            Wanted("erth", str(yard.root), substring=True, kinds=("class",)), yard.bench()
        )
        return method, berth, part, kinds

    method, berth, part, kinds = asked(repo, tmp_path, work)
    assert method.body.splitlines()[0].strip() == "@logged"
    assert "assigned to" in method.body.splitlines()[-1 if repo == "python" else -2]
    assert "assign" in [child.name for child in berth.children]
    assert all(not child.children for child in berth.children)
    assert {"Berth", "BerthTaken"} <= {symbol.name for symbol in part}
    assert {symbol.name for symbol in kinds} == {"Berth", "BerthTaken"}


@BOTH
def test_a_file_that_was_changed_is_known_as_it_is_now(repo, tmp_path):
    name, line = {
        "python": ("src/harbour/later.py", "from harbour import describe\ntold = describe\n"),
        "typescript": (
            "src/later.ts",
            'import { describe } from "./ships.js";\nexport const told = describe;\n',
        ),
    }[repo]

    async def uses(backend, yard):
        file = next(d["path"] for d in truths(repo)["definitions"] if d["name_path"] == "describe")
        (symbol,) = await backend.find(Wanted("/describe", yard.path(file)), yard.bench())
        found = await backend.references(Target(symbol, str(yard.root)), yard.bench())
        return {use.path for use in found}

    async def work(backend, yard):
        before = await uses(backend, yard)
        (yard.root / name).write_text(line)
        with_it = await uses(backend, yard)
        (yard.root / name).unlink()
        return before, with_it, await uses(backend, yard)

    before, with_it, after = asked(repo, tmp_path, work)
    assert with_it == before | {name}
    assert after == before


def test_a_definition_outside_the_workspace_is_only_named(tmp_path):
    async def work(backend, yard):
        path = yard.path("src/harbour/cli.py")
        lines = (yard.root / "src/harbour/cli.py").read_text().splitlines()
        (line,) = [n for n, text in enumerate(lines, 1) if "print(" in text]
        return await backend.declaration(Spot(path, line, 9, "print"), yard.bench())

    found = asked("python", tmp_path, work)
    assert all(os.path.isabs(symbol.path) and not symbol.signature for symbol in found)


def test_the_typescript_of_a_project_is_used_when_the_machine_has_none(tmp_path):
    yard = Yard(tmp_path, "typescript")
    modules = yard.root / "node_modules"
    (modules / ".bin").mkdir(parents=True)
    (modules / ".bin" / "tsc").symlink_to("../typescript/bin/tsc")
    beside = package("typescript").parent
    (modules / "typescript").symlink_to(beside / "typescript")
    (modules / "@typescript").symlink_to(beside / "@typescript")

    async def work(companions):
        (backend,) = [
            one
            for one in language_servers(str(yard.root), companions, {"PATH": "/usr/bin:/bin"})
            if one.name == "typescript"
        ]
        assert backend.serves("overview", yard.path("src/ships.ts"))
        found = await backend.overview(yard.path("src/ships.ts"), 0, yard.bench())
        await backend.close()
        return [symbol.name for symbol in found]

    assert "Ship" in yard.run(work)
