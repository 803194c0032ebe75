"""Numbers with their nouns, so that they agree wherever they are shown."""


def counted(number: int, noun: str) -> str:
    """A number of things: `1 file`, `2 files`, `1,000 processes`."""
    if number == 1:
        return f"1 {noun}"
    ending = "es" if noun.endswith(("s", "ch", "sh", "x")) else "s"
    return f"{number:,} {noun}{ending}"
