"""What a commit and a pull request are made of: git's answers read, commands written. Pure."""

import ast
import re
import shlex
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from steersman.records.counting import counted
from steersman.records.errors import ToolProblem

STATUS = "git status --porcelain=v1 --untracked-files=all"
FOLDED = "git status --porcelain=v1 --untracked-files=normal"  # a new folder is one entry
BELOW = "git rev-parse --show-prefix"  # where the workspace is in its repository
DIFF = "git --no-pager diff --no-color --no-ext-diff --no-textconv"
PLACE = (
    "git branch --show-current && "
    "git for-each-ref --format='%(refname) %(symref)' refs/remotes && git remote"
)
MOST_NEW = 20  # new files whose content the model is shown
MOST_SHOWN = 60_000  # characters of a diff that the model is shown
LONGEST = 5_000  # characters of a message
MANY = 100  # files of a new folder that nobody commits one by one
NAMED = 3  # such folders that are named
_COMMITTED = re.compile(r"^\[.+ ([0-9a-f]{4,64})\] (.*)$", re.MULTILINE)
_FILES = re.compile(r"^ (\d+) files? changed", re.MULTILINE)
_CONFLICTS = ("DD", "AU", "UD", "UA", "DU", "AA", "UU")
_FENCE = re.compile(r"\A\s*```[a-z]*\n(.*?)\n```\s*\Z", re.DOTALL)
_KINDS = {"M": "changed", "A": "new", "D": "deleted", "R": "renamed", "C": "copied",
          "T": "changed", "?": "new"}  # fmt: skip


class Changed(Struct, frozen=True):
    """A file that differs, and how: a word for people. `source` is its name before a rename.

    A file can be two of these: what is `staged` of it, and the `rest`. It is one, with `edited`,
    where only its new name is staged.
    """

    how: str
    path: str
    source: str = ""
    staged: bool = False
    rest: bool = False
    edited: bool = False

    @property
    def name(self) -> str:
        """The file as people read it; no two of a tree have the same."""
        name = f"{self.source} → {self.path}" if self.source else self.path
        return f"{name} (not staged)" if self.rest else name

    @property
    def untracked(self) -> bool:
        """Whether git does not know it."""
        return self.how == "new" and not self.staged

    @property
    def paths(self) -> tuple[str, ...]:
        """All names that git must be given, so that a rename is done or dropped as a whole."""
        return (self.source, self.path) if self.source else (self.path,)


class Tree(Struct, frozen=True):
    """What git says of the working tree."""

    staged: tuple[Changed, ...] = ()
    unstaged: tuple[Changed, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Changed, ...]:
        """All that could be committed."""
        return self.staged + self.unstaged

    def paired(self, moved: Mapping[str, str]) -> "Tree":
        """With one file for two of which nobody staged that one was `moved` from the other."""
        gone = {one.path for one in self.unstaged if one.how == "deleted" and not one.rest}
        come = {one.path for one in self.unstaged if one.untracked}
        pairs = {new: old for new, old in moved.items() if new in come and old in gone}
        kept = [one for one in self.unstaged if one.path not in (*pairs, *pairs.values())]
        made = [Changed("renamed", new, old) for new, old in sorted(pairs.items())]
        return replace(self, unstaged=(*made, *kept))

    def joined(self) -> "Tree":
        """With one file for one of which `git mv` staged the new name and nobody its edits."""
        if self.chosen:
            return self
        edits = {one.path for one in self.unstaged if one.rest and one.how == "changed"}
        both = edits & {one.path for one in self.staged if one.how == "renamed"}
        staged = (replace(one, edited=one.path in both) for one in self.staged)
        others = (one for one in self.unstaged if one.path not in both)
        return replace(self, staged=tuple(staged), unstaged=tuple(others))

    @property
    def chosen(self) -> bool:
        """Whether someone staged what is to be committed: `git mv` and `git rm` stage, too."""
        return any(one.how not in ("renamed", "deleted") for one in self.staged)

    def proposed(self, made: Collection[str]) -> tuple[Changed, ...]:
        """What to commit if nobody says otherwise: what was staged, or else every change.

        Of the files that git does not know, those that were `made` here.
        """
        if self.chosen:
            return self.staged
        return tuple(one for one in self.files if not one.untracked or one.path in made)


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
        known = code[0] not in " ?"
        if known:
            staged.append(replace(_changed(code[0], path), staged=True))
        if code[1] != " ":
            unstaged.append(replace(_changed(code[1], path), rest=known))
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


def diff_command(tree: Tree, files: Sequence[Changed]) -> str:
    """A command that prints what would be committed."""
    commands = []
    tracked = [one for one in tree.unstaged if not one.untracked and not one.source]
    tracked += _edits(tree.staged)
    files = [*files, *_edits(files)]
    for every, how in ((tree.staged, " --cached"), (tracked, "")):
        known = [one for one in every if one in files]
        named = f" -- {_named(paths_of(known))}" if len(known) < len(every) else ""
        commands += [f"{DIFF}{how}{named}"] if known else []
    for one in files:
        if one.source and not one.staged:  # git does not know that it was renamed
            names = shlex.join(("rename from %s\\nrename to %s\\n", *one.paths))
            old = shlex.quote(f":0:{one.source}")
            commands.append(f"printf {names}; {DIFF} {old} -- {_named([one.path])}")
    new = [one.path for one in files if one.untracked]
    commands += [f"{DIFF} --no-index -- /dev/null {shlex.quote(one)}" for one in new[:MOST_NEW]]
    return "; ".join((*commands, "true"))


def _edits(files: Sequence[Changed]) -> list[Changed]:
    """What is not staged of files of which only the new name is."""
    return [Changed("changed", one.path, rest=True) for one in files if one.edited]


def commit_command(message: str, tree: Tree, kept: Sequence[Changed]) -> str:
    """A command that commits these files and nothing else.

    What is staged of the others stays so, unless what is staged of these is to be committed: then
    the others are not staged any more. If it fails, as a hook can make it, the index is restored.
    """
    commit = f"git commit -m {shlex.quote(message)}"
    more = paths_of([one for one in kept if not one.staged] + _edits(kept))
    commands = [f"git add -- {_named(more)}"] if more else []
    if not any(one.staged for one in kept):
        commands.append(f"{commit} -- {_named(more)}")
    else:
        dropped = paths_of([one for one in tree.staged if one not in kept])
        commands[:0] = [f"git reset -q -- {_named(dropped)}"] if dropped else []
        commands.append(commit)
    if len(commands) == 1:
        return commands[0]
    restored = '{ git read-tree "$index"; false; }'
    return f"index=$(git write-tree) && {{ {' && '.join(commands)} || {restored}; }}"


def message_in(command: str) -> str:
    """The first line of the message in such a command."""
    words = shlex.split(command.partition("git commit -m ")[2])
    return words[0].partition("\n")[0] if words else ""


def commit_line(output: str) -> str:
    """What was committed, from what git printed: how many files, as what; empty if it was not."""
    found = list(_COMMITTED.finditer(output))
    if not found:
        return ""
    count = _FILES.search(output, found[-1].end())
    files = f" {counted(int(count[1]), 'file')}" if count else ""
    return f"Committed{files} as `{found[-1][1]}`: {found[-1][2]}"


def paths_of(files: Sequence[Changed]) -> list[str]:
    """All names of files."""
    return [path for one in files for path in one.paths]


def new_folders(text: str) -> list[str]:
    """The folders of which git knows nothing, from what `FOLDED` prints."""
    return [one.path for one in read_status(text).unstaged
            if one.untracked and one.path.endswith("/")][:MOST_NEW]  # fmt: skip


def count_command(folders: Sequence[str]) -> str:
    """A command that prints how many files are in each of some folders, a number a line."""
    count = "git ls-files --others --exclude-standard -- {} | wc -l"
    return "; ".join(count.format(_named([folder])) for folder in folders)


def too_much(folders: Sequence[str], counts: str) -> ToolProblem:
    """What to say where the status is too long to be shown: whose fault it is, and what helps."""
    what, numbers = "There is too much to show.", [int(one) for one in counts.split()]
    found = sorted(zip(numbers, folders, strict=True), reverse=True)
    large = [(count, folder) for count, folder in found if count >= MANY][:NAMED]
    if not large:
        return ToolProblem(what, try_this="Commit with !git add FILE … and !git commit.")
    named = ", ".join(f"{folder} ({counted(count, 'file')})" for count, folder in large)
    lines = " and ".join(f"`{folder}`" for _, folder in large)
    return ToolProblem(
        what, f"New, and not ignored by git: {named}.", f"Add {lines} to .gitignore."
    )


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
