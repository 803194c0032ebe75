"""What happens in a round, decided by its seed alone: a tree, and commands over it."""

import re
from pathlib import Path
from random import Random
from typing import Literal

from msgspec import Struct

Kind = Literal["file", "folder", "link", "hard", "pipe", "socket", "sparse", "git", "twin"]
Answers = Literal["nobody", "either", "allow", "deny"]
Machine = Literal["view", "copy", "direct"]
MACHINES: tuple[Machine, ...] = ("view", "copy", "direct")
Way = Literal["foreground", "background", "edit"]

NAMES = (
    b"a", b"b.txt", b"src", b"two words", "grün-名".encode(), b"-rf", b"new\nline", b".hidden",
    b"\xff\xfe", b"lib\xe9", b"\x1b[2Jesc", "bidi-\u202egnp".encode(), b"$HOME", b"q'uote\"",
    b"*", b"x" * 240, "\U0010ff41".encode(), b"tab\t",
)  # fmt: skip
MODES = ("600", "644", "755", "444", "400", "000", "700", "511", "777")
SECRETS = (b".env", b"keys/server.pem", b"sub/.env.local", b"id_rsa", b"keys/.netrc")
GUARDED = (
    b".mcp.json", b".vscode/tasks.json", b".husky/pre-commit", b".bashrc", b"sub/.vscode/x.json",
    b"sub/.mcp.json", b"nested/.git/config", b"nested/.git/hooks/pre-push",
)  # fmt: skip
IN_GIT = (b".git/config", b".git/hooks/pre-commit")
HARD = b"cached.txt"
EDITED = ("plain.txt", "sub/made.txt", "a", "cached.txt", "new/deep/made.txt", "twin")
_WORD = re.compile("@([a-z]+)@")


class Entry(Struct, frozen=True):
    """One path of a tree; `content` is what a file holds or where a link leads."""

    path: bytes
    kind: Kind
    content: bytes = b""
    mode: int = 0o644


class Step(Struct, frozen=True):
    """One call: a command, or an edit of a file by a tool."""

    way: Way
    command: str


class Plan(Struct, frozen=True):
    """A round; `answers` is what a person says to changes, if anybody is asked."""

    seed: int
    machine: Machine
    answers: Answers
    entries: tuple[Entry, ...]
    steps: tuple[Step, ...]
    secrets: tuple[tuple[bytes, str], ...] = ()
    turn: bool = False


def plan_for(seed: int) -> Plan:
    """The round of a seed."""
    dice = Random(f"fuzz {seed}")
    machine: Machine = dice.choices(MACHINES, (6, 2, 2))[0]
    asked = dice.random() < (0.9 if machine == "direct" else 0.4)
    words = tuple((path, f"fuzz-{dice.getrandbits(64):016x}-word") for path in _some(dice, SECRETS))
    entries = _tree(dice, machine, words)
    writer = Writer(dice, entries, seed)
    steps = tuple(writer.step(machine) for _ in range(dice.randint(3, 8)))
    answers: Answers = "either" if asked else "nobody"
    return Plan(seed, machine, answers, entries, steps, words, turn=dice.random() < 0.5)


def _some(dice: Random, paths: tuple[bytes, ...]) -> list[bytes]:
    return [path for path in paths if dice.random() < 0.6]


def _tree(
    dice: Random, machine: Machine, secrets: tuple[tuple[bytes, str], ...]
) -> tuple[Entry, ...]:
    """A tree, outer folders first; a path that is there twice counts once."""
    found = [
        Entry(b"plain.txt", "file", b"plain\n"),
        Entry(b"twin", "twin"),
        Entry(b"sub", "folder", mode=0o755),
        Entry(b"deep/er/inner", "file", b"inner\n"),
    ]
    if dice.random() < 0.5:
        found.append(Entry(b".git", "git"))
        found += [Entry(IN_GIT[1], "file", b"#!/bin/sh\n", 0o755)]
    folders = [b"", b"sub/"]
    for _ in range(dice.randint(4, 12)):
        path = dice.choice(folders) + dice.choice(NAMES)
        entry = _entry(dice, path)
        found.append(entry)
        folders += [path + b"/"] if entry.kind == "folder" and len(path) < 600 else []
    found += [Entry(path, "file", word.encode() + b"\n", 0o600) for path, word in secrets]
    found += [_guarded(dice, path) for path in _some(dice, GUARDED)]
    if any(entry.path.startswith(b"nested/") for entry in found):
        found.append(Entry(b"nested/.git/HEAD", "file", b"ref: refs/heads/main\n"))
    if machine != "direct":  # there is no way to keep a command from a file with a name outside
        found.append(Entry(HARD, "hard"))
    found.append(Entry(b"link-out", "link", b"../outside/precious"))
    found.append(Entry(b"folder-out", "link", b"../outside"))
    if dice.random() < 0.3:
        found.append(Entry(b"listen", "socket"))
    if dice.random() < 0.02:
        found.append(Entry(b"sparse", "sparse"))
    return tuple({entry.path: entry for entry in reversed(found)}.values())[::-1]


def _guarded(dice: Random, path: bytes) -> Entry:
    """A protected file, rarely one that is none."""
    if dice.random() < 0.05:
        return Entry(path, "pipe")
    return Entry(path, "file", b"[core]\n\tbare = false\n")


def _entry(dice: Random, path: bytes) -> Entry:
    """Something odd, or not."""
    match dice.choices(("file", "folder", "link", "pipe"), (8, 4, 3, 1))[0]:
        case "folder":
            return Entry(path, "folder", mode=dice.choices((0o755, 0o700, 0o555), (6, 2, 1))[0])
        case "link":
            other = dice.choice(NAMES)
            where = (b"nowhere", path.rpartition(b"/")[2], other, b"../outside/precious", b"/etc")
            return Entry(path, "link", dice.choice(where))
        case "pipe":
            return Entry(path, "pipe")
    content = dice.choice((b"", b"text\n" * 9, dice.randbytes(3000), b"one line"))
    modes = (0o644, 0o600, 0o755, 0o444, 0o000, 0o4755)
    return Entry(path, "file", content, dice.choices(modes, (8, 2, 2, 2, 1, 1))[0])


class Writer:
    """Writes commands about the paths of a tree."""

    def __init__(self, dice: Random, entries: tuple[Entry, ...], seed: int) -> None:
        self._dice = dice
        self._seed = seed
        self._paths = [entry.path for entry in entries if not entry.path.startswith(b".git")]
        self._files = [entry.path for entry in entries if entry.kind == "file"]
        self._folders = [entry.path for entry in entries if entry.kind == "folder"]

    def step(self, machine: Machine) -> Step:
        """One call."""
        dice = self._dice
        if dice.random() < 0.12:
            return Step("edit", dice.choice(EDITED))
        waits = machine != "direct" and dice.random() < 0.3
        groups = [group for group in GROUPS if machine != "direct" or group != "links"]
        group = dice.choices(groups, [GROUPS[group][0] for group in groups])[0]
        group = "waiting" if waits and dice.random() < 0.4 else group
        lines = [dice.choice(GROUPS[group][1])]
        while dice.random() < 0.25:
            lines.append(dice.choice(GROUPS[dice.choice(groups)][1]))
        command = "\n".join(map(self._filled, lines))
        return Step("background" if waits else "foreground", command)

    def _filled(self, line: str) -> str:
        words = {name: self._word(name) for name in dict.fromkeys(_WORD.findall(line))}
        return _WORD.sub(lambda found: words[found[1]], line)

    def _word(self, name: str) -> str:
        dice = self._dice
        match name:
            case "path" | "other":
                return quoted(dice.choice(self._paths))
            case "file":
                return quoted(dice.choice(self._files))
            case "folder":
                return quoted(dice.choice(self._folders))
            case "new":
                return quoted(dice.choice((b"fresh", b"fre\xffsh", b"sub/fresh", b"new \x1bone")))
            case "hard":
                return HARD.decode()
            case "secret":
                return quoted(dice.choice(SECRETS))
            case "guarded":
                return quoted(dice.choice(GUARDED + IN_GIT))
            case "mode":
                return dice.choice(MODES)
            case "text":
                return f"text-{dice.randrange(1000)}"
            case "n":
                return str(dice.choice((1, 20, 1999, 2001, 2400)))
            case "lasting":
                return lasting(self._seed)
        return f"@{name}@"  # what only the round knows


def lasting(seed: int) -> str:
    """Seconds to sleep by which the processes of a round are known."""
    return f"{600 + seed % 400}.{seed:07d}"


def quoted(path: bytes) -> str:
    """A path for bash, whatever its bytes are."""
    if re.fullmatch(rb"[\w./][\w./-]*", path):
        return path.decode()
    return "./$'" + "".join(f"\\x{byte:02x}" for byte in path) + "'"


def _read() -> dict[str, tuple[int, list[str]]]:
    groups: dict[str, tuple[int, list[str]]] = {}
    lines: list[str] = []
    for line in Path(__file__).with_name("commands.txt").read_text().splitlines():
        if line.startswith("## "):
            name, weight = line[3:].split()
            groups[name] = int(weight), (lines := [])
        elif line and not line.startswith("# "):
            lines.append(line)
    return groups


GROUPS = _read()
