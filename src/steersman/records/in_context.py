"""The line after a user's words that names the files in context: the model gets it, people see
what was typed."""

from steersman.records.patterns import pattern

CONTEXT = "Files in context: "
_LINE = pattern(rf"\n\n{CONTEXT}((?:none|@[^\n]*))\Z")


def with_context(text: str, files: str) -> str:
    """Words as the model gets them."""
    return f"{text}\n\n{CONTEXT}{files or 'none'}"


def parted(text: str) -> tuple[str, str | None]:
    """What was typed, and the files that the line after it names; None: there is no such line."""
    found = _LINE.search(text, max(0, text.rfind(f"\n\n{CONTEXT}")))
    return (text[: found.start()], found[1]) if found and found.start() else (text, None)


def typed(text: str) -> str:
    """Words as the user typed them."""
    return parted(text)[0]
