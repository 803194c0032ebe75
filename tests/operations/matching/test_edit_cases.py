"""Every row of the case files: what an edit must do to a file's bytes.

`cases.jsonl` lies next to this module. Further rows in the same format are read from the folder in
`STEERSMAN_EXAM_DIR`, or from `shared/data` beside the repository, where there is one.
"""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct, convert

from steersman.operations.matching import Applied, Edit, Refused, apply_edits

HERE = Path(__file__).parent
EXAM = Path(os.environ.get("STEERSMAN_EXAM_DIR") or HERE.parents[3] / "shared" / "data")


class Case(Struct, frozen=True):
    id: str
    family: str
    level: str
    strength: str
    edits: list[Edit]
    expect: str
    why: str
    before: str = ""
    after: str = ""
    before_b64: str = ""
    after_b64: str = ""

    def files(self) -> tuple[bytes, bytes]:
        if self.level == "bytes":
            return base64.b64decode(self.before_b64), base64.b64decode(self.after_b64)
        return self.before.encode(), self.after.encode()


def cases() -> Iterator[Case]:
    for path in [HERE / "cases.jsonl", *sorted(EXAM.glob("edit_cases*.jsonl"))]:
        for line in path.read_bytes().splitlines():
            case = convert(json.loads(line), Case)
            if case.level != "fs":
                yield case


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.id)
def test_case(case: Case) -> None:
    before, after = case.files()
    outcome = apply_edits(before, case.edits)
    if case.expect == "applied":
        assert isinstance(outcome, Applied), (case.why, outcome)
        assert outcome.content == after, case.why
        assert len(outcome.notes) == len(case.edits)
    else:
        assert isinstance(outcome, Refused), (case.why, outcome)


def test_every_family_has_cases_of_its_own() -> None:
    rows = [json.loads(line) for line in (HERE / "cases.jsonl").read_bytes().splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) > 200
    assert {row["family"] for row in rows} == {
        "exact",
        "ambiguous",
        "replace_all",
        "whitespace_trailing",
        "indentation",
        "indent_unit",
        "blank_lines",
        "line_endings",
        "eof_newline",
        "bom",
        "unicode_punctuation",
        "near_miss",
        "ellipsis",
        "escaping",
        "line_numbers",
        "multi_edit",
        "encoding",
    }
