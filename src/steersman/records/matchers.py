"""Regular expressions of settings that match short names in bounded time, whoever wrote them.

Python's own can take forever over a dozen letters. Here all ways to match are followed at once, as
the set of places that have been reached; so there is nothing to go back to. Pure.
"""

import re
from collections.abc import Callable
from functools import lru_cache

LONGEST = 200  # characters of an expression
MOST_LETTERS = 200  # of a name that is looked at
DEEPEST = 4  # groups in groups
_TOKEN = r"\(\?:|\[\^?\]?(?:\\.|[^\]\\])*\]|\\[wWdDsS]|\\\W|[*+?]\??|[^\\\[\]{}]"
Places = frozenset[int]
Part = Callable[[str, Places], Places]


def matches(expression: str, name: str) -> bool:
    """Whether the whole name is meant; one too long to be looked at may be meant by anything."""
    if len(name) > MOST_LETTERS:
        return True
    return len(name) in compiled(expression)(name, frozenset((0,)))


@lru_cache(256)
def compiled(expression: str) -> Part:
    """The places that an expression can reach in a name; raises ValueError with a sentence."""
    if len(expression) > LONGEST:
        raise ValueError(f"a matcher has more than {LONGEST} characters")
    try:
        return _Reader(expression).whole()
    except (ValueError, re.error) as error:
        raise ValueError(
            f"the matcher “{expression}” is not a regular expression of letters, classes, "
            "groups, `|`, `*`, `+` and `?`"
        ) from error


class _Reader:
    """Reads an expression, token by token."""

    def __init__(self, expression: str) -> None:
        self._tokens = re.findall(_TOKEN, expression)[::-1]
        if sum(map(len, self._tokens)) != len(expression):
            raise ValueError("something in it cannot be read")

    def whole(self) -> Part:
        made = self._choice(0)
        if self._tokens:
            raise ValueError("a group ends that did not begin")
        return made

    def _choice(self, depth: int) -> Part:
        ways = [self._row(depth)]
        while self._tokens and self._tokens[-1] == "|":
            self._tokens.pop()
            ways.append(self._row(depth))
        return lambda name, at: frozenset().union(*(way(name, at) for way in ways))

    def _row(self, depth: int) -> Part:
        parts: list[Part] = []
        while self._tokens and self._tokens[-1] not in ("|", ")"):
            parts.append(self._repeated(self._part(self._tokens.pop(), depth)))

        def follow(name: str, at: Places) -> Places:
            for part in parts:
                at = part(name, at)
            return at

        return follow

    def _part(self, token: str, depth: int) -> Part:
        if token in ("(", "(?:"):
            if depth == DEEPEST:
                raise ValueError("there are too many groups in one another")
            inner = self._choice(depth + 1)
            if not self._tokens:
                raise ValueError("a group does not end")
            self._tokens.pop()
            return inner
        if token[0] in "*+?":
            raise ValueError("there is nothing to repeat")
        if token in ("^", "$"):
            return lambda name, at: at & {0 if token == "^" else len(name)}
        letter = re.compile(token)
        return lambda name, at: frozenset(p + 1 for p in at if letter.match(name, p))

    def _repeated(self, part: Part) -> Part:
        sign = self._tokens.pop()[0] if self._tokens and self._tokens[-1][0] in "*+?" else ""
        if not sign:
            return part
        if sign == "?":
            return lambda name, at: at | part(name, at)

        def often(name: str, at: Places) -> Places:
            new = reached = at if sign == "*" else part(name, at)
            while new := part(name, new) - reached:
                reached |= new
            return reached

        return often
