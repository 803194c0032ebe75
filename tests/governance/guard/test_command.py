"""`steer guard` at the command line."""

import json

import pytest
from click.testing import CliRunner

from steersman.ports.cli.guard import command

AT = ["--workspace", "/home/dev/project", "--home", "/home/dev"]


@pytest.mark.parametrize(
    ("cmd", "status", "word"),
    [("ls", 0, "allow"), ("npm install x", 4, "ask"), ("rm -rf ~", 3, "block")],
)
def test_one_command(cmd, status, word):
    done = CliRunner().invoke(command, [cmd, *AT], standalone_mode=False)
    assert done.return_value == status
    assert done.output.startswith(word)


def test_json_with_facts():
    done = CliRunner().invoke(
        command, ["rm -rf ~", "--json", "--facts", *AT], standalone_mode=False
    )
    answer = json.loads(done.output)
    assert answer["verdict"] == "block"
    assert answer["breaker"] is True
    assert answer["facts"][0]["deletes"] == ["/home/dev"]


def test_lines_are_answered_in_order_and_bad_ones_named():
    lines = ['{"cmd": "ls", "label": "safe"}', "{broken", '{"x": 1}', '{"cmd": "rm -rf /"}']
    done = CliRunner().invoke(
        command, ["--stdin", *AT], input="\n".join(lines) + "\n", standalone_mode=False
    )
    answers = [json.loads(line) for line in done.output.splitlines()]
    assert answers[0] == {
        "cmd": "ls",
        "verdict": "allow",
        "rule": "plain",
        "reason": "Nothing in the command needs approval.",
    }
    assert "error" in answers[1]
    assert "error" in answers[2]
    assert answers[3]["verdict"] == "block"
    assert done.return_value == 2
