"""git: its global options, and options many of its subcommands share."""

import re
import shlex

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import DEEP, FILE, UNSET, shown
from steersman.governance.guard.options import Options, listed, read_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.git_settings import BELOW, run_through, set_option
from steersman.governance.guard.programs.git_subs import SUBCOMMANDS

_GLOBAL = (
    "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --list-cmds"
)


_SAFE = frozenset(
    listed(
        """status log diff show rev-parse rev-list ls-files ls-tree ls-remote cat-file blame
        annotate shortlog describe name-rev grep add commit switch init mv cherry
        merge-base diff-tree diff-index diff-files for-each-ref show-ref symbolic-ref
        version help whatchanged count-objects var check-ignore check-attr
        check-ref-format verify-commit verify-tag fsck range-diff format-patch archive
        bundle notes apply am mailinfo interpret-trailers merge-tree sparse-checkout
        request-pull column stripspace hash-object show-branch fetch pull merge revert
        cherry-pick rebase tag stash branch worktree remote config rm maintenance
        bugreport diagnose citool gui gitk instaweb lfs difftool mergetool bisect
        clone submodule reflog rerere write-tree commit-tree get-tar-commit-id
        patch-id mktree read-tree unpack-file update-index checkout-index merge-file
        fmt-merge-msg cherry pack-refs flow absorb town"""
    )
)


def git(call: ProgramCall) -> None:
    """`git …`: its global options, then its subcommand."""
    args, at = call.args, 0
    shell = call.shell
    while at < len(args) and args[at].startswith("-"):
        word = args[at]
        at += 1
        name, equals, value = word.partition("=")
        if name in _GLOBAL.split() and not (equals and name.startswith("--")):
            value = args[at] if at < len(args) else ""
            at += 1
        if name == "-C":
            shell = shell.copy()
            shell.cwd = call.path(value)
            call.shell = shell
        elif name == "--config-env":
            key, _, variable = value.rpartition("=")
            given = shell.value(variable)
            set_option(call, key, lasting=False, value=given if isinstance(given, str) else UNSET)
        elif name == "-c":
            set_option(call, value, lasting=False)
        elif name in ("--exec-path",) and value:
            call.doubt("git.exec-path", f"takes git's own programs from {shown(value)}")
        elif name in ("--git-dir", "--work-tree") and call.zone(value) not in (
            Zone.INSIDE,
            Zone.WORKSPACE,
            Zone.GIT,
            Zone.TEMP,
        ):
            call.doubt("git.elsewhere", f"works with the repository at {shown(value)}")
    if at >= len(args):
        return
    sub, rest = args[at], args[at + 1 :]
    if rest in (["--help"], ["-h"]):
        return
    alias = shell.aliases.get("git " + sub)
    if alias is not None:
        call.script(alias[1:] if alias.startswith("!") else "git " + alias)
        return
    if (
        (cwd := call.path(".")) != call.place.workspace
        and not cwd.startswith((call.place.workspace + "/", "/tmp"))
        and sub not in ("log", "status", "diff", "show", "clone", "init", "config")
    ):
        call.doubt("git.elsewhere", f"works in a repository outside the workspace: {shown(cwd)}")
    _sub(call, sub, rest)


_FETCHING = ("clone", "fetch", "ls-remote", "pull", "fetch-pack", "send-pack", "archive")


def _sub_options(call: ProgramCall, sub: str, rest: list[str], options: Options) -> None:
    """Options many subcommands share: files they write, programs they run."""
    outputs = options.all("--output")
    if sub in ("format-patch", "archive", "bundle"):
        outputs += [name for name in options.all("-o") if call.zone(name) not in BELOW]
    for name in outputs:
        call.write(name, FILE)
    if sub in _FETCHING:
        for text in options.all("--upload-pack", "--receive-pack", "-u", "--exec"):
            if " " in text or "/" in text or sub == "clone":
                run_through(call, text, "--upload-pack")
    for word in rest:
        if re.match(r"(?:ext|fd)::", word):
            text = word[5:]
            if "% " in text:
                parts = [part.replace("% ", " ") for part in re.split(r"(?<!%) ", text)]
                text = shlex.join(parts)
            run_through(call, text, "an ext:: address")


def _sub(call: ProgramCall, sub: str, rest: list[str]) -> None:
    options = read_options(
        rest,
        "-m -F -C -c -o -n -S -G -b -B -u -x -X -s -t --message --file --author "
        "--date --output --format --upload-pack --receive-pack --exec -e --extcmd "
        "--tool --since --until --grep --max-count --depth --branch --reference "
        "--template --config --jobs -j --strategy --onto --separate-git-dir --work-tree "
        "--pathspec-from-file --track --orphan --push-option --repo --server-option "
        "--pre --command",
    )
    _sub_options(call, sub, rest, options)
    if sub == "rev-parse" and "--show-toplevel" in rest:
        call.out = call.place.workspace + "\n"
    if sub == "ls-files" or "--name-only" in rest or (sub == "grep" and _names_files(rest)):
        call.out = "./" + DEEP + "\n"
    if sub == "grep" and "--no-index" in rest:
        call.run(["grep", "-r", *(word for word in rest if word != "--no-index")], None)
        call.wrapper = False
    special = SUBCOMMANDS.get(sub)
    if special is not None:
        special(call, options, rest)
    elif sub not in _SAFE:
        call.ask("git.unknown", f"uses the git command {shown(sub)}, which may be an alias")
    if sub in ("grep",) and any(word.startswith(("-O", "--open-files-in-pager")) for word in rest):
        text = next(word for word in rest if word.startswith(("-O", "--open-files-in-pager")))
        run_through(call, re.sub(r"\A(?:-O|--open-files-in-pager=?)", "", text), "its pager")


def _names_files(words: list[str]) -> bool:
    """Whether a search prints names of files and nothing else."""
    return any(re.match(r"--files-with(?:out)?-match|-\w*[lL]", word) for word in words)
