"""The answers about code as JSON Schema, one for each shape; `docs/schemas/code/` has them.

`python -m steersman.operations.code.schemas docs/schemas/code` writes the files again.
"""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from steersman.operations.code import records
from steersman.operations.code.proposals import Refactored
from steersman.operations.tools.search_files import SearchResults
from steersman.operations.tools.search_pattern import FileCounts
from steersman.records.code_index import RankedContext

SHAPES: dict[str, type[msgspec.Struct]] = {
    "overview": records.Overview,
    "symbols": records.Symbols,
    "references": records.References,
    "diagnostics": records.Diagnostics,
    "ranked_context": RankedContext,
    "refactored": Refactored,
    "search": SearchResults,
    "search_counts": FileCounts,
}
_FROM_ONE = ("line", "column")  # lines and columns begin at 1, in every answer


def schemas() -> dict[str, dict[str, Any]]:
    """The schema of each shape by its name."""
    return {name: schema_of(kind) for name, kind in SHAPES.items()}


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of one shape."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.schema(kind),
    }
    for part in schema.get("$defs", {}).values():
        part["additionalProperties"] = False
        for name in _FROM_ONE:
            if name in part.get("properties", {}):
                part["properties"][name]["minimum"] = 1
    return schema


def main(folder: str) -> None:
    """Write every schema into a folder."""
    for name, schema in schemas().items():
        Path(folder, f"{name}.json").write_text(json.dumps(schema, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
