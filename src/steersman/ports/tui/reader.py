"""Whether a screen full of panes is of any use here, or the conversation should go line by line."""

from collections.abc import Mapping

NO = ("", "0", "no", "false", "off")


def plain_wanted(environ: Mapping[str, str]) -> bool:
    """True with a screen reader, and on a terminal that cannot move its cursor."""
    if environ.get("STEERSMAN_SCREEN_READER", "").lower() not in NO:
        return True
    return environ.get("TERM", "") in ("", "dumb", "unknown")


def colourless(environ: Mapping[str, str]) -> bool:
    """True when a person wants no colours, or the terminal has none."""
    if environ.get("NO_COLOR"):
        return True
    term = environ.get("TERM", "")
    return term.startswith(("vt1", "vt2", "vt3", "ansi-m")) or term.endswith(("-mono", "-m"))
