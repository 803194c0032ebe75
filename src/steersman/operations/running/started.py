"""Which files of a workspace a command line starts, as far as its words say so.

Programs and scripts by their paths, modules by their names, programs that a package manager keeps
in the workspace, and the files that say what such a manager runs. What those load in turn is not
looked for.
"""

import os
from collections.abc import Iterable, Iterator

from steersman.records.patterns import pattern
from steersman.records.protection import inside
from steersman.records.runners import manifests

MOST_WORDS = 2000
_BETWEEN = pattern(r"[\s=:,;|&<>()\"'`]+")
_MODULE = pattern(r"[A-Za-z_]\w*(?:\.\w+)*")
_ENDS = ("", ".py", ".js", ".mjs", ".cjs", ".ts", ".sh")
_KEPT = ("node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin")
_ENTRIES = ("__main__.py", "__init__.py", "package.json", "index.js", "index.mjs", "index.cjs",
            "index.ts", "pyproject.toml")  # fmt: skip


def started(texts: Iterable[str], folder: str, root: str) -> tuple[str, ...]:
    """The files of a workspace that the words of a command name, relative to it and in order.

    `folder` is where the command starts. An interpreter's script, `sh -c` and variables are words
    like any others.
    """
    found: set[str] = set()
    for word in words_of(texts):
        for path in _candidates(word, folder, root):
            place = os.path.normpath(path)
            if os.path.isfile(place) and (
                inside(place, root) or inside(os.path.realpath(place), root)
            ):
                found.add(place if inside(place, root) else os.path.realpath(place))
    return tuple(sorted(os.path.relpath(path, root) for path in found))


def words_of(texts: Iterable[str]) -> set[str]:
    """Whatever could be a name in some texts."""
    return {word for text in texts for word in (text, *_BETWEEN.split(text)) if word}


def _candidates(word: str, folder: str, root: str) -> Iterator[str]:
    if "\0" in word or len(word) > 4096:
        return
    word = os.path.expanduser(word)
    for base in dict.fromkeys((folder, root)):
        named = os.path.join(base, word)
        yield from (named + end for end in _ENDS)
        if os.path.isdir(named):
            yield from (os.path.join(named, entry) for entry in _ENTRIES)
        if "/" not in word:
            yield from (os.path.join(base, place, word) for place in _KEPT)
        if _MODULE.fullmatch(word):
            module = os.path.join(base, word.replace(".", "/"))
            below = os.path.join(base, "src", word.replace(".", "/"))
            yield from (f"{one}.py" for one in (module, below))
            yield from (f"{one}/{entry}" for one in (module, below) for entry in _ENTRIES[:2])
    yield from (os.path.join(folder, name) for name in manifests().get(os.path.basename(word), ()))
