"""A body of millions of small values is refused before it is built."""

import json

import pytest

from steersman.ports.http.bodies import MOST, crowded
from tests.http.kit import Served

CROWDED = {
    "keys": {str(number): 1 for number in range(1_500_000)},
    "numbers": [1] * 1_000_000,
    "lists": [[]] * 1_000_000,
    "words": ["a"] * 1_000_000,
}


@pytest.mark.parametrize("kind", CROWDED)
def test_a_body_of_a_million_values_is_refused(server: Served, kind: str) -> None:
    told = {"tool": "a__b", "workspace": str(server.workspace), "arguments": {"x": CROWDED[kind]}}
    got = server.request("POST", "/api/v0/mcp/call-tool", told)
    assert got.status == 413
    assert got.json["what"] == "The request has more than 50,000 values."


def test_so_is_a_line_of_a_thread_from_a_file(server: Served) -> None:
    raw = b'{"thread": 1}\n' + json.dumps(CROWDED["keys"]).encode() + b"\n"
    kind = {"Content-Type": "application/x-ndjson"}
    got = server.request("POST", "/api/v0/threads/import", raw=raw, headers=kind)
    assert got.status == 413


@pytest.mark.parametrize(
    "text",
    ["a,b:[{" * 400_000, '"' * 2_000_000, "\\" * 1_000_001, '\\"' * 800_000, "ä,\n" * 500_000],
)
def test_a_long_text_is_one_value_whatever_is_in_it(text: str) -> None:
    assert not crowded(json.dumps({"content": text, "other": text}).encode())


def test_what_is_counted_is_in_every_part(server: Served) -> None:
    half = ["x" * 30] * (MOST // 2)
    assert not crowded(json.dumps({"a": half}).encode())
    assert crowded(json.dumps({"a": half, "b": half, "c": half}).encode())
