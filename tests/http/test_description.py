"""The description of the API is true, and so is the manual's page about it."""

import os
import re
from pathlib import Path

from steersman.ports.http.openapi import described
from steersman.ports.http.server import OPERATIONS
from tests.http.kit import Served

PAGE = Path(__file__).parents[2] / "docs" / "http.md"
PLACE = re.compile(r"(?<=<!-- operations -->\n).*?(?=<!-- /operations -->)", re.DOTALL)


def table() -> str:
    """The operations as the manual lists them."""
    rows = [
        f"| `{one.method} {one.path}` | {one.needs} | {one.summary.partition(chr(10))[0]} |\n"
        for one in OPERATIONS
        if one.prefix
    ]
    return "\n| | right | |\n|---|---|---|\n" + "".join(rows) + "\n"


def test_the_manual_lists_every_operation() -> None:
    """With STEERSMAN_UPDATE_SNAPSHOTS set, the page is written anew."""
    text = PAGE.read_text()
    if os.environ.get("STEERSMAN_UPDATE_SNAPSHOTS"):
        PAGE.write_text(PLACE.sub(lambda _: table(), text))
        text = PAGE.read_text()
    found = PLACE.search(text)
    assert found is not None
    assert found[0] == table()


def test_every_reference_leads_somewhere() -> None:
    """Also within messages."""
    document = described(OPERATIONS)
    names = set(re.findall(r"#/components/schemas/(\w+)", str(document)))
    assert names <= set(document["components"]["schemas"])


def test_every_operation_is_described_and_routed(server: Served) -> None:
    """What the document names is there; its name is its own."""
    told = server.request("GET", "/openapi.json", token=None).json
    names = [
        operation.get("operationId")
        for path, methods in told["paths"].items()
        for operation in methods.values()
        if "operationId" in operation
    ]
    assert len(names) == len(set(names)) == len(OPERATIONS) + 2  # following
    for one in OPERATIONS:
        assert one.summary.endswith("."), one.name
        got = server.request(one.method, one.at.replace("{thread}", "abc"), token=None)
        assert got.status == 401, one.name


def test_an_answer_says_what_can_be_done_next_with_what_it_names(server: Served) -> None:
    """A thread that was started is shown and removed; a command in the background is read."""
    told = server.request("GET", "/openapi.json", token=None).json
    started = told["paths"]["/api/v0/threads"]["post"]["responses"]["200"]["links"]
    assert {"show_thread", "send", "delete_thread"} <= set(started)
    run = told["paths"]["/api/v0/processes/start"]["post"]["responses"]["200"]["links"]
    assert set(run) == {"show_output", "signal_process"}
    names = {one["operationId"] for path in told["paths"].values() for one in path.values()
             if "operationId" in one}  # fmt: skip
    for name, link in told["components"]["links"].items():
        assert link["operationId"] in names, name
