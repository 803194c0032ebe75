"""The schemas in the documentation are those of the records."""

import json
from pathlib import Path

from steersman.operations.code.schemas import schemas

FOLDER = Path(__file__).parents[4] / "docs" / "schemas" / "code"


def test_the_documented_schemas_are_the_real_ones() -> None:
    written = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}
    real = json.loads(json.dumps(schemas()))
    assert written == real, "python -m steersman.operations.code.schemas docs/schemas/code"
