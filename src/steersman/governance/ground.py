"""What really lies at the paths that the guard read in a command's text: links are followed here.

A fact gets the paths that its own lead to, so that rules speak of those, too. For a command with
the user's own rights it also says what no rule and no earlier answer covers: another command may
put a link at any path of the workspace between the decision and the run.
"""

import os
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from steersman.records.judgement import CommandPlace, Fact, Judgement
from steersman.records.patterns import pattern
from steersman.records.protection import inside
from steersman.records.real_paths import real_path
from steersman.records.secret_files import SecretFiles

_NOWHERE = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_PROCESS = pattern(r"/proc/[^/]+(?:/task/[^/]+)?")
_HANDLE = pattern(r"/dev/fd/\d+|/proc/[^/]+(?:/task/[^/]+)?/fd/\d+")
_DETOUR = pattern(
    r"/dev/fd(?:/|\Z)|/proc/[^/]+/(?:task/[^/]+/)?(?:root|cwd|fd|map_files|exe)(?:/|\Z)"
)
# These show names and sizes of what is in a folder, and nothing of its files.
_LISTING = frozenset({"ls", "dir", "vdir", "du", "stat", "tree", "find", "file", "test"})
_SEARCHING = pattern(r"(?:[efz]|bz|xz|zst)?grep")
_RECURSIVE = pattern(r"-[a-zA-Z]*[rRd]|--(?:recursive|dereference-recursive|directories)")


class Ground:
    """The disk under a command, as the user sees it; `shared` when other commands change it."""

    def __init__(self, place: CommandPlace, secret_files: SecretFiles, *, shared: bool) -> None:
        self._place = place
        self._secret_files = secret_files
        self._shared = shared

    def under(self, judgement: Judgement, *, outside: bool) -> Judgement:
        """A judgement whose facts name what is really reached; `outside` for the user's rights."""
        facts = [self._fact(fact, outside=outside) for fact in judgement.facts]
        found = replace(judgement, facts=tuple(facts))
        if not outside or judgement.verdict != "allow":
            return found
        shown = next((path for one in facts for path in one.reads if self._is_secret(path)), "")
        if not shown:
            return found
        reason = f"The command reads {shown}, which contains secrets, by way of a link."
        return replace(found, verdict="ask", rule="secrets.read", reason=reason)

    def _fact(self, fact: Fact, *, outside: bool) -> Fact:
        made = replace(
            fact,
            reads=self._with_real(fact, fact.reads, _real),
            writes=self._with_real(fact, fact.writes, _real),
            deletes=self._with_real(fact, fact.deletes, _beside),
            places=(),
        )
        if not outside:
            return made
        return replace(made, unsure=tuple(dict.fromkeys(self._doubts(fact, made))))

    def _with_real(
        self, fact: Fact, named: Sequence[str], real: Callable[[str], str]
    ) -> tuple[str, ...]:
        written = [place for place in fact.places if _plainly(place) in named]
        single = [path for path in (*named, *written) if path not in fact.patterns]
        return tuple(dict.fromkeys((*named, *map(real, map(self._direct, single)))))

    def _direct(self, path: str) -> str:
        """A path without the detours that lead to the root or to where the command runs."""
        head = _PROCESS.match(path)
        rest = path[head.end() :] if head else ""
        if rest == "/root" or rest.startswith("/root/"):
            return self._direct(rest[5:] or "/")
        if rest == "/cwd" or rest.startswith("/cwd/"):
            return self._direct((self._place.cwd or self._place.workspace) + rest[4:])
        return path

    def _doubts(self, fact: Fact, made: Fact) -> Iterator[str]:
        """Why no answer covers it outside the sandbox."""
        if fact.patterns:
            yield f"{fact.patterns[0]} is a pattern, and what it matches can change"
        changed = {*fact.writes, *fact.deletes}
        for path in dict.fromkeys((*fact.reads, *fact.writes, *fact.deletes, *fact.places)):
            if path in _NOWHERE or path in fact.patterns or _HANDLE.fullmatch(path):
                continue
            yield from self._doubt(path, written=path in changed or _plainly(path) in changed)
        if self._recursive(fact, made):
            yield f"`{fact.words[0]}` reads whole folders, and a link there may lead to a secret"

    def _doubt(self, path: str, *, written: bool) -> Iterator[str]:
        name, real = _plainly(path), _real(self._direct(path))
        if _DETOUR.match(path) or _DETOUR.match(name):
            yield f"{name} is another way to a file, which can change"
        elif self._is_secret(real):
            yield f"{name} contains secrets" if real == name else f"{name} leads to secrets"
        elif not self._passes(path):
            return
        elif written and self._shared:
            yield f"it changes {name}, and a file of the workspace can become a link to any other"
        elif not inside(real, self._place.workspace):
            yield f"{name} is a link that leads out of the workspace, or is below one"

    def _passes(self, path: str) -> bool:
        """Whether what a path leads to depends on the workspace, or on what a link there says."""
        parts = path.split("/")
        heads = ("/".join(parts[:count]) for count in range(2, len(parts) + 1))
        return any(inside(_real(head), self._place.workspace) for head in heads)

    def _recursive(self, fact: Fact, made: Fact) -> bool:
        program = os.path.basename(fact.words[0]) if fact.words else ""
        if program in _LISTING:
            return False
        if _SEARCHING.fullmatch(program) and any(map(_RECURSIVE.match, fact.words[1:])):
            return True
        return any(os.path.isdir(path) for path in made.reads)

    def _is_secret(self, path: str) -> bool:
        from steersman.governance.guard.places import secret

        return secret(path, self._place) or bool(self._secret_files.covers(path))


def _plainly(path: str) -> str:
    """A path as facts name it."""
    from steersman.governance.guard.marks import shown

    clean = os.path.normpath(path)
    return shown(clean[1:] if clean.startswith("//") else clean)


def _real(path: str) -> str:
    """Where a path leads; one that cannot be looked up, or is an open file, is only itself."""
    if _HANDLE.fullmatch(path) or path in _NOWHERE or "\0" in path:
        return path
    try:
        return real_path(path)
    except OSError:
        return path


def _beside(path: str) -> str:
    """Where a name lies that is done away with: a link there is not followed."""
    folder, name = os.path.split(path)
    return os.path.join(_real(folder), name) if name not in ("", "..") else _real(path)
