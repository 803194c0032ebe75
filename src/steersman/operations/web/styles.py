"""Style sheets as far as they decide what a reader sees: rules, selectors, the cascade.

Pure, and bounded by `Budget`: a page is a stranger's program, and so is its style sheet. Only
what is in the page is known here; nothing is fetched. Selectors that depend on what a reader does
(`:hover`) match nothing, and so do those that are not known.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

Test = Callable[[Any], bool]
Weight = tuple[int, ...]
Styles = dict[str, str]

WIDTH = 1280  # pixels of the screen that a page is laid out for
MOST_STEPS = 2_000_000
PER_SELECTOR = 20  # steps, for it has to be kept
DEEPEST = 20  # blocks in blocks

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
_MARKUP = re.compile(r"<!--|-->")
_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|\\.|[{};]|[^{};\"'\\]++", re.S)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.S)
_NAME = r"(?:[\w-]|[^\x00-\x7f]|\\[0-9a-fA-F]{1,6}\s?|\\.)++"
_MARK = re.compile(r"[,()\[\]]")
_PART = re.compile(
    rf"\s*+(?P<join>[>+~])\s*+|(?P<gap>\s++)|(?P<any>\*)|(?P<tag>{_NAME})|\.(?P<cls>{_NAME})"
    rf"|\#(?P<id>{_NAME})"
    rf"|\[\s*+(?P<attr>{_NAME})\s*+(?:(?P<how>[~|^$*]?=)\s*+(?:\"(?P<v1>[^\"]*+)\"|'(?P<v2>[^']*+)'"
    rf"|(?P<v3>{_NAME}))\s*+(?:[is]\s*+)?)?\]"
    rf"|:(?P<pseudo>:?{_NAME})(?:\((?P<of>[^()]*+(?:\([^()]*+\)[^()]*+)*+)\))?",
    re.S,
)
_FEATURE = re.compile(r"\(\s*+([\w-]++)\s*+:\s*+([\w.-]++)\s*+\)")
_LENGTH = re.compile(r"(\d*\.?\d+)(px|r?em)")
_OTHERS = {  # what is not so on the screen of most readers
    "prefers-color-scheme": "dark", "prefers-reduced-motion": "reduce", "orientation": "portrait",
    "hover": "none", "pointer": "coarse", "prefers-contrast": "more", "forced-colors": "active",
}  # fmt: skip
_VARIABLE = re.compile(r"var\(\s*+(--[\w-]++)\s*+(?:,([^()]*+))?\)")


class TooIntricate(Exception):
    """To tell what a reader sees would take too long."""


class Budget:
    """How much may be tried for one page."""

    def __init__(self, steps: int = MOST_STEPS) -> None:
        self._left = steps

    def step(self, steps: int = 1) -> None:
        """One more thing is tried."""
        self._left -= steps
        if self._left < 0:
            raise TooIntricate


class _Selector(NamedTuple):
    """Tests from the element outwards, each with how the next one is joined to it."""

    key: tuple[str, str]
    weight: Weight
    parts: tuple[tuple[tuple[Test, ...], str], ...]


class _Rule(NamedTuple):
    selector: _Selector
    order: int
    styles: Styles


class Sheet:
    """All style sheets of a page: `of` gives what holds for one of its elements."""

    def __init__(self, texts: Iterable[str], wanted: frozenset[str], budget: Budget) -> None:
        self._budget = budget
        self._by_key: dict[tuple[str, str], list[_Rule]] = defaultdict(list)
        self._variables: Styles = {}
        for order, (heads, body) in enumerate(_rules(texts)):
            budget.step()
            styles = declarations(body)
            self._variables |= {name: v for name, v in styles.items() if name.startswith("--")}
            if wanted.isdisjoint(name.rstrip("!") for name in styles):
                continue
            for head in _listed(heads):
                budget.step(PER_SELECTOR)
                if selector := _selector(head, budget):
                    self._by_key[selector.key].append(_Rule(selector, order, styles))

    def of(self, node: Any) -> Styles:
        """What holds for an element: its own rules and its `style`, the weightiest of each kind."""
        best: dict[str, tuple[Weight, str]] = {}
        keys = [("tag", node.tag), ("any", ""), ("id", node.get("id", ""))]
        keys += [("class", name) for name in set(node.get("class", "").split())]
        for rule in (rule for key in keys for rule in self._by_key.get(key, ())):
            if _matches(rule.selector, node, self._budget):
                _weigh(best, rule.styles, (*rule.selector.weight, rule.order))
        if style := node.get("style"):
            _weigh(best, declarations(style), (1 << 20,))
        return {name: self._resolved(value) for name, (_, value) in best.items()}

    def _resolved(self, value: str) -> str:
        def known(found: re.Match[str]) -> str:
            return self._variables.get(found[1], found[2] or "")

        return _VARIABLE.sub(known, value).strip() if "var(" in value else value


def _weigh(best: dict[str, tuple[Weight, str]], styles: Styles, weight: Weight) -> None:
    for name, value in styles.items():
        plain, important = name.rstrip("!"), name.endswith("!")
        now = (important, *weight)
        if plain not in best or now >= best[plain][0]:
            best[plain] = (now, value)


def declarations(body: str) -> Styles:
    """The declarations of a rule in lower case; the name of an important one ends in `!`."""
    found: Styles = {}
    for one in _split(_COMMENT.sub("", body)):
        name, colon, value = one.partition(":")
        name, value = unescaped(name).strip().lower(), unescaped(value).strip().lower()
        if colon and value:
            plain = re.sub(r"\s*!\s*important$", "", value)
            found[name + ("!" if plain != value else "")] = plain
    return found


def unescaped(text: str) -> str:
    """A name as it is meant: `n\\6fne` is `none`."""

    def meant(found: re.Match[str]) -> str:
        code = int(found[1], 16) if found[1] else 0
        return (chr(code) if 0 < code < 0x110000 else "\ufffd") if found[1] else found[2]

    return _ESCAPE.sub(meant, text) if "\\" in text else text


def _split(body: str) -> list[str]:
    parts = [""]
    for token in _TOKEN.findall(body):
        if token == ";":
            parts.append("")
        else:
            parts[-1] += token
    return parts


def _rules(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every rule that holds on a screen: its selectors and its declarations."""
    for text in texts:
        open_blocks: list[str] = []
        head: list[str] = []
        for token in _TOKEN.findall(_MARKUP.sub("", _COMMENT.sub("", text))):
            if token == "{":
                open_blocks.append("".join(head).strip())
                head = []
            elif token == "}":
                if open_blocks:
                    selectors = open_blocks.pop()
                    if not selectors.startswith("@") and _shown(open_blocks):
                        yield selectors, "".join(head)
                head = []
            elif token == ";" and (not open_blocks or open_blocks[-1].startswith("@")):
                head = []  # an `@import`, which is not followed
            else:
                head.append(token)
        if open_blocks and not open_blocks[-1].startswith("@") and _shown(open_blocks[:-1]):
            yield open_blocks[-1], "".join(head)  # a sheet may end in the middle


def _shown(blocks: list[str]) -> bool:
    """Whether what is in these blocks holds on the screen of most readers."""
    if len(blocks) > DEEPEST:
        return False
    for block in blocks:
        name, _, said = block.partition(" ")
        match re.split(r"[\s(]", name.lower())[0]:
            case "@media":
                if not on_screen(block[6:]):
                    return False
            case "@supports":
                if said.strip().lower().startswith("not"):
                    return False
            case "@layer" | "@container" | "@scope" | "@starting-style":
                pass
            case _:
                return False
    return True


def on_screen(media: str) -> bool:
    """Whether a media query holds on the screen of most readers."""
    return not media.strip() or any(_one_holds(one) for one in media.lower().split(","))


def _one_holds(query: str) -> bool:
    words = re.sub(r"\([^()]*+\)", " ", query).split()
    kind = next((word for word in words if word not in ("and", "only", "not")), "all")
    holds = kind in ("all", "screen")
    for name, value in _FEATURE.findall(query):
        length = _LENGTH.fullmatch(value)
        pixels = float(length[1]) * (1 if length[2] == "px" else 16) if length else None
        if pixels is not None and name == "min-width":
            holds &= pixels <= WIDTH
        elif pixels is not None and name == "max-width":
            holds &= pixels >= WIDTH
        else:
            holds &= _OTHERS.get(name) != value
    return holds != ("not" in words)


def _listed(text: str) -> Iterator[str]:
    """The selectors of a list; a comma in brackets belongs to one of them."""
    begins = depth = 0
    for mark in _MARK.finditer(text):
        depth += (mark[0] in "([") - (mark[0] in ")]")
        if mark[0] == "," and depth == 0:
            yield text[begins : mark.start()].strip()
            begins = mark.end()
    yield text[begins:].strip()


def _selector(text: str, budget: Budget) -> _Selector | None:
    """What a selector asks of an element; None for one that is not known or never holds."""
    parts: list[tuple[list[Test], str]] = [([], "")]
    key, weight, at = ("any", ""), [0, 0, 0, 0], 0
    while at < len(text):
        budget.step()
        found = _PART.match(text, at)
        if found is None:
            return None
        at = found.end()
        if found["join"] or found["gap"]:
            parts.append(([], found["join"] or " "))
            key = ("any", "")
            continue
        made = _test(found, budget)
        if made is None:
            return None
        test, place = made
        if found["tag"] and key[0] == "any":
            key = ("tag", unescaped(found["tag"]).lower())
        elif found["cls"] and key[0] != "id":
            key = ("class", unescaped(found["cls"]))
        elif found["id"]:
            key = ("id", unescaped(found["id"]))
        weight[place] += 1
        parts[-1][0].append(test)
    joins = [join for _, join in parts]
    tests = [tuple(tests) for tests, _ in parts]
    outwards = zip(reversed(tests), reversed(joins), strict=True)
    return _Selector(key, tuple(weight[:3]), tuple(outwards)) if tests[-1] else None


def _test(found: re.Match[str], budget: Budget) -> tuple[Test, int] | None:
    """What one part of a selector asks, and where it counts: ids, classes, tags or nowhere."""
    if found["any"]:
        return (lambda node: True), 3
    if found["tag"]:
        tag = unescaped(found["tag"]).lower()
        return (lambda node: node.tag == tag), 2
    if found["cls"]:
        name = unescaped(found["cls"])
        return (lambda node: name in node.get("class", "").split()), 1
    if found["id"]:
        id = unescaped(found["id"])
        return (lambda node: node.get("id") == id), 0
    if found["attr"]:
        value = found["v1"] or found["v2"] or found["v3"] or ""
        return _attribute(unescaped(found["attr"]).lower(), found["how"], unescaped(value)), 1
    return _pseudo(found["pseudo"].lower(), found["of"] or "", budget)


def _attribute(name: str, how: str | None, wanted: str) -> Test:
    def holds(node: Any) -> bool:
        value = node.get(name)
        if value is None or how is None:
            return value is not None
        match how[0]:
            case "=":
                return bool(value == wanted)
            case "~":
                return wanted in value.split()
            case "|":
                return bool(value == wanted or value.startswith(f"{wanted}-"))
            case "^":
                return bool(wanted) and bool(value.startswith(wanted))
            case "$":
                return bool(wanted) and bool(value.endswith(wanted))
        return bool(wanted) and wanted in value

    return holds


def _pseudo(name: str, of: str, budget: Budget) -> tuple[Test, int] | None:
    match name:
        case "root":
            return (lambda node: node.getparent() is None), 1
        case "first-child" | "first-of-type":
            return (lambda node: _beside(node, before=True) is None), 1
        case "last-child" | "last-of-type":
            return (lambda node: _beside(node, before=False) is None), 1
        case "not" | "is" | "where" | "matches" | "any":
            chosen = [_selector(one, budget) for one in _listed(of)]
            inner = [one for one in chosen if one]
            wanted = name != "not"

            def holds(node: Any) -> bool:
                return any(_matches(one, node, budget) for one in inner) == wanted

            return holds, 3 if name == "where" else 1
        case "nth-child" if place := {"odd": "2n+1", "even": "2n"}.get(of.strip(), of.strip()):
            return _nth(place, budget)
    return None


def _nth(place: str, budget: Budget) -> tuple[Test, int] | None:
    said = re.fullmatch(r"(?:([+-]?\d{0,6})n)?\s*([+-]?\s*\d{1,6})?", place.lower())
    if said is None:
        return None
    step = 0 if said[1] is None else int(said[1] + ("1" if said[1] in ("", "+", "-") else ""))
    first = int(said[2].replace(" ", "")) if said[2] else 0

    def holds(node: Any) -> bool:
        at = 1
        while (node := _beside(node, before=True)) is not None:
            budget.step()
            at += 1
        away = at - first
        return away == 0 if step == 0 else away % step == 0 and away // step >= 0

    return holds, 1


def _matches(selector: _Selector, node: Any, budget: Budget) -> bool:
    """Whether a selector holds for an element.

    Each part is looked for among the elements where it may be, all of them at once: to go back
    and try again would take a stranger's selector for ever.
    """
    places, inner = {node: None}, ""
    for tests, join in selector.parts:
        reached = places if not inner else _reached(places, inner, budget)
        places = {one: None for one in reached if all(_asked(test, one, budget) for test in tests)}
        if not places:
            return False
        inner = join
    return True


def _asked(test: Test, node: Any, budget: Budget) -> bool:
    budget.step()
    return test(node)


def _reached(places: Iterable[Any], join: str, budget: Budget) -> dict[Any, None]:
    """The elements that are joined to others in a way: around them, or before them."""
    found: dict[Any, None] = {}
    for node in places:
        step = _around if join in " >" else _before
        while (node := step(node)) is not None and node not in found:
            budget.step()
            found[node] = None
            if join in ">+":
                break
    return found


def _around(node: Any) -> Any:
    return node.getparent()


def _before(node: Any) -> Any:
    return _beside(node, before=True)


def _beside(node: Any, *, before: bool) -> Any:
    other = node.getprevious() if before else node.getnext()
    while other is not None and not isinstance(other.tag, str):
        other = other.getprevious() if before else other.getnext()
    return other
