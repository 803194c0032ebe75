"""What a runner's file says is to be run, for the words that it was started with. Pure."""

import re
from collections.abc import Collection, Iterator

import msgspec

from steersman.records.runners import readings

_TARGET = re.compile(r"([^\s#:=][^:=]*?)\s*::?(?!=)([^=#]*)")
_SETS = re.compile(r"(?:export\s+)?(\w+)\s*[:?+]*=\s*(.*)")
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


def _recipes(text: str, words: Collection[str]) -> Iterator[str]:
    """The recipes of the targets that are made, with what the variables in them stand for."""
    values: dict[str, str] = {}
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    current: list[str] = []
    included: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for target in current:
                recipes[target].append(_BEFORE.sub("", line))
        elif found := _SETS.fullmatch(line.strip()):
            values[found[1]] = found[2]
        elif line.startswith(("include ", "-include ", "sinclude ")):
            included.append(f". {line.partition(' ')[2]}")
        elif found := _TARGET.fullmatch(line.partition(";")[0]):
            current = found[1].split()
            for target in current:
                recipes.setdefault(target, [])
                needs.setdefault(target, []).extend(found[2].split())
            for target in current if ";" in line else ():
                recipes[target].append(line.partition(";")[2])
    made = [word for word in words if word in recipes] or [*recipes][:1]
    for target in made:  # grows
        made += [one for one in needs[target] if one in recipes and one not in made]
    for line in (*included, *(line for target in made for line in recipes[target])):
        whole = line
        for _ in range(4):
            whole = _USES.sub(lambda found: values.get(found[1], found[0]), whole)[:10_000]
        yield whole
