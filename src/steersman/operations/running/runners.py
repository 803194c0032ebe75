"""What a runner's file says is to be run, for the words that it was started with. Pure."""

import re
from collections.abc import Collection, Iterator

import msgspec

_TARGET = re.compile(r"([^\s#:=][^:=]*?)\s*::?(?!=)([^=#]*)")
_SETS = re.compile(r"(?:export\s+)?(\w+)\s*[:?+]*=\s*(.*)")
_USES = re.compile(r"\$[({](\w+)[)}]")
_LINES = ("justfile", "taskfile", "tox.ini", "pre-commit", "lefthook", "rakefile", "mise")
_BEFORE = re.compile(r"^[\s@+-]*(?:[\w.-]+\s*[:=]\s*)?[\s\[\"']*")  # what is none of the command


class _Package(msgspec.Struct):
    scripts: dict[str, object] = {}


def meant(name: str, text: str, words: Collection[str]) -> Iterator[str]:
    """The lines of a file that are run, as far as they are commands of its own."""
    if name == "package.json":
        yield from _scripts(text, words)
    elif name.lower().endswith("makefile"):
        yield from _recipes(text, words)
    elif name.lower().strip(".").startswith(_LINES):
        yield from (_BEFORE.sub("", line) for line in text.splitlines())


def _scripts(text: str, words: Collection[str]) -> Iterator[str]:
    try:
        said = msgspec.json.decode(text, type=_Package).scripts
    except (msgspec.MsgspecError, RecursionError):
        return
    for name, line in said.items():
        if isinstance(line, str) and any(name in (w, f"pre{w}", f"post{w}") for w in words):
            yield line


def _recipes(text: str, words: Collection[str]) -> Iterator[str]:
    """The recipes of the targets that are made, with what the variables in them stand for."""
    values: dict[str, str] = {}
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for target in current:
                recipes[target].append(_BEFORE.sub("", line))
        elif found := _SETS.fullmatch(line.strip()):
            values[found[1]] = found[2]
        elif line.startswith(("include ", "-include ")):
            yield f". {line.partition(' ')[2]}"
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
        for line in recipes[target]:
            whole = line
            for _ in range(4):
                whole = _USES.sub(lambda found: values.get(found[1], found[0]), whole)[:10_000]
            yield whole
