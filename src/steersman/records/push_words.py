"""The words of a `git push`, as git reads them: shortened options, letters together. Pure.

Everything that must know what a push does reads it here, so that no two readers disagree.
"""

from collections.abc import Sequence

from msgspec import Struct

_BARE = (
    "all", "atomic", "branches", "delete", "dry-run", "follow-tags", "force", "force-if-includes",
    "ipv4", "ipv6", "mirror", "porcelain", "progress", "prune", "quiet", "set-upstream", "tags",
    "thin", "verbose", "verify",
)  # fmt: skip
_MAY_HAVE_VALUE = ("force-with-lease", "signed")
_HAS_VALUE = ("exec", "push-option", "receive-pack", "recurse-submodules", "repo")
_NAMES = (*_BARE, *_MAY_HAVE_VALUE, *_HAS_VALUE)
_LONG = frozenset([*_NAMES, *(f"no-{name}" for name in _NAMES)])
_SAME = {"exec": "receive-pack", "branches": "all"}
_LETTERS = {
    "4": "ipv4", "6": "ipv6", "d": "delete", "f": "force", "n": "dry-run", "o": "push-option",
    "q": "quiet", "u": "set-upstream", "v": "verbose",
}  # fmt: skip

Option = tuple[str, str]


class PushWords(Struct, frozen=True):
    """A push: its options by their whole names, its remote, and its branches.

    `flags` are the options as they were written. `unknown` are those that git may understand, but
    nobody here does: what such a push does is not known.
    """

    options: tuple[Option, ...] = ()
    flags: tuple[str, ...] = ()
    remote: str = ""
    specs: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def has(self, *names: str) -> bool:
        """Whether one of these is on: of `--force` and `--no-force` the last one counts."""
        on: dict[str, bool] = {}
        for name, _ in self.options:
            on[name.removeprefix("no-")] = not name.startswith("no-")
        return any(on.get(name) for name in names)

    def names(self) -> set[str]:
        """The options that are named at all, also those that turn something off."""
        return {name for name, _ in self.options}

    def all(self, name: str) -> list[str]:
        """Every value of an option."""
        return [value for one, value in self.options if one == name]


def read_push(words: Sequence[str]) -> PushWords:
    """What follows `git push`."""
    options: list[Option] = []
    flags: list[str] = []
    names: list[str] = []
    unknown: list[str] = []
    left = list(reversed(words))
    while left:
        word = left.pop()
        if word in ("--", "--end-of-options"):
            names += reversed(left)
            break
        if not word.startswith("-") or word == "-":
            names.append(word)
            continue
        flags.append(word)
        found = _long(word[2:]) if word.startswith("--") else _letters(word[1:])
        if not found:
            unknown.append(word)
            continue
        name, value = found[-1]
        if name in _HAS_VALUE and value is None:
            if left:
                flags.append(value := left.pop())
            else:
                unknown.append(word)
        options += [
            (_SAME.get(one, one), given or "") for one, given in (*found[:-1], (name, value))
        ]
    remote, *specs = names or [""]
    asked = PushWords(tuple(options), tuple(flags), remote, tuple(specs), tuple(unknown))
    return asked if remote else _with_repo(asked)


def _with_repo(push: PushWords) -> PushWords:
    """`--repo` names the remote where no word does."""
    return PushWords(push.options, push.flags, (push.all("repo") or [""])[-1], (), push.unknown)


def _long(text: str) -> list[tuple[str, str | None]]:
    """An option by its name or the beginning of it; nothing for none, or where several fit."""
    name, equals, value = text.partition("=")
    fits = [name] if name in _LONG else [one for one in _LONG if one.startswith(name)]
    if len(fits) != 1 or (equals and fits[0] not in (*_HAS_VALUE, *_MAY_HAVE_VALUE)):
        return []
    return [(fits[0], value if equals else None)]


def _letters(text: str) -> list[tuple[str, str | None]]:
    """Options of one letter, written together; what follows one with a value is its value."""
    found: list[tuple[str, str | None]] = []
    for at, letter in enumerate(text):
        name = _LETTERS.get(letter)
        if name is None:
            return []
        found.append((name, (text[at + 1 :] or None) if name in _HAS_VALUE else None))
        if name in _HAS_VALUE:
            break
    return found
