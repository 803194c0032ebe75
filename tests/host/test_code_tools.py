"""The tools for code as a model calls them: through the gate, into the log, in a few words."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from steersman.operations.code.facade import Facade
from steersman.operations.code.proposals import Proposer
from steersman.operations.code.trees.backend import TreeBackend
from steersman.operations.tool import Tool
from steersman.operations.tools.find_declaration import FindDeclaration
from steersman.operations.tools.find_references import FindReferences
from steersman.operations.tools.find_symbol import FindSymbol
from steersman.operations.tools.get_diagnostics import GetDiagnostics
from steersman.operations.tools.get_symbols_overview import GetSymbolsOverview
from steersman.operations.tools.propose_refactoring import ProposeRefactoring
from steersman.records.action import Search
from steersman.records.message import Policy
from tests.operations.code.contract.station import REPOS, serena
from tests.operations.doubles import Rig
from tests.operations.workshop import Workshop
from tests.world import Steer, call

FILES = {
    "shop/till.py": '''"""The till."""


class Till:
    """Takes money."""

    def open(self):
        return self.count()

    def count(self):
        return 1


def open():
    return Till().open()
''',
    "shop/use.py": """from shop.till import Till


def close(till: Till):
    return till.count()
""",
    "shop/broken.py": "def x(:\n    pass\n",
    ".env": "TOKEN=1\n",
    "notes.txt": "Till\n",
}


def tools(folder: Path) -> list[Tool[Any]]:
    """The tools over what is always there."""
    facade = Facade([TreeBackend(os.path.realpath(folder))])
    kinds = (GetSymbolsOverview, FindSymbol, FindDeclaration, FindReferences, GetDiagnostics)
    proposer = Proposer(lambda: None, lambda server: None, "/nowhere", {})
    return [*(kind(facade) for kind in kinds), ProposeRefactoring(proposer)]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    folder = tmp_path / "ws"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return Rig(folder, tools(folder))


def test_an_overview(rig: Rig) -> None:
    result = rig.one("workspace_get_symbols_overview", path="shop/till.py")
    assert result.status == "ok"
    assert result.output["backend"] == "tree-sitter"
    assert [(s["name_path"], s["line"]) for s in result.output["symbols"]] == [
        ("Till", 4),
        ("open", 14),
    ]
    assert [s["name_path"] for s in result.output["symbols"][0]["children"]] == [
        "Till/open",
        "Till/count",
    ]


def test_a_symbol_with_its_code(rig: Rig) -> None:
    result = rig.one("workspace_find_symbol", name="Till.count", body=True)
    (found,) = result.output["symbols"]
    assert (found["path"], found["line"], found["kind"]) == ("shop/till.py", 10, "method")
    assert "return 1" in found["body"]


def test_from_a_use_to_the_definition_and_back(rig: Rig) -> None:
    result = rig.one("workspace_find_declaration", path="shop/use.py", line=4, name="Till")
    assert [(s["path"], s["line"]) for s in result.output["symbols"]] == [("shop/till.py", 4)]
    result = rig.one("workspace_find_references", name="Till")
    assert {(u["path"], u["line"]) for u in result.output["references"]} == {
        ("shop/till.py", 15),
        ("shop/use.py", 1),
        ("shop/use.py", 4),
    }
    assert result.output["agreement"] == "same"


def test_what_is_wrong_in_files(rig: Rig) -> None:
    result = rig.one("workspace_get_diagnostics", paths=["shop"])
    assert [d["path"] for d in result.output["diagnostics"]] == ["shop/broken.py"]


def test_an_ambiguous_name_lists_what_it_could_be(rig: Rig) -> None:
    result = rig.one("workspace_find_references", name="open")
    assert result.status == "error"
    assert "Till/open (method) shop/till.py:7" in result.message
    result = rig.one("workspace_find_references", name="/open", path="shop/till.py")
    assert result.output["symbol"] == "open (shop/till.py:14)"
    result = rig.one("workspace_find_references", name="open", path="shop/till.py", line=7)
    assert result.output["symbol"] == "Till/open (shop/till.py:7)"


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_symbols_overview", {"path": "none.py"}, "none.py does not exist."),
        ("get_symbols_overview", {"path": "shop"}, "shop is a folder."),
        ("get_symbols_overview", {"path": "/etc/passwd"}, "/etc/passwd is outside the workspace."),
        ("get_symbols_overview", {"path": "notes.txt"}, "Nothing here can list the symbols"),
        ("find_symbol", {"name": "x", "path": "none"}, "none does not exist."),
        ("find_symbol", {"name": "x", "path": ".."}, ".. is outside the workspace."),
        ("find_declaration", {"path": "shop/use.py", "line": 99, "name": "x"}, "has no line 99"),
        ("find_declaration", {"path": "shop/use.py", "line": 1}, "Which name in line 1"),
        ("find_declaration", {"path": "shop/use.py", "line": 1, "name": "y"}, "is not in line"),
        ("find_references", {"name": "nobody"}, "No definition of nobody was found"),
        ("find_references", {"name": "x", "path": "shop", "line": 1}, "shop is a folder."),
        ("get_diagnostics", {"paths": ["none.py"]}, "none.py does not exist."),
        ("propose_refactoring", {"operation": "rename_symbol", "name_path": "x",
         "path": "shop/use.py", "text": "a b"}, "'a b' is not a name."),
        ("propose_refactoring", {"operation": "insert_after_symbol", "name_path": "x",
         "path": "shop/use.py"}, "insert_after_symbol needs text."),
        ("propose_refactoring", {"operation": "rename_symbol", "name_path": "x",
         "path": "shop/use.py", "text": "y"}, "Serena, which does this, is not set up"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_in_a_sentence(
    rig: Rig, tool: str, arguments: dict[str, Any], words: str
) -> None:
    result = rig.one(f"workspace_{tool}", **arguments)
    assert result.status == "error"
    assert words in result.message


def test_a_secret_file_is_not_outlined(rig: Rig, tmp_path: Path) -> None:
    result = rig.one("workspace_get_symbols_overview", path=".env")
    assert result.status == "denied"


def test_only_looking_is_asked_for(rig: Rig) -> None:
    rig.one("workspace_find_references", name="Till")
    actions = [m.body.action for m in rig.messages if isinstance(m.body, Policy)]
    assert actions == [Search(str(Path(actions[0].path)), "Till")]


def test_the_descriptions_are_short(tmp_path: Path) -> None:
    specs = [tool.spec() for tool in tools(tmp_path)]
    assert {spec.name: len(spec.description) for spec in specs if len(spec.description) > 130} == {}
    assert len(json.dumps([[s.name, s.description, s.parameters] for s in specs])) < 3800


# ------------------------------------------------------------------ through a whole host


def test_a_thread_knows_its_code_without_any_server(tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop/till.py").write_text(FILES["shop/till.py"])
    workshop = Workshop(folder)
    outline, found = workshop.do(
        ("workspace_get_symbols_overview", {"path": "shop/till.py"}),
        ("workspace_find_symbol", {"name": "Till/count"}),
    )
    assert [symbol["name"] for symbol in outline.output["symbols"]] == ["Till", "open"]
    assert [symbol["line"] for symbol in found.output["symbols"]] == [10]
    assert workshop.one("workspace_propose_refactoring").status == "malformed"  # no Serena


@pytest.mark.real
def test_serena_refactors_through_the_gate_and_it_can_be_undone(
    tmp_path: Path, environ: dict[str, str], script: Any
) -> None:
    folder = tmp_path / "ws"
    shutil.copytree(REPOS / "python", folder)
    names = folder / "src/harbour/names.py"
    names.write_text(names.read_text().replace("𝔖hip", "Ship").replace("🚢", ""))
    server = serena(tmp_path)
    entry = {"command": server.command, "args": list(server.arguments),
             "env": dict(server.environ), "timeout": 120}  # fmt: skip
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"serena": entry}}))
    steer = Steer(environ | {"STEERSMAN_MCP_CONFIG_FILES": str(config)}, folder)
    rename = call(
        "workspace_propose_refactoring",
        operation="rename_symbol", name_path="describe", path="src/harbour/ships.py", text="depict",
    )  # fmt: skip
    look = call("workspace_get_symbols_overview", path="src/harbour/ships.py")
    model = script({"tool_calls": [look]}, {"tool_calls": [rename]}, {"text": "Done."})
    before = (folder / "src/harbour/ships.py").read_text()
    messages = steer.messages("run", "--model", model, "--approvals", "never", "rename it")
    results = [message for message in messages if message["kind"] == "tool_result"]
    assert [result["body"]["status"] for result in results] == ["ok", "ok"], results
    assert results[0]["body"]["output"]["backend"] == "serena"
    assert len(results[1]["body"]["output"]["files"]) == 5
    assert "def depict(" in (folder / "src/harbour/ships.py").read_text()
    undone = steer("undo", "--yes")
    assert undone.returncode == 0, undone.stderr
    assert (folder / "src/harbour/ships.py").read_text() == before
