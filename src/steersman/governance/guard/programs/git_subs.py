"""git's subcommands: what is pushed, lost or rewritten, and what they run."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import FILE, NET, OUT, literal, shown
from steersman.governance.guard.options import Options, read_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.git_settings import BELOW, run_through, set_option
from steersman.records.patterns import pattern
from steersman.records.push_words import PushWords, read_push

DEFAULTS = pattern(
    r"(?:refs/heads/)?(?:main|master|trunk|develop|development|production|prod|"
    r"release(?:[/-].*)?|stable|default|gh-pages|staging)\Z"
)


_LEASE = "Use `git push --force-with-lease`: it stops when someone else has pushed."


def _push(call: ProgramCall, options: Options, rest: list[str]) -> None:
    push = read_push(rest)
    for text in push.all("receive-pack"):  # git runs it in a dry run as well
        run_through(call, text, "--receive-pack")
    if push.unknown:
        call.doubt("git.push", f"has options that are not known: {shown(' '.join(push.unknown))}")
    elif push.has("dry-run"):
        return
    remote = push.remote
    call.network.append(shown(remote or "origin"))
    call.remote = "pushes to " + shown(remote or "the remote")
    if (
        re.search(r"://|@[\w.-]+:", remote)
        and not re.search(r"github\.com|gitlab\.com|bitbucket\.org|codeberg\.org", remote)
    ) or (remote or "origin") in call.shell.aliases.get(" git remotes", "").split():
        call.block("exfil.push", f"pushes the source to the foreign remote {shown(remote)}")
        return
    if push.has("mirror", "prune"):
        call.breaker(
            "git.push-mirror", "makes the remote a mirror: branches that are not here vanish"
        )
        return
    _pushed(call, push)


def _pushed(call: ProgramCall, push: PushWords) -> None:
    """What a push does to the branches of the remote."""
    leased = push.has("force-with-lease", "force-if-includes")
    force, delete = leased or push.has("force"), push.has("delete")
    instead = "" if leased else _LEASE
    branches, every = [], False
    for spec in push.specs:
        plus = spec.startswith("+")
        source, colon, target = spec.lstrip("+").partition(":")
        name = target if colon else source
        gone = delete or (colon and target and not source)
        if not gone and ("*" in spec or "\ue010" in spec or spec.lstrip("+") == ":"):
            every |= plus or force  # each branch that both sides have
        elif (gone or plus or force) and DEFAULTS.match(name):
            call.breaker(
                "git.push-default",
                f"{'deletes' if gone else 'rewrites'} the remote branch {shown(name)}",
                "Push to a branch of your own and open a pull request.",
            )
        elif gone or plus or force:
            branches.append(name)
    if every or (force and push.has("all", "tags", "follow-tags")):
        call.breaker("git.push-default", "rewrites every branch or tag on the remote")
    elif delete and push.has("tags"):
        call.block("git.push-delete", "deletes tags on the remote")
    elif branches:
        call.ask(
            "git.push-force",
            f"rewrites or deletes {shown(', '.join(branches))} on the remote",
            "" if delete else instead,
        )
    elif force:
        call.ask("git.push-force", "rewrites the branch on the remote", instead)
    else:
        call.ask("git.push", "changes the remote repository")


def _reset(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if options.has("--hard", "--merge", "--keep"):
        call.ask("git.loses-work", "loses uncommitted work", "Commit or stash first.")


def _checkout(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if (
        options.has("-f", "--force")
        or "--" in rest
        or "." in options.rest
        or any(w in (":/", "./", ":") for w in options.rest)
        or options.has("--theirs", "--ours", "-p")
    ):
        call.ask("git.loses-work", "loses uncommitted work", "Commit or stash first.")
    elif any(
        "\ue010" in word or re.search(r"[^\d.]\w*\.[a-z]\w{0,4}\Z", word) for word in options.rest
    ) and not options.has("-b", "-B"):
        call.ask("git.loses-work", "may overwrite uncommitted work")
    if options.has("-B"):
        call.ask("git.loses-work", "moves a branch that may exist")


def _switch(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if options.has("-f", "--force", "--discard-changes", "-C"):
        call.ask("git.loses-work", "loses uncommitted work")


def _restore(call: ProgramCall, options: Options, rest: list[str]) -> None:
    work_tree = any(re.fullmatch(r"-[A-Za-z]*W[A-Za-z]*|--worktree", word) for word in rest)
    if options.has("--staged", "-S") and not work_tree:
        return
    call.ask("git.loses-work", "loses uncommitted work", "Commit or stash first.")


def _clean(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if options.has("-n", "--dry-run"):
        return
    read = read_options(rest, "-e --exclude")
    for word in read.rest:
        where = call.zone(word)
        if where not in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMP):
            call.delete(word)
            return
    if call.zone(".") not in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMP):
        call.delete(".")
    ignored = read.has("-X") and not read.has("-x")  # what a build makes, in folders by name
    if ignored and read.rest and all(_named(call, word) for word in read.rest):
        for word in read.rest:
            call.delete(word)
    elif read.has("-f", "--force"):
        call.ask("git.clean", "deletes untracked files", "Use `git clean -n` first.")


def _named(call: ProgramCall, word: str) -> bool:
    return call.zone(word) is Zone.INSIDE and not re.search(r"[*?\[]|\A:", literal(word))


def _stash(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if rest[:1] and rest[0] in ("clear", "drop"):
        call.ask("git.loses-work", "loses stashed work")


def _branch(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if (
        options.has("-D")
        or (options.has("-d", "--delete") and options.has("-f", "--force"))
        or options.has("-M", "-C")
    ):
        call.ask("git.branch-delete", "deletes a branch that may not be merged")
    elif options.has("-f", "--force"):
        call.ask("git.branch-move", "moves a branch")
    if options.has("--edit-description"):
        call.ask("shell.interactive", "opens an editor")


def _tag(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if options.has("-d", "--delete"):
        call.ask("git.tag-delete", "deletes a tag")
    elif options.has("-f", "--force"):
        call.ask("git.tag-move", "moves a tag")


def _config(call: ProgramCall, options: Options, rest: list[str]) -> None:
    words = [word for word in options.rest if word not in ("set", "--")]
    if (words[:1] and words[0] in ("get", "list", "get-regexp", "unset", "edit")) or (
        options.has("--get", "-l", "--list", "--get-all", "--get-regexp", "--show-origin")
        and len(words) < 2
    ):
        if options.has("-e", "--edit"):
            call.ask("shell.interactive", "opens an editor")
        if any(re.search(r"(?i)extraheader|token|passw|secret", word) for word in words):
            call.doubt("secrets.print", "prints a credential from git's settings")
        return
    if options.has("-e", "--edit"):
        call.ask("shell.interactive", "opens an editor")
        return
    far = options.has("--global", "--system") or (
        options.get("-f", "--file")
        and call.zone(options.get("-f", "--file") or "") is not Zone.INSIDE
    )
    if len(words) > 1:
        name, value = words[0], words[1]
        before = call.scene.worst
        set_option(call, name, lasting=True, value=value)
        if options.has("--system"):
            call.block("git.system", "changes git's settings for every user")
        elif far and call.scene.worst is before:
            call.doubt("git.global", "changes the user's own git settings") if not re.match(
                r"user\.(?:name|email)", name
            ) else call.ask("git.global", "changes the user's own git settings")
    elif far and options.has("--unset", "--unset-all", "--remove-section"):
        call.ask("git.global", "changes the user's own git settings")


def _clone(call: ProgramCall, options: Options, rest: list[str]) -> None:
    for text in options.all("-c", "--config"):
        set_option(call, text, lasting=True)
    if options.get("--template"):
        call.doubt("git.template", "takes hooks from a template")
    words = [w for w in options.rest]
    for word in words[:1]:
        if re.search(r"://|@[\w.-]+:", word) and not word.startswith("file:"):
            from steersman.governance.guard.programs.hosts import host_of

            host = host_of(word)
            call.network.append(shown(host))
            name = (
                words[1]
                if len(words) > 1
                else re.sub(r"\.git\Z", "", word.rstrip("/").rsplit("/", 1)[-1].rsplit(":", 1)[-1])
            )
            known = re.search(
                r"github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|git\.kernel\.org|"
                r"googlesource\.com",
                word,
            )
            base = call.path(name)
            call.scene.files[base] = "\ue002" if known else NET
            for script in (
                "install.sh",
                "setup.sh",
                "run.sh",
                "Makefile",
                "setup.py",
                "build.sh",
                "configure",
            ):
                call.scene.files[f"{base}/{script}"] = FILE if known else NET
            if len(words) > 1 and call.zone(words[1]) not in (
                Zone.INSIDE,
                Zone.TEMP,
                Zone.WORKSPACE,
            ):
                call.write(words[1], FILE)
    if options.has("--recurse-submodules", "--recursive"):
        call.ask("git.submodules", "fetches third-party repositories")


def _submodule(call: ProgramCall, options: Options, rest: list[str]) -> None:
    sub = options.rest[0] if options.rest else "status"
    if sub == "foreach":
        tail = [
            word
            for word in rest[rest.index("foreach") + 1 :]
            if word not in ("--recursive", "-q", "--quiet")
        ]
        if tail:
            call.script(" ".join(tail))
            call.wrapper = False
    elif sub in ("update", "add", "deinit", "sync", "set-url"):
        call.ask("git.submodules", "changes submodules, which are third-party repositories")


def _rebase(call: ProgramCall, options: Options, rest: list[str]) -> None:
    read = read_options(rest, "-x --exec -s -X --onto --strategy")
    for text in read.all("-x", "--exec"):
        call.script(text)
        call.wrapper = False
    if read.has("-i", "--interactive", "--root") and not read.has("--autosquash"):
        call.ask("git.rewrite", "rewrites history")


def _bisect(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if rest[:1] == ["run"]:
        call.run(rest[1:], None)
        call.wrapper = False


def _difftool(call: ProgramCall, options: Options, rest: list[str]) -> None:
    for text in read_options(rest, "-x --extcmd -t --tool").all("-x", "--extcmd"):
        run_through(call, text, "--extcmd")


def _filter(call: ProgramCall, options: Options, rest: list[str]) -> None:
    for flag in (
        "--tree-filter",
        "--index-filter",
        "--env-filter",
        "--msg-filter",
        "--commit-filter",
        "--parent-filter",
        "--tag-name-filter",
        "--setup",
    ):
        for at, word in enumerate(rest[:-1]):
            if word == flag:
                call.script(rest[at + 1])
                call.wrapper = False
    call.ask("git.rewrite", "rewrites the local history", "Make a backup branch first.")


def _reflog(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if rest[:1] and rest[0] in ("expire", "delete"):
        call.ask("git.unrecoverable", "makes lost commits unrecoverable")


def _gc(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if any(word.startswith("--prune=") and word != "--prune=never" for word in rest) or options.has(
        "--prune", "--aggressive"
    ):
        call.ask("git.unrecoverable", "makes lost commits unrecoverable")


def _worktree(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if rest[:1] == ["remove"] and options.has("-f", "--force"):
        call.ask("git.loses-work", "removes a work tree with its changes")
    elif rest[:1] == ["add"]:
        words = [w for w in read_options(rest[1:], "-b -B --reason").rest]
        if words and call.zone(words[0]) in (Zone.SYSTEM, Zone.TOP):
            call.write(words[0] + "/tree", FILE)
        elif words and call.zone(words[0]) not in (Zone.INSIDE, Zone.TEMP):
            call.ask(
                "fs.write-outside", f"makes a work tree outside the workspace: {shown(words[0])}"
            )


def _remote(call: ProgramCall, options: Options, rest: list[str]) -> None:
    words = [w for w in options.rest]
    if words[:1] and words[0] in ("add", "set-url") and len(words) > 2:
        if not re.search(r"github\.com|gitlab\.com|bitbucket\.org|codeberg\.org", words[2]):
            call.shell.aliases[" git remotes"] = (
                call.shell.aliases.get(" git remotes", "") + " " + words[1]
            )
        call.ask("git.remote", "changes where git pushes to")
    elif words[:1] == ["prune"] and options.has("-n", "--dry-run"):
        return
    elif words[:1] and words[0] in ("remove", "rm", "rename", "prune"):
        call.ask("git.remote", "changes the list of remotes")


def _rm(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if options.has("--cached", "-n", "--dry-run"):
        return
    for word in options.rest:
        if call.zone(word) is Zone.WORKSPACE and options.has("-r"):
            call.ask("fs.workspace", "removes the whole work tree")
        elif options.has("-f", "--force"):
            call.ask("git.loses-work", "removes files with uncommitted work")


def _update_ref(call: ProgramCall, options: Options, rest: list[str]) -> None:
    call.ask("git.rewrite", "changes git's references directly")


def _apply(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if options.has("--unsafe-paths"):
        call.doubt("fs.write-outside", "may write outside the work tree")
    if call.stdin and NET in call.stdin:
        call.ask("net.apply", "applies a patch fetched from the network")


def _fetch(call: ProgramCall, options: Options, rest: list[str]) -> None:
    call.network.append(shown(options.rest[0]) if options.rest else "origin")
    if any(
        word.startswith("+") or (":" in word and "://" not in word and "@" not in word)
        for word in options.rest[1:]
    ) and options.has("-f", "--force"):
        call.ask("git.rewrite", "overwrites local branches")


def _commit(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if options.has("--no-verify", "-n"):
        call.ask("git.no-verify", "skips the project's hooks", "Let the hooks run.")


def _log(call: ProgramCall, options: Options, rest: list[str]) -> None:
    call.out = OUT


def _symbolic(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if len(options.rest) > 1 or options.has("-d", "--delete"):
        call.ask("git.rewrite", "changes git's references directly")


def _send_email(call: ProgramCall, options: Options, rest: list[str]) -> None:
    for word in rest:
        if word.startswith(("--smtp-server=/", "--sendmail-cmd=", "--to-cmd=", "--cc-cmd=")):
            run_through(call, word.partition("=")[2], "send-email")
    if not options.has("--dry-run"):
        call.ask("net.send", "sends mail")


def _replace(call: ProgramCall, options: Options, rest: list[str]) -> None:
    call.ask("git.rewrite", "rewrites history")


def _credential(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if rest[:1] == ["fill"]:
        call.block("secrets.print", "prints a stored password")
    else:
        call.ask("secrets.change", "changes stored passwords")


def _lfs(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if rest[:1] and rest[0] in ("install", "push", "prune", "migrate"):
        call.ask("git.lfs", "changes hooks, history or the remote")


def _bundle(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if rest[:1] == ["create"]:
        for word in options.rest[1:2]:
            if word != "-":
                call.write(word, FILE)


def _init(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if options.get("--template"):
        call.doubt("git.template", "takes hooks from a template")
    for word in [*options.rest[:1], *options.all("--separate-git-dir")]:
        if call.zone(word) not in (*BELOW, Zone.WORKSPACE):
            call.write(word + "/config", FILE)


def _checkout_index(call: ProgramCall, options: Options, rest: list[str]) -> None:
    for word in rest:
        if word.startswith("--prefix=") and call.zone(word[9:]) not in BELOW:
            call.write(word[9:] + "/file", FILE)
    forced = any(re.fullmatch(r"-[a-z]*f[a-z]*|--force", word) for word in rest)
    if forced and not any(word.startswith(("--prefix", "--temp")) for word in rest):
        call.ask("git.loses-work", "loses uncommitted work", "Commit or stash first.")


def _read_tree(call: ProgramCall, options: Options, rest: list[str]) -> None:
    if "--reset" in rest and "-u" in rest:
        call.ask("git.loses-work", "loses uncommitted work", "Commit or stash first.")


SUBCOMMANDS = {
    "push": _push,
    "reset": _reset,
    "checkout": _checkout,
    "switch": _switch,
    "restore": _restore,
    "clean": _clean,
    "stash": _stash,
    "branch": _branch,
    "tag": _tag,
    "config": _config,
    "clone": _clone,
    "submodule": _submodule,
    "rebase": _rebase,
    "bisect": _bisect,
    "difftool": _difftool,
    "filter-branch": _filter,
    "filter-repo": _filter,
    "reflog": _reflog,
    "gc": _gc,
    "prune": _update_ref,
    "worktree": _worktree,
    "remote": _remote,
    "rm": _rm,
    "update-ref": _update_ref,
    "apply": _apply,
    "am": _apply,
    "fetch": _fetch,
    "pull": _fetch,
    "commit": _commit,
    "log": _log,
    "symbolic-ref": _symbolic,
    "send-email": _send_email,
    "replace": _replace,
    "lfs": _lfs,
    "update-server-info": _log,
    "daemon": _send_email,
    "svn": _send_email,
    "credential": _credential,
    "mergetool": _log,
    "fast-import": _replace,
    "bundle": _bundle,
    "init": _init,
    "checkout-index": _checkout_index,
    "read-tree": _read_tree,
}
