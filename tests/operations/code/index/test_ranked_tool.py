"""`workspace_ranked_context` as a model meets it."""

import asyncio
import os
from types import SimpleNamespace

import msgspec
import pytest

from steersman.operations.code.index.keepers import IndexKeepers
from steersman.operations.tool import Malformed
from steersman.operations.tools.ranked_context import RankedContext
from steersman.operations.workspace import Workspace
from steersman.records.action import Search
from steersman.records.dialogue import Call
from steersman.records.errors import ToolProblem
from tests.operations.code.index.kit import PROJECT, plant
from tests.operations.workshop import not_asked


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    plant(folder, PROJECT)
    return folder


def use(folder, secret="", granted=None, **arguments):
    """Call the tool with the leave it asks for, or with other leave."""

    async def work():
        keepers = IndexKeepers(folder.parent / "data", os.environ)
        try:
            tool = RankedContext(keepers)
            workspace = Workspace.open(folder)
            args = tool.parse(Call("call_1", tool.name, arguments))
            plan = await tool.plan(args, workspace.planning(not_asked))
            leave = plan.actions if granted is None else granted
            bench = SimpleNamespace(workspace=workspace.granted(leave, secret))
            return msgspec.to_builtins(await tool.perform(plan, bench))
        finally:
            await keepers.close()

    return asyncio.run(asyncio.wait_for(work(), 100))


def test_the_best_excerpts_and_why(project):
    found = use(project, question="How is the total of the prices of items made?")
    assert found["backend"] == "index"
    assert found["excerpts"][0] == {
        "path": "shop/prices.py",
        "line": 1,
        "end_line": 2,
        "text": PROJECT["shop/prices.py"].rstrip("\n"),
        "score": found["excerpts"][0]["score"],
        "why": "in total; full text: prices, total, items",
    }
    assert found["tokens"] < 4000


def test_it_needs_leave_to_search_there(project):
    tool = RankedContext(IndexKeepers(project.parent / "data", os.environ))
    workspace = Workspace.open(project)
    args = tool.parse(Call("call_1", tool.name, {"question": "prices?", "path": "shop"}))
    shop = os.path.join(workspace.root, "shop")
    plan = asyncio.run(tool.plan(args, workspace.planning(not_asked)))
    assert plan.actions == [Search(shop, "prices?")]
    with pytest.raises(ToolProblem, match="did not allow"):
        use(project, question="prices", granted=[Search(shop, "prices")])
    found = use(project, question="client", path="shop", granted=[Search(shop, "client")])
    assert all(one["path"].startswith("shop/") for one in found["excerpts"])


@pytest.mark.parametrize(
    ("path", "words"),
    [("nowhere", "nowhere does not exist"), ("..", "outside the workspace")],
)
def test_where_it_cannot_look(project, path, words):
    with pytest.raises(ToolProblem, match=words):
        use(project, question="client", path=path)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"question": ""},
        {"question": "x" * 5000},
        {"question": "x", "budget_tokens": 100},
        {"question": "x", "budget_tokens": 1_000_000},
        {"question": "x", "files": ["f"] * 51},
    ],
)
def test_arguments_are_bounded(project, arguments):
    with pytest.raises(Malformed):
        use(project, **arguments)


def test_secret_files_and_links_are_left_out(project, tmp_path):
    (project / "vault.py").write_text("def vault():\n    return 'price of the vault'\n")
    (tmp_path / "outside.py").write_text("def outside():\n    return 'vault vault'\n")
    (project / "linked.py").symlink_to(tmp_path / "outside.py")
    found = use(project, secret="vault.py\n", question="vault")
    assert "excerpts" not in found or not found["excerpts"]
    found = use(project, question="vault")
    assert [one["path"] for one in found["excerpts"]] == ["vault.py"]


def test_hints_are_taken_as_they_are_written(project):
    names = {"files": ["./shop/../shop/prices.py", "/etc/passwd", "nowhere.py"]}
    found = use(project, question="client", symbols=["Client/send"], **names)
    whys = {one["path"]: one["why"] for one in found["excerpts"]}
    assert "named" in whys["shop/prices.py"]
    assert "defines" in whys["shop/client.py"]
