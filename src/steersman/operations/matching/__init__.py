"""The edit matcher and the patch formats: pure functions from bytes to bytes, no file system.

A name brings its module along when it is asked for: most runs need a diff and no more.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steersman.operations.matching.accepting import with_hunks
    from steersman.operations.matching.diffs import counted, moved_diff, unified_diff
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
    "moved_diff",
    "parse_patch",
    "unified_diff",
    "with_hunks",
]

_MODULES = {
    "accepting": ("with_hunks",),
    "diffs": ("counted", "moved_diff", "unified_diff"),
    "edits": ("apply_edits",),
    "encoding": ("Encoding", "Text", "decode", "encode"),
    "hunks": ("apply_hunks",),
    "merging": ("has_edit", "merged"),
    "patches": ("AddFile", "DeleteFile", "FilePatch", "Hunk", "UpdateFile"),
    "reading": ("parse_patch",),
    "records": ("Applied", "Code", "Edit", "Note", "Refused", "TierName"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
