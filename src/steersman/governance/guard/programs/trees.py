"""Programs that walk trees of files and act on what they find."""

import re
from collections.abc import Iterator

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import DEEP, FILE, live
from steersman.governance.guard.options import listed, read_options
from steersman.governance.guard.paths import OWN, Zone
from steersman.records.patterns import pattern

_TESTS = listed(
    "-name -iname -path -ipath -regex -iregex -mtime -atime -ctime -size -newer "
    "-empty -user -group -perm -type -mmin -links -inum -wholename"
)


_LITTER = pattern(
    r"(?i).*(?:tmp|temp|bak|pyc|pyo|swp|swo|ds_store|thumbs|orig|rej|cache|node_modules|"
    r"~|\.log)\W*\Z"
)


_NAMES = ("-name", "-iname", "-path", "-wholename")
_ANY = ("*", ".*", "*.*", "./*")
_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
_ACTS = (*_RUNS, "-delete")


def _after_run(args: list[str], at: int) -> int:
    """Where the words of an `-exec` that begin at a place end."""
    for n in range(at, len(args)):
        if args[n] in (";", "\\;") or (args[n] == "+" and args[n - 1] == "{}"):
            return n
    return len(args)


def _tests(args: list[str]) -> Iterator[tuple[str, str]]:
    """The tests that hold of what is found, each with its value; not those that are negated."""
    at, negated, groups = 0, False, [False]
    while at < len(args):
        word = args[at]
        at += 1
        if word in _RUNS:
            at = _after_run(args, at) + 1
        elif word in ("!", "\\!", "-not"):
            negated = not negated
            continue
        elif word in ("(", "\\("):
            groups.append(groups[-1] != negated)
        elif word in (")", "\\)") and len(groups) > 1:
            groups.pop()
        elif word in _TESTS:
            if negated == groups[-1]:
                yield word, args[at] if at < len(args) else ""
            at += word != "-empty"
        negated = False


def _narrow(args: list[str]) -> bool:
    """True when every alternative that acts is limited by a test."""
    parts: list[list[str]] = [[]]
    at, depth = 0, 0
    while at < len(args):
        end = _after_run(args, at) if args[at] in _RUNS else at
        word = args[at]
        depth += (word in ("(", "\\(")) - (word in (")", "\\)"))
        if depth == 0 and word in ("-o", "-or", ","):
            parts.append([])
        else:
            parts[-1] += args[at : end + 1]
        at = end + 1
    acting = [part for part in parts if any(word in _ACTS for word in part)] or parts
    return all(any(_limits(word, value) for word, value in _tests(part)) for part in acting)


def _limits(word: str, value: str) -> bool:
    return word != "-type" and (word not in _NAMES or value not in _ANY)


def find(call: ProgramCall) -> None:
    """`find ROOT… TESTS ACTIONS`."""
    args = list(call.args)
    follows = ""
    while args and args[0] in ("-H", "-L", "-P", "-O3", "-O2", "-O1"):
        follows = "/" if args.pop(0) in ("-H", "-L") else follows
    roots = []
    while args and not args[0].startswith(("-", "(", "!")) and args[0] not in ("\\(", "\\!"):
        roots.append(args.pop(0) + follows)
    roots = roots or ["."]
    tests = list(_tests(args))
    names = [value for word, value in tests if word in _NAMES and value not in _ANY]
    narrow = _narrow(args)
    if any(name.rstrip("/").endswith(".git") for name in names) and re.search(
        r"-delete|\brm\b", " ".join(args)
    ):
        call.doubt("fs.workspace", "deletes repositories")
    litter = bool(names) and all(_LITTER.match(name) for name in names)
    made = [_found(root, tail) for root in roots for tail in _tails(names)]
    call.out = "\n".join(made) + "\n"
    for word in roots:
        call.saw(word)
    if litter:
        roots = [
            root + "/FOUND" if call.zone(root) in (Zone.HOME, Zone.ABOVE) else root
            for root in roots
        ]
    _actions(call, args, roots, narrow)


def _tails(names: list[str]) -> list[str]:
    """What the last part of a path that is found may look like."""
    return [live(name) for name in names if "/" not in name] or [""]


def _found(root: str, tail: str = "") -> str:
    return root.rstrip("/") + "/" + DEEP + ("/" + tail if tail and root.rstrip("/") != "" else tail)


def _actions(call: ProgramCall, args: list[str], roots: list[str], narrow: bool) -> None:
    at = 0
    while at < len(args):
        word = args[at]
        at += 1
        if word == "-delete":
            for root in roots:
                where = call.zone(root)
                if where in (Zone.WORKSPACE,) and not narrow:
                    call.doubt("fs.workspace", "deletes everything in the workspace")
                call.delete(root, recursive=True, narrow=narrow)
        elif word in _RUNS:
            end = _after_run(args, at)
            _exec(call, args[at:end], roots, narrow)
            at = end + 1
        elif word in ("-fprint", "-fprint0", "-fls", "-fprintf"):
            text = args[at + 1] if word == "-fprintf" and at + 1 < len(args) else FILE
            if at < len(args):
                call.write(args[at], text)
            at += 2 if word == "-fprintf" else 1


def _exec(call: ProgramCall, words: list[str], roots: list[str], narrow: bool) -> None:
    if not words:
        return
    name = words[0].rsplit("/", 1)[-1]
    if name in ("rm", "rmdir", "unlink", "shred", "srm", "trash") and "{}" in words:
        for root in roots:
            where = call.zone(root)
            if where in (Zone.WORKSPACE,) and not narrow:
                call.doubt("fs.workspace", "deletes everything in the workspace")
            call.delete(root, recursive=True, narrow=narrow)
        call.starts(words)
        call.scene.plain = False
        return
    if name in ("grep", "egrep", "fgrep", "rg"):
        words = [words[0], "-r", *words[1:]]
    for root in roots[:4]:
        where = call.zone(root)
        item = root if where not in OWN else root.rstrip("/") + "/FOUND"
        if where not in OWN and narrow:
            item = root.rstrip("/") + "/" + DEEP
        call.run([word.replace("{}", item) for word in words], None)
    call.wrapper = False


def locate(call: ProgramCall) -> None:
    """`locate`, `mdfind`: paths anywhere with a name."""
    names = [word for word in call.args if not word.startswith("-")]
    call.out = "\n".join(f"/{DEEP}/{live(name)}" for name in names) + "\n"


def fd(call: ProgramCall) -> None:
    """`fd PATTERN ROOT… -x command`."""
    args = call.args
    at = next(
        (n for n, word in enumerate(args) if word in ("-x", "-X", "--exec", "--exec-batch")), None
    )
    head = args if at is None else args[:at]
    options = read_options(
        head,
        "-e -t -d -E -S -c -j -o --extension --type --max-depth --exclude --size "
        "--base-directory --search-path --changed-within",
    )
    roots = options.all("--base-directory", "--search-path") + options.rest[1:] or ["."]
    pattern = options.rest[0] if options.rest else ""
    narrow = pattern not in ("", ".", ".*", "*") or options.has("-e", "--extension")
    call.out = "\n".join(_found(root) for root in roots) + "\n"
    if at is None:
        return
    words = args[at + 1 :]
    if words and words[-1] == ";":
        words = words[:-1]
    if not any("{" in word for word in words):
        words = [*words, "{}"]
    _exec(call, words, roots, narrow)
