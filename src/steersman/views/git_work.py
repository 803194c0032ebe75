"""What a commit and a pull request are made of: git's answers read, commands written. Pure."""

import ast
import re
import shlex
from collections.abc import Sequence

from msgspec import Struct

STATUS = "git status --porcelain=v1 --untracked-files=all"
DIFF = "git --no-pager diff --no-color --no-ext-diff --no-textconv"
PLACE = (
    "git branch --show-current && "
    "git for-each-ref --format='%(refname) %(symref)' refs/remotes && git remote"
)
MOST_NEW = 20  # new files whose content the model is shown
MOST_SHOWN = 60_000  # characters of a diff that the model is shown
LONGEST = 5_000  # characters of a message
_CONFLICTS = ("DD", "AU", "UD", "UA", "DU", "AA", "UU")
_FENCE = re.compile(r"\A\s*```[a-z]*\n(.*?)\n```\s*\Z", re.DOTALL)
_KINDS = {"M": "changed", "A": "new", "D": "deleted", "R": "renamed", "C": "copied",
          "T": "changed", "?": "new"}  # fmt: skip


class Changed(Struct, frozen=True):
    """A file that differs, and how: a word for people. `source` is its name before a rename."""

    how: str
    path: str
    source: str = ""

    @property
    def name(self) -> str:
        """The file as people read it."""
        return f"{self.source} → {self.path}" if self.source else self.path

    @property
    def paths(self) -> tuple[str, ...]:
        """All names that git must be given, so that a rename is done or dropped as a whole."""
        return (self.source, self.path) if self.source else (self.path,)


class Tree(Struct, frozen=True):
    """What git says of the working tree."""

    staged: tuple[Changed, ...] = ()
    unstaged: tuple[Changed, ...] = ()
    conflicts: tuple[str, ...] = ()


class Place(Struct, frozen=True):
    """Where a branch stands: its remote, and the branch that it would go into."""

    branch: str
    remote: str
    base: str


def read_status(text: str) -> Tree:
    """What `STATUS` prints."""
    staged, unstaged, conflicts = [], [], []
    for line in text.splitlines():
        code, path = line[:2], line[3:]
        if len(line) < 4 or line[2] != " " or code.strip("MADRCTU?") not in ("", " "):
            continue
        if code in _CONFLICTS:
            conflicts.append(unquoted(path))
            continue
        if code[0] not in " ?":
            staged.append(_changed(code[0], path))
        if code[1] != " ":
            unstaged.append(_changed(code[1], path))
    return Tree(tuple(staged), tuple(unstaged), tuple(conflicts))


def _changed(code: str, path: str) -> Changed:
    """A file with its names; a copy leaves the other file as it is."""
    before, _, after = path.rpartition(" -> ")
    source = unquoted(before) if code == "R" else ""
    return Changed(_KINDS.get(code, "changed"), unquoted(after), source)


def unquoted(path: str) -> str:
    """A name as it is; git puts those with odd letters in quotes."""
    if not (path.startswith('"') and path.endswith('"') and path.isascii()):
        return path
    try:
        plain: bytes = ast.literal_eval(f"b{path}")
    except (SyntaxError, ValueError):
        return path
    return plain.decode("utf-8", "surrogateescape")


def diff_command(tree: Tree, files: Sequence[Changed] | None = None) -> str:
    """A command that prints what would be committed, of all files or some: what is staged, if
    something is."""
    every = tree.staged or tree.unstaged
    files = every if files is None else files
    new = [one.path for one in files if one.how == "new"] if not tree.staged else []
    known = [path for one in files if one.path not in new for path in one.paths]
    named = f" -- {_named(known)}" if len(files) < len(every) else ""
    commands = [f"{DIFF}{' --cached' * bool(tree.staged)}{named}"] if known else []
    commands += [f"{DIFF} --no-index -- /dev/null {shlex.quote(one)}" for one in new[:MOST_NEW]]
    return "; ".join((*commands, "true"))


def commit_command(message: str, paths: Sequence[str], dropped: Sequence[str] = ()) -> str:
    """A command that commits these paths and nothing else; without paths, what is staged.

    What is `dropped` of that is not staged any more.
    """
    commit = f"git commit -m {shlex.quote(message)}"
    if not paths:
        return f"git reset -q -- {_named(dropped)} && {commit}" if dropped else commit
    return f"git add -- {_named(paths)} && {commit} -- {_named(paths)}"


def _named(paths: Sequence[str]) -> str:
    return " ".join(shlex.quote(f":(top,literal){path}") for path in paths)


def pending_command(paths: Sequence[str]) -> str:
    """A command that prints what is not committed, and which of some files git has."""
    return f"{STATUS} && echo && git ls-files --full-name -- {_named(paths)}"


def committed(text: str, paths: Sequence[str], deleted: Sequence[str]) -> frozenset[str]:
    """Which of some files are as the last commit has them, from what `pending_command` prints."""
    status, _, listed = f"\n{text}".partition("\n\n")
    tree = read_status(status)
    pending = {path for one in (*tree.staged, *tree.unstaged) for path in one.paths}
    pending |= {*tree.conflicts}
    known = {unquoted(line) for line in listed.splitlines()} | {*deleted}
    return frozenset(path for path in paths if path in known and path not in pending)


def message_from(answer: str) -> str:
    """The message in a model's answer, without what models put around it."""
    fenced = _FENCE.match(answer)
    lines = [line.rstrip() for line in (fenced[1] if fenced else answer).strip().splitlines()]
    return "\n".join(lines)[:LONGEST].strip()


def listed(files: Sequence[Changed]) -> str:
    """Files, one a line."""
    return "\n".join(f"{one.how:<8} {one.name}" for one in files)


def read_place(text: str) -> Place:
    """What `PLACE` prints; whatever is not known is empty."""
    branch, *lines = text.splitlines() or [""]
    refs = dict(_pair(line) for line in lines if line.startswith("refs/remotes/"))
    remotes = [line for line in lines if line and not line.startswith("refs/remotes/")]
    remote = "origin" if "origin" in remotes else remotes[0] if remotes else ""
    start = f"refs/remotes/{remote}/"
    known = [refs.get(f"{start}HEAD", ""), f"{start}main", f"{start}master"]
    base = next((one for one in known if one and one in refs), "")
    return Place(branch.strip(), remote, base.removeprefix(start))


def _pair(line: str) -> tuple[str, str]:
    name, _, target = line.partition(" ")
    return name, target


def work_command(place: Place) -> str:
    """A command that prints what a branch adds to its base."""
    base = shlex.quote(f"{place.remote}/{place.base}")
    return f"git --no-pager log --format='- %s' {base}..HEAD && {DIFF} {base}...HEAD"


def request_commands(place: Place, title: str, body: str) -> tuple[str, str]:
    """The commands that push a branch and open a pull request."""
    push = f"git push -u {shlex.quote(place.remote)} {shlex.quote(place.branch)}"
    ask = (
        f"gh pr create --base {shlex.quote(place.base)} --head {shlex.quote(place.branch)} "
        f"--title {shlex.quote(title)} --body {shlex.quote(body)}"
    )
    return push, ask
