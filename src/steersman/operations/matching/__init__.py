"""The edit matcher and the patch formats: pure functions from bytes to bytes, no file system."""

from steersman.operations.matching.accepting import with_hunks
from steersman.operations.matching.diffs import counted, unified_diff
from steersman.operations.matching.edits import apply_edits
from steersman.operations.matching.encoding import Encoding, Text, decode, encode
from steersman.operations.matching.hunks import apply_hunks
from steersman.operations.matching.merging import has_edit, merged
from steersman.operations.matching.patches import (
    AddFile,
    DeleteFile,
    FilePatch,
    Hunk,
    UpdateFile,
)
from steersman.operations.matching.reading import parse_patch
from steersman.operations.matching.records import Applied, Code, Edit, Note, Refused, TierName

__all__ = [
    "AddFile",
    "Applied",
    "Code",
    "DeleteFile",
    "Edit",
    "Encoding",
    "FilePatch",
    "Hunk",
    "Note",
    "Refused",
    "Text",
    "TierName",
    "UpdateFile",
    "apply_edits",
    "apply_hunks",
    "counted",
    "decode",
    "encode",
    "has_edit",
    "merged",
    "parse_patch",
    "unified_diff",
    "with_hunks",
]
