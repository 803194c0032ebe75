"""Sentences at a terminal are broken between words; what programs read stays as it is."""

import sys

import pytest

from steersman.ports.cli.flowing import Flow
from tests.cli.terminal import Terminal

WORDS = " ".join(f"considerations{number}" for number in range(30))
CODE = f"```sh\necho {WORDS}\n```"


def test_an_answer_is_broken_between_words(steer, script):
    model = script({"text": f"{WORDS}\n\n{CODE}\n\nThe end."})
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        assert terminal.end() == 0
    prose = [line for line in terminal.text.splitlines() if line.startswith("considerations")]
    assert " ".join(prose) == WORDS
    assert max(map(len, prose)) <= 100
    assert f"echo {WORDS}\n" in terminal.text  # a line of code is copied as one
    piped = steer("run", "--model", model, "go")
    assert f"{WORDS}\n" in piped.stdout


@pytest.mark.parametrize("cut", ["```sh\necho here\n", "```sh\necho here"])
def test_an_answer_that_broke_off_in_code_does_not_make_code_of_the_next(steer, script, cut):
    """At the end of a line as in the middle of one."""
    text = f"```sh\necho here\n```\n{WORDS}"
    model = script({"text": text, "chunk": 1, "drop": len(cut)})
    with Terminal(steer, "run", "--model", model, "go") as terminal:
        assert terminal.end() == 0
    assert terminal.text.count("echo here\n") == 2
    prose = [line for line in terminal.text.splitlines() if line.startswith("considerations")]
    assert " ".join(prose) == WORDS
    assert max(map(len, prose)) <= 100


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_pieces_of_any_size_flow_alike(monkeypatch, size):
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    text = "one two three four five\n\n  six 漢漢漢漢漢漢漢 seven\n" + "x" * 25 + " end"
    flow = Flow()
    found = "".join(flow.take(text[at : at + size]) for at in range(0, len(text), size))
    assert found + flow.rest() == (
        "one two three four\nfive\n\n  six 漢漢漢漢漢漢漢\n  seven\n" + "x" * 25 + "\nend"
    )
