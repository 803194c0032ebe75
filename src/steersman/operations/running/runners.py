"""What a runner's file says is to be run, for the words that it was started with. Pure."""

import re
from collections.abc import Collection, Iterator
from functools import partial

import msgspec

from steersman.records.runners import readings

_TARGET = re.compile(r"([^\s#:=][^:=]*?)\s*::?(?!=)([^=#]*)")
_NEEDED = re.compile(r"\$[<^+?]")
_SETS = re.compile(r"(?:(?:export|override|private)\s+)*(\w+)\s*[:?+!]*=\s*(.*)")
_SETS_FOR = re.compile(r"[^\s#:=][^:=]*::?\s*" + _SETS.pattern)  # one target
_SEARCHED = re.compile(r"PATH|SHELL|ENV|FLAGS")
_PUT_TOGETHER = re.compile(
    r"\$[({][a-z-]+\s|^\s*define\b|^[^\s#:=]*[%$][^=\n]*:|^[^\s#:=]+\s*::?\s*\w+\s*[:?+!]?="
    r"|!=|^\s*(?:export|override|vpath)\b|^\s*(?:SHELL|VPATH|MAKEFLAGS)\b",
    re.MULTILINE,
)
_USES = re.compile(r"\$[({](\w+)[)}]")
_COMMENTS = re.compile(r"(\"(?:\\.|[^\"\\])*\")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])", re.DOTALL)
_ENTRY = re.compile(r"^\s*[\"']?([\w.-]+)[\"']?\s*=\s*[\"']([\w.]+):\w", re.MULTILINE)
_AROUND = ("{}", "pre{}", "post{}", "pre-{}-cmd", "post-{}-cmd")
_BEFORE = re.compile(r"^[\s@+-]*(?:[\w.-]+\s*[:=]\s*)?[\s\[\"']*")  # what is none of the command


class _Package(msgspec.Struct):
    scripts: dict[str, object] = {}
    tasks: dict[str, object] = {}


def meant(name: str, text: str, words: Collection[str]) -> Iterator[str]:
    """The lines of a file that are run, as far as they are commands of its own."""
    match readings().get(name):
        case "scripts":
            yield from _scripts(text, words)
        case "recipes":
            yield from _recipes(text, words)
        case "lines":
            yield from map(_bare, text.splitlines())
        case "file":
            yield from (
                f"python -m {module}" for name, module in _ENTRY.findall(text) if name in words
            )


def _bare(line: str) -> str:
    """A line without what is none of its command: a name, marks of a list, quotes around it."""
    rest = _BEFORE.sub("", line)
    quoted = line.removesuffix(rest).endswith(("'", '"'))
    return rest.rstrip("\"', ]") if quoted else rest


def _scripts(text: str, words: Collection[str]) -> Iterator[str]:
    """The scripts that are run, with what runs around them and what they refer to."""
    for _ in range(2):  # a comma that is too many may be before a comment
        text = _COMMENTS.sub(lambda found: found[1] or "", text)
    try:
        said = msgspec.json.decode(text, type=_Package)
    except (msgspec.MsgspecError, RecursionError):
        return
    every = said.scripts | said.tasks
    around = {form.format(word) for word in words for form in _AROUND}
    wanted = [name for name in every if name in around]
    for name in wanted:  # grows
        for line in _strings(every[name]):
            command = line.removeprefix("@")
            yield command
            first = command.split(" ")[0]
            wanted += [first] if first in every and first not in wanted else []


def _strings(said: object) -> Iterator[str]:
    match said:
        case str():
            yield said
        case list():
            yield from (line for line in said if isinstance(line, str))
        case dict():
            for one in said.values():
                yield from _strings(one)


def unclear(text: str) -> bool:
    """Whether a Makefile puts names together, so that any word of it may be what is run."""
    return _PUT_TOGETHER.search(text) is not None


def _recipes(text: str, words: Collection[str]) -> Iterator[str]:
    """The recipes of the targets that are made, with what the variables in them stand for."""
    said = _Makefile(text)
    made = [name for name in said.recipes if any(_fits(name, word) for word in words)]
    made = made or [*said.recipes][:1]
    made += [name for name in said.recipes if "$" in name or name == ".DEFAULT"]
    for target in made:  # grows
        wanted = said.needs[target]
        made += [
            name
            for name in said.recipes
            if name not in made and any(_fits(name, one) for one in wanted)
        ]
    for line in said.always:
        yield from said.whole(line)
    for target in dict.fromkeys(made):
        needed = " ".join(said.needs[target])
        for line in said.recipes[target]:
            yield from said.whole(needed.join(_NEEDED.split(line)))


def _fits(target: str, word: str) -> bool:
    """Whether a target is the one that a word names, or a pattern for it."""
    head, mark, tail = target.partition("%")
    return target == word or (
        bool(mark) and len(word) >= len(target) and word.startswith(head) and word.endswith(tail)
    )


class _Makefile:
    """What a Makefile says: recipes, what targets need, values, and what is run in any case."""

    def __init__(self, text: str) -> None:
        self.recipes: dict[str, list[str]] = {}
        self.needs: dict[str, list[str]] = {}
        self.always: list[str] = []
        self._values: dict[str, list[str]] = {"MAKE": ["make"]}
        self._current: list[str] = []
        defined = False
        for line in text.replace("\\\n", " ").splitlines():
            defined = (defined or line.startswith("define ")) and line.strip() != "endef"
            if defined:
                self.always.append(_BEFORE.sub("", line.removeprefix("define ")))
            elif line.startswith("\t"):
                for target in self._current:
                    self.recipes[target].append(_BEFORE.sub("", line))
            else:
                self._outside(line)

    def _outside(self, line: str) -> None:
        """A line that is none of a recipe."""
        if found := _SETS.fullmatch(line.strip()) or _SETS_FOR.fullmatch(line.strip()):
            name, value = found[1], found[2]
            self._values.setdefault(name, []).append(value)
            self.always += [f"{name}={value}"] if _SEARCHED.search(name) else []
            self.always += [value] if "$" in value or "!=" in line else []
        elif line.startswith(("include ", "-include ", "sinclude ")):
            self.always.append(f". {line.partition(' ')[2]}")
        elif found := _TARGET.fullmatch(line.partition(";")[0]):
            self._current = found[1].split()
            for target in self._current:
                self.recipes.setdefault(target, [])
                self.needs.setdefault(target, []).extend(found[2].split())
            for target in self._current if ";" in line else ():
                self.recipes[target].append(line.partition(";")[2])
        elif line.lstrip().startswith("$"):
            self.always.append(line)

    def whole(self, line: str) -> Iterator[str]:
        """A line with the values of variables, once for each value that one may have."""
        used = {name for name in _USES.findall(line) if name in self._values}
        for at in range(max((len(self._values[name]) for name in used), default=1)):
            text = line
            for _ in range(4):
                text = _USES.sub(partial(self._value, at), text)[:10_000]
            yield text.replace("$(shell ", "$(")

    def _value(self, at: int, found: re.Match[str]) -> str:
        values = self._values.get(found[1], [found[0]])
        return values[min(at, len(values) - 1)]
