"""The manual of the terminal tells of every command and every key."""

import re
from pathlib import Path

import pytest

from steersman.ports.tui.keys import TABLE
from steersman.views.commands.registry import own_commands

PAGE = (Path(__file__).parents[3] / "docs" / "terminal.md").read_text()
TOLD = {code.replace("\\|", "|") for code in re.findall(r"`([^`\n]+)`", PAGE)}


@pytest.mark.parametrize("command", own_commands(), ids=lambda command: command.name)
def test_every_command_is_in_the_manual(command):
    assert command.line in TOLD


def test_every_key_is_in_the_manual():
    assert {key.name for key in TABLE} <= TOLD
