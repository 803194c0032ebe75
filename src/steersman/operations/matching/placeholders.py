"""Lines that stand for code a caller left out, such as `// ... existing code ...`.

Writing one would delete what it stands for; whether it is a placeholder is judged by the line and,
for three bare dots, from the lines around it.
"""

import re
from collections import Counter
from collections.abc import Sequence

from steersman.operations.matching.folding import fold
from steersman.operations.matching.lines import is_blank
from steersman.operations.matching.records import Refusal
from steersman.records.patterns import pattern

_OPEN = r"(?://+|#+|--+|;+|%+|/\*+|<!--|\{/\*|\*|'''|\"\"\"|rem\b)"
_CLOSE = r"(?:\*+/\}?|-->|'''|\"\"\")"
_COMMENT = pattern(rf"{_OPEN}\s*(.*?)\s*{_CLOSE}?", re.IGNORECASE | re.DOTALL)
_INLINE = pattern(rf"{_OPEN}\s*(\.\.\..*?)\s*{_CLOSE}?\s*[}})\]]*;?$")
_EMPTY_BODY = pattern(r".*[)\w>]\s*\{\s*(?:/\*\s*)?\.\.\.(?:\s*\*/)?\s*\};?")
_EDGES = " \t()[]<>{}:;,-=*_"

_CODE = (
    r"(?:code|file|function|method|class|module|script|component|implementation|logic|body|program"
    r"|content)(?:s|es)?"
)
_GONE = r"(?:unchanged|omitted|elided|truncated|not shown|unmodified|untouched)(?: for brevity)?"
_STATE = (
    rf"(?:(?:is|are|remains?|stays?|continues?|left|kept) )?(?:the )?"
    rf"(?:{_GONE}|same|here|as before|as is|remains?|stays?|continues?)"
)
_KEEP = r"(?:(?:keep|leave|include|insert) )?(?:(?:the|all|all the|your) )?"
_STRICT = pattern(
    "|".join(
        (
            rf"{_KEEP}(?:rest|remainder) of (?:\S+ ){{0,3}}?{_CODE}(?: {_STATE})?",
            rf"{_KEEP}(?:rest|remainder) of (?:\S+ ){{1,4}}?{_STATE}",
            rf"{_KEEP}(?:rest|everything else) {_STATE}",
            rf"{_KEEP}(?:existing|remaining|unchanged) (?:\S+ )?{_CODE}(?: {_STATE})?",
            rf"{_KEEP}(?:existing|remaining|previous|original|other) (?:\S+ ){{1,2}}?{_STATE}",
            rf"(?:\S+ )?{_CODE} {_GONE}",
            rf"(?:{_GONE}|no changes?)(?: here| below| above)?|same as before|snip(?:ped)?",
        )
    )
)
_LOOSE = pattern(
    r"(?:the |all |all the )?(?:existing|rest|remaining|remainder|previous|original|unchanged|other"
    r"|same|more|snip\w*|omitted|truncated|code|lines|and so on|etc)\b(?: \S+){0,6}"
)
_TRIVIAL = pattern(r"pass|return(?: None)?|raise NotImplementedError\b.*")


def check_left_out(search: Sequence[str], replace: Sequence[str]) -> None:
    """Refuse a replacement that leaves code out behind a placeholder its search does not have."""
    had = Counter(_normal(line) for line in search)
    for at, line in enumerate(replace):
        normal = _normal(line)
        if had[normal] > 0:
            had[normal] -= 1
        elif is_placeholder(line) and not _is_stub(search, replace, at):
            raise Refusal(
                "left-out-code",
                f"The replacement leaves code out behind {line.strip()[:80]!r}, and writing that "
                "would delete the code; write every line out, or make the search smaller so that "
                "it contains only lines that change.",
            )


def is_placeholder(line: str) -> bool:
    """Whether a line, taken by itself, stands for left-out code."""
    text = _normal(line)
    comment = _COMMENT.fullmatch(text)
    if _stands_for_code(comment[1] if comment else text, commented=bool(comment)):
        return True
    if _EMPTY_BODY.fullmatch(text):
        return True
    inline = _INLINE.search(text)
    return bool(inline and _stands_for_code(inline[1], commented=True))


def _stands_for_code(text: str, commented: bool) -> bool:
    core = text.strip(_EDGES)
    opens, closes = core.startswith("..."), core.endswith("...")
    words = core.strip(_EDGES + ".")
    if not words:
        return opens
    if not commented and (not opens or (core[3] not in _EDGES and " " not in words)):
        return False
    if opens and closes and commented:
        return True
    return bool(_STRICT.fullmatch(words) or (opens and _LOOSE.fullmatch(words)))


def _normal(line: str) -> str:
    return " ".join(fold(line).lower().split())


def _is_stub(search: Sequence[str], replace: Sequence[str], at: int) -> bool:
    """Three bare dots as Python writes them: an empty body, or a doctest's continued line."""
    line = replace[at]
    if line.strip() != "...":
        return False
    before = next((own for own in reversed(replace[:at]) if not is_blank(own)), "")
    after = next((own for own in replace[at + 1 :] if not is_blank(own)), "")
    if before.lstrip().startswith((">>>", "... ")):
        return True
    if not before:
        old = [own.strip() for own in search if not is_blank(own)]
        return not after and len(old) == 1 and bool(_TRIVIAL.fullmatch(old[0]))
    opens = before.rstrip().endswith(":") and _depth(before) < _depth(line)
    closes = not after or _depth(after) < _depth(line)
    return opens and closes and _old_body(search, before) <= 1


def _old_body(search: Sequence[str], header: str) -> int:
    """How many lines the search has below a header line."""
    filled = [line for line in search if not is_blank(line)]
    place = next((at for at, line in enumerate(filled) if line.strip() == header.strip()), None)
    if place is None:
        return 0
    deeper = [_depth(line) > _depth(filled[place]) for line in filled[place + 1 :]]
    return deeper.index(False) if False in deeper else len(deeper)


def _depth(line: str) -> int:
    return len(line.expandtabs()) - len(line.expandtabs().lstrip())
