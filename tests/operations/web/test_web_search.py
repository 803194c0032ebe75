"""`web_search`: by the engine that the user has a key for, and not offered without one."""

import json
from pathlib import Path
from typing import Any

import pytest

from steersman.operations.tools.web_search import KEYS, web_search
from steersman.operations.web.engines import Chosen, engines, usable
from steersman.operations.web.fetching import Response
from steersman.records.errors import ToolProblem
from tests.operations.web.kit import site
from tests.operations.workshop import Workshop


def test_without_a_key_there_is_no_search() -> None:
    assert web_search({"PATH": "/bin", "BRAVE_API_KEY": ""}) == []


def test_every_engine_has_its_key_in_the_quick_list() -> None:
    assert {engine.key for engine in engines().values()} == KEYS


def test_a_search_with_an_engine_of_ones_own(tmp_path: Path) -> None:
    with site() as place:
        found = {
            "results": [
                {"title": "Sails", "url": "https://sail.example/", "content": "All about\n sails."},
                {"title": 7, "url": None},
                "nonsense",
            ]
        }
        place.page("/search", json.dumps(found), "application/json")
        shop = Workshop(
            tmp_path,
            environ={"SEARXNG_URL": place.url("")},
            allow=(f"WebFetch(domain:127.0.0.1:{place.port})",),
        )
        (result,) = shop.do(("web_search", {"query": "how to sail & row"}))

        assert result.status == "ok", result.message
        assert place.asked == ["/search?format=json&q=how%20to%20sail%20%26%20row"]
        assert result.output["results"][0] == {
            "title": "Sails",
            "url": "https://sail.example/",
            "text": "All about sails.",
        }
        assert "not from the user" in result.output["warning"]


def test_no_secret_leaves_in_the_words_of_a_search(tmp_path: Path) -> None:
    with site() as place:
        place.page("/search", "{}", "application/json")
        shop = Workshop(
            tmp_path,
            environ={"SEARXNG_URL": place.url(""), "SHIP_API_KEY": "Zq7-vexT_9mKp4wLr2Yd"},
            allow=(f"WebFetch(domain:127.0.0.1:{place.port})",),
        )
        (result,) = shop.do(("web_search", {"query": "what is zq7 vext 9mkp4wlr2yd"}))

        assert result.status == "denied"
        assert "the search contains the value of SHIP_API_KEY" in result.message
        assert not place.asked


SHAPES: dict[str, Any] = {
    "brave": {"web": {"results": [{"title": "T", "url": "U", "description": "D"}]}},
    "tavily": {"results": [{"title": "T", "url": "U", "content": "D"}]},
    "exa": {"results": [{"title": "T", "url": "U", "text": "D"}]},
}


@pytest.mark.parametrize("name", SHAPES)
def test_an_engine_is_asked_and_read_in_its_own_shape(name: str) -> None:
    engine = engines()[name]
    chosen = usable({engine.key: "key-of-mine"})
    assert chosen is not None
    answer = Response(200, "application/json", "", json.dumps(SHAPES[name]).encode())

    assert chosen.hits(answer) == [("T", "U", "D")]
    assert "key-of-mine" in "".join(chosen.headers().values())
    assert "key-of-mine" not in chosen.action("x").url
    assert "sails" in chosen.goal("sails").url + chosen.body("sails").decode()
    assert chosen.near == ()


@pytest.mark.parametrize("body", [b"[1]", b'{"web": 5}', b"{}", b'{"web": {"results": [3]}}'])
def test_an_answer_in_another_shape_is_no_result(body: bytes) -> None:
    chosen = Chosen("brave", engines()["brave"], "key")

    assert chosen.hits(Response(200, "", "", body)) == []


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000])
def test_an_answer_that_makes_no_sense_harms_nobody(body: bytes) -> None:
    chosen = Chosen("brave", engines()["brave"], "key")

    with pytest.raises(ToolProblem, match="cannot be read"):
        chosen.hits(Response(200, "", "", body))


def test_a_wrong_key_says_what_to_check() -> None:
    chosen = Chosen("brave", engines()["brave"], "key")

    with pytest.raises(ToolProblem) as caught:
        chosen.hits(Response(401, "", "", b""))

    assert "BRAVE_API_KEY" in caught.value.try_this
