"""Escape sequences of terminals in what programs print: where they are, and the text without them.

One pattern for all readers, so that people and models read the same words. A sequence that does not
end is none: it stays, and is shown.
"""

from typing import Any

from steersman.records.patterns import pattern

# Of colours and the cursor; of titles, links and the like, which hold text; of character sets.
SEQUENCE = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|[ -/]*[0-OQ-WYZ\\`-~])"
)
ESCAPES = pattern(SEQUENCE)


def without_escapes(text: str) -> str:
    """A text without the sequences that a terminal would follow."""
    return ESCAPES.sub("", text) if "\x1b" in text else text


def uncoloured(output: Any) -> Any:
    """A tool's output with what a command printed as words only; other texts stay as they are."""
    match output:
        case {"output": str(printed)}:
            return {**output, "output": without_escapes(printed)}
    return output
