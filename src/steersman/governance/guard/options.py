"""Reading of options: which are there, with what value, and what is left as operands."""

from collections.abc import Iterator
from functools import lru_cache

from steersman.records.patterns import pattern


def listed(text: str) -> tuple[str, ...]:
    """The words of a table written as one text."""
    return tuple(text.split())


_MARKS = pattern(r"[=:@,]")
_LONGEST, _BUNDLED = 5000, 8


class Options:
    """Options by name, each with its values; operands in order."""

    __slots__ = ("flags", "rest")

    def __init__(self, flags: dict[str, list[str]], rest: list[str]) -> None:
        self.flags = flags
        self.rest = rest

    def has(self, *names: str) -> bool:
        """True when one of these options is there."""
        return any(name in self.flags for name in names)

    def get(self, *names: str) -> str | None:
        """The last value of one of these options."""
        for name in names:
            values = self.flags.get(name)
            if values:
                return values[-1]
        return None

    def all(self, *names: str) -> list[str]:
        """Every value of these options."""
        return [value for name in names for value in self.flags.get(name, ())]


@lru_cache(maxsize=512)
def _names(valued: str) -> frozenset[str]:
    return frozenset(valued.split())


def read_options(args: list[str], valued: str = "", single: bool = False) -> Options:
    """Split arguments; short options may be bundled unless the tool writes `-long` (`single`)."""
    with_value = _names(valued)
    flags: dict[str, list[str]] = {}
    rest: list[str] = []
    at, count = 0, len(args)
    while at < count:
        word = args[at]
        at += 1
        if word == "--":
            rest += args[at:]
            break
        if len(word) < 2 or word[0] != "-":
            rest.append(word)
            continue
        if word.startswith("--") or single:
            name, equals, value = word.partition("=")
            if not equals and name in with_value and at < count:
                value, at = args[at], at + 1
            flags.setdefault(name, []).append(value)
            continue
        at = _bundle(word, with_value, flags, args, at)
    return Options(flags, rest)


def _bundle(
    word: str, with_value: frozenset[str], flags: dict[str, list[str]], args: list[str], at: int
) -> int:
    if word in with_value:
        value = args[at] if at < len(args) else ""
        flags.setdefault(word, []).append(value)
        return at + 1
    for spot in range(1, len(word)):
        name = "-" + word[spot]
        if name in with_value:
            value = word[spot + 1 :]
            if not value and at < len(args):
                value, at = args[at], at + 1
            flags.setdefault(name, []).append(value.removeprefix("=") if spot > 0 else value)
            return at
        flags.setdefault(name, []).append("")
    if len(word) > 2:
        flags.setdefault(word, []).append("")
    return at


def skip_options(args: list[str], valued: str = "", operands: int = 0) -> list[str]:
    """The words after a wrapper's own options and its first operands."""
    with_value = _names(valued)
    at = 0
    while at < len(args):
        word = args[at]
        if word == "--":
            at += 1
            break
        if len(word) < 2 or word[0] != "-":
            break
        at += 1
        if word in with_value or (
            not word.startswith("--")
            and len(word) > 2
            and "-" + word[-1] in with_value
            and not any("-" + letter in with_value for letter in word[1:-1])
        ):
            at += 1
    while operands and at < len(args):
        if args[at] != "--":
            operands -= 1
        at += 1
    return args[at + 1 :] if args[at : at + 1] == ["--"] else args[at:]


def may_name(word: str) -> Iterator[str]:
    """What of a word may be a path: all of it, a value after a mark or after an option's letter."""
    if len(word) > _LONGEST:
        return
    yield word
    yield from (word[mark.end() :] for mark in _MARKS.finditer(word))
    if word.startswith("-") and not word.startswith("--"):
        yield from (word[at:] for at in range(2, min(len(word), _BUNDLED)))
