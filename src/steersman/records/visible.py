"""Text of others as it can be quoted: nothing in it moves, hides or ends the quotation. Pure."""

from steersman.records.names import shown
from steersman.records.patterns import pattern

# Controls, and what is invisible, turns the direction of reading, or breaks lines.
UNSAFE = pattern(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """Text that cannot move the cursor, change colours or hide itself."""
    return UNSAFE.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def titled(text: str, most: int) -> str:
    """The beginning of a text in the quotes that people use, on one line; they stay the only."""
    plain = " ".join(visible(shown(text)).split()).replace("“", '"').replace("”", '"')
    return f"“{plain if len(plain) <= most else plain[: most - 1] + '…'}”"


def quoted(text: str, most: int) -> str:
    """The beginning of a text in quotes on one line; what would leave them is escaped."""
    plain = text.strip().replace("\\", "\\\\").replace('"', '\\"')
    line = visible(shown(plain)).replace("\n", "\\n").replace("\t", "\\t")
    if len(line) > most:
        line = line[: most - 1].rstrip("\\") + "…"
    return f'"{line}"'
