"""The user documentation shows scripts that load and leaves no field out."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from steersman.intelligence.scripted.script import Fault, Script, ScriptedTurn

TEXT = (Path(__file__).parents[3] / "docs" / "scripted-model.md").read_text()
BLOCKS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]


def test_the_scripts_load() -> None:
    scripts = [msgspec.convert(block, Script) for block in BLOCKS if "turns" in block]
    assert len(scripts) == 2


@pytest.mark.parametrize("record", [ScriptedTurn, Fault])
def test_every_field_is_explained(record: type[msgspec.Struct]) -> None:
    assert [name for name in record.__struct_fields__ if f"`{name}`" not in TEXT] == []
