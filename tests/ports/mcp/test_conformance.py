"""The public conformance suite against our server, our gateway and our client.

Every scenario that applies passes. Those that do not are listed in `conformance.toml`, each with
its reason. The documentation says the same.
"""

import asyncio
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from steersman.operations.mcp.eras import Eras
from steersman.records.mcp_server import Server
from tests import provision
from tests.ports.mcp import conformance
from tests.ports.mcp.conformance import REVISIONS

pytestmark = pytest.mark.real

DOCS = conformance.ROOT / "docs" / "mcp-server.md"


def judge(target: str, revision: str, results: dict[str, list[str]]) -> None:
    """Hold results against what is expected."""
    wrong = {
        name: failed
        for name, failed in results.items()
        if failed and not conformance.reason(target, name)
    }
    assert wrong == {}
    passed = [name for name, failed in results.items() if not failed]
    passed = [name for name in passed if not conformance.reason(target, name)]
    assert len(passed) == conformance.facts(target)["passes"][revision], sorted(passed)


@pytest.mark.parametrize("revision", REVISIONS)
def test_our_server_conforms(revision: str, tmp_path: Path) -> None:
    with conformance.running("tests.ports.mcp.fixture_server") as url:
        judge("server", revision, conformance.against_server(url, revision, tmp_path))


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_needs_no_tool_of_the_suite_conforms_with_the_tools_of_a_workspace(
    revision: str, environ: dict[str, str], workspace: Path, tmp_path: Path
) -> None:
    serving = ("tests.ports.mcp.host_server", "tools", str(workspace))
    with conformance.running(*serving, environ=environ) as url:
        results = conformance.against_server(url, revision, tmp_path / "results")
    only = conformance.facts("tools")["only"]
    judge("tools", revision, {name: results[name] for name in only if name in results})


@pytest.mark.parametrize("revision", REVISIONS)
def test_our_gateway_conforms_in_front_of_the_everything_server(
    revision: str, environ: dict[str, str], workspace: Path, tmp_path: Path
) -> None:
    command, *arguments = provision.suite_server()
    config = Path(environ["XDG_CONFIG_HOME"], "steersman", "mcp.json")
    config.parent.mkdir(parents=True)
    entry = {"command": command, "args": arguments}
    config.write_text(json.dumps({"mcpServers": {"suite": entry}}))
    if revision == REVISIONS[0]:  # what the server may ask while it works, it asks in its era only
        server = Server("suite", "stdio", command=command, arguments=tuple(arguments))
        Eras(Path(environ["STEERSMAN_HOME"], "mcp")).remember(server, "legacy")
    serving = ("tests.ports.mcp.host_server", "gateway", str(workspace))
    with conformance.running(*serving, environ=environ) as url:
        asyncio.run(use_once(url))
        judge("gateway", revision, conformance.against_server(url, revision, tmp_path / "results"))


async def use_once(url: str) -> None:
    """Servers start when they are used, and the suite does not wait that long."""
    from mcp import Client

    async def elicit(context: object, params: object) -> None:
        raise AssertionError("nothing is asked")

    async with Client(url, elicitation_callback=elicit) as client:
        assert not (await client.call_tool("test_simple_text", {})).is_error


@pytest.mark.parametrize("revision", REVISIONS)
def test_our_client_conforms(revision: str, tmp_path: Path) -> None:
    judge("client", revision, conformance.against_client(revision, tmp_path))


def test_every_excuse_is_for_a_scenario_there_is() -> None:
    for target, side in (("server", "server"), ("gateway", "server"), ("client", "client")):
        known = {name for one in REVISIONS for name in conformance.scenarios_of(side, one)}
        assert known
        for pattern in conformance.facts(target)["not_applicable"]:
            assert any(fnmatchcase(name, pattern) for name in known), pattern


def test_the_documentation_says_the_same() -> None:
    assert conformance.tables() in DOCS.read_text(), (
        f"{sys.executable} -c 'from tests.ports.mcp.conformance import tables; print(tables())'"
    )
