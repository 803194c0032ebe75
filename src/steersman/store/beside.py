"""Random values beside a word that says what they are: `password = …`, `Authorization: Bearer …`.

Placeholders, names, expressions, UUIDs and named checksums are not taken for secrets.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator

from steersman.records.patterns import pattern
from steersman.store.known import Span
from steersman.store.shapes import irregular

SHORTEST = 12
LONGEST = 1024
NEARBY = 24  # how far before a word it is looked at what kind of key or token it names

# Each of the words below holds one of these.
_NEEDLES = ("passw", "passphrase", "pwd", "secret", "token", "key", "credential", "auth", "sig=",
            "bearer ", "://")  # fmt: skip
_WORD = pattern(
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|key|credentials?|auth(?:orization)?|sig(?==))"
    r"(?:[_-]?(?:key|token|value|base|\d{1,3}))?"
)
_OF_KEYS = pattern(
    r"(?:api|access|account|private|signing|encryption|shared|master|secret|auth|client|service"
    r"|storage|admin|consumer|webhook)[_ -]?\Z"
)
# Where a list continues is not a secret, nor what is public.
_HARMLESS = pattern(
    r"(?:next|page|continuation|public|cancellation|sync|cache|:|/)[_ -]?\Z|[a-z](?<!y)pwd\Z"
)
_SPACE = r"(?:[ \t]|\\t)"
_BETWEEN = pattern(
    # closing quotes of the word, then = : := => > or a type and =
    rf"[\\\"'`\])]{{0,4}}{_SPACE}{{0,3}}"
    rf"(?::{_SPACE}?[A-Za-z][\w.\[\]| ]{{1,24}}=|:=|=>|={{1,2}}|:|>){_SPACE}{{0,8}}"
    r"(?:[rbfu](?=[\"']))?[\\\"'`]{0,4}(?:(?:bearer|basic|token)[ \t]+)?",
    re.IGNORECASE,
)
_AS_OPTION = pattern(r"(?<![\w-])--[a-z0-9-]{0,24}\Z")
_AFTER_OPTION = pattern(r"[ \t]{1,3}[\"']?")
_BEARER = pattern(r"bearer[ \t]{1,3}", re.IGNORECASE)
_AT_HOST = pattern(r"://[^\s/:@\"'<>]{0,64}:(?=[^\s/@\"'<>]{8,128}@)")
_OPEN_HOST = pattern(r"://[^\s/:@\"'<>]{0,64}:(?=[^\s/@\"'<>]{0,129}\Z)")
_PASSWORD = pattern(r"[^\s/@\"'<>]{8,128}+(?=@)")
_VALUE = pattern(rf"[A-Za-z0-9+/_.~=%!@^*#-]{{1,{LONGEST + 1}}}+")
_UUID = pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DIGEST = pattern(
    r"(?:sha\d+|md5|blake\w{1,3}|h1|pbkdf2|scrypt|bcrypt|argon2)[-:=_]", re.IGNORECASE
)
_PLACEHOLDER = pattern(
    r"example|your|change.?me|placeholder|dummy|sample|fake|xxxx|\.\.\.|1234567|abcdef|redacted"
    r"|\*\*\*|environ|process\.env|(.)\1{5}",
    re.IGNORECASE,
)
_EXPRESSION = pattern(r"[A-Za-z_][\w.]*")
_LETTERS = pattern(r"[a-z]{4}")
_QUOTES = ("'", '"', "`")


def spans(text: str) -> list[Span]:
    """Where in an ASCII text a random value is beside a word that says what it is."""
    return among(text, values(text))


def among(text: str, values: list[Span]) -> list[Span]:
    """The values that are random."""
    # Of several words in a row, as in `auth=token=…`, the last says what the value is.
    last: dict[int, int] = {}
    for at, ends in values:
        last[ends] = max(at, last.get(ends, 0))
    return [
        (at, ends)
        for ends, at in last.items()
        if random_value(text[at:ends]) and not _is_code(text, at, ends)
    ]


def open_from(text: str, start: int, values: list[Span]) -> int:
    """Where a value is that may continue when more has come; the end if there is none."""
    found = [at for at, ends in values if ends == len(text) and at >= start]
    if (address := text.rfind("://")) >= 0 and (user := _OPEN_HOST.match(text, address)):
        found.append(max(user.end(), start))
    return min(found, default=len(text))


def names_a_secret(name: str) -> bool:
    """Whether what is called so is a secret, such as `api_key`."""
    lower = name.lower()
    for needle in _NEEDLES:
        at = lower.rfind(needle)
        if at >= 0 and _WORD.fullmatch(lower, at) and _says_secret(lower, needle, at):
            return True
    return False


def random_value(value: str) -> bool:
    """Whether a value is long and random, and no name, placeholder, UUID or named checksum."""
    if not SHORTEST <= len(value) <= LONGEST or not irregular(value):
        return False
    if _UUID.fullmatch(value) or _DIGEST.match(value) or _PLACEHOLDER.search(value):
        return False
    # A name in several words has a longer one among them.
    return _entropy(value) >= 3.0 and (not value.isalpha() or not _LETTERS.search(value))


def values(text: str) -> list[Span]:
    """Every value beside a word, random or not."""
    lower = text.lower()
    return [span for needle in _NEEDLES if needle in lower for span in _beside(text, lower, needle)]


def _beside(text: str, lower: str, needle: str) -> Iterator[Span]:
    """The values beside the words that hold a needle; what is in a value is not looked at again."""
    at = lower.find(needle)
    while at >= 0:
        value = _value(text, lower, needle, at)
        if value:
            yield value.span()
        at = lower.find(needle, max(value.end() if value else 0, at + len(needle)))


def _value(text: str, lower: str, needle: str, at: int) -> re.Match[str] | None:
    if needle == "://":
        user = _AT_HOST.match(text, at)
        return _PASSWORD.match(text, user.end()) if user else None
    if needle == "bearer ":
        between = _BEARER.match(text, at)
    elif word := _WORD.match(lower, at):
        between = _BETWEEN.match(text, word.end())
        if between is None and lower.find("--", max(at - NEARBY, 0), at) >= 0:
            option = _AS_OPTION.search(lower, max(at - NEARBY, 0), at)
            between = _AFTER_OPTION.match(text, word.end()) if option else None
        if between and not _says_secret(lower, needle, at):
            return None
    else:
        return None
    return _VALUE.match(text, between.end()) if between else None


def _says_secret(lower: str, needle: str, at: int) -> bool:
    """Whether what is before a word leaves it a secret: no `page_token`, but an `api_key`."""
    before = lower[max(at - NEARBY, 0) : at]
    if _HARMLESS.search(before):
        return False
    return needle != "key" or bool(_OF_KEYS.search(before))


def _is_code(text: str, at: int, ends: int) -> bool:
    """Whether a value without quotes is an expression: a call, or a name made of words."""
    if text[at - 1 : at] in _QUOTES or not _EXPRESSION.fullmatch(text, at, ends):
        return False
    return text.startswith(("(", "["), ends) or bool(_LETTERS.search(text, at, ends))


def _entropy(text: str) -> float:
    """Bits for each character."""
    shares = (count / len(text) for count in Counter(text).values())
    return -sum(share * math.log2(share) for share in shares)
