"""git and its hosts' command lines: what is lost, what is pushed, and "
"the many ways it runs code."""

import re

from steersman.governance.guard.call import Call
from steersman.governance.guard.effects import harmful
from steersman.governance.guard.marks import DEEP, FILE, NET, OUT, UNSET, shown, unknown
from steersman.governance.guard.options import Options, listed, read_options
from steersman.governance.guard.paths import Zone

_GLOBAL = (
    "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --list-cmds"
)
_DEFAULTS = re.compile(
    r"(?:refs/heads/)?(?:main|master|trunk|develop|development|production|prod|"
    r"release(?:[/-].*)?|stable|default|gh-pages|staging)\Z"
)
RUNS = re.compile(
    r"(?i)(?:core\.(?:pager|editor|fsmonitor|sshcommand|askpass|hookspath|gitproxy|"
    r"alternaterefscommand)|pager\.\w+|diff\.external|diff\.[\w-]+\.(?:command|"
    r"textconv)|merge\.[\w-]+\.driver|mergetool\.[\w-]+\.(?:cmd|path)|difftool\.[\w-]+\.(?:cmd|"
    r"path)|alias\.[\w-]+|credential\.(?:[^=]*\.)?helper|filter\.[\w-]+\.(?:clean|"
    r"smudge|process)|gpg\.(?:\w+\.)?program|sequence\.editor|interactive\.difffilter|"
    r"init\.templatedir|include\.path|includeif\..*\.path|uploadpack\.packobjectshook|"
    r"remote\.[\w-]+\.(?:uploadpack|receivepack|vcs|proxy)|receive\.\w*hook|"
    r"protocol\.(?:ext\.)?allow|browser\.[\w-]+\.cmd|man\.[\w-]+\.cmd|trailer\.[\w-]+\.(?:command|"
    r"cmd)|submodule\.[\w-]+\.update|url\..*\.(?:push)?insteadof|http\.proxy|"
    r"http\.sslverify|tar\.[\w.]+\.command|guitool\.\w+\.cmd|instaweb\.\w+|sendemail\.\w+|"
    r"web\.browser|safe\.directory|blame\.\w+cmd)\Z"
)
_SAFE = frozenset(
    listed(
        """status log diff show rev-parse rev-list ls-files ls-tree ls-remote cat-file blame
        annotate shortlog describe name-rev grep add commit switch init mv cherry
        merge-base diff-tree diff-index diff-files for-each-ref show-ref symbolic-ref_
        version help whatchanged count-objects var check-ignore check-attr
        check-ref-format verify-commit verify-tag fsck range-diff format-patch archive
        bundle notes apply am_ mailinfo interpret-trailers merge-tree sparse-checkout
        request-pull column stripspace hash-object show-branch fetch pull merge revert
        cherry-pick rebase_ tag stash_ branch_ worktree_ remote_ config_ rm maintenance
        bugreport diagnose citool gui gitk instaweb_ lfs difftool_ mergetool_ bisect_
        clone_ submodule_ reflog_ rerere write-tree commit-tree get-tar-commit-id
        patch-id mktree read-tree unpack-file update-index checkout-index merge-file
        fmt-merge-msg cherry pack-refs flow absorb town"""
    )
)

_OWN = (Zone.INSIDE, Zone.TEMP)


def git(call: Call) -> None:
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
            _setting(call, key, lasting=False, value=given if isinstance(given, str) else UNSET)
        elif name == "-c":
            _setting(call, value, lasting=False)
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
    alias = shell.aliases.get("git " + sub)
    if alias is not None:
        call.script(alias[1:] if alias.startswith("!") else "git " + alias)
        return
    if (
        shell.cwd != call.place.workspace
        and not shell.cwd.startswith((call.place.workspace + "/", "/tmp"))
        and sub not in ("log", "status", "diff", "show", "clone", "init", "config")
    ):
        call.doubt(
            "git.elsewhere", f"works in a repository outside the workspace: {shown(shell.cwd)}"
        )
    _sub(call, sub, rest)


def _setting(call: Call, text: str, *, lasting: bool, value: str | None = None) -> None:
    name, _, given = text.partition("=")
    given = value if value is not None else given
    if not RUNS.match(name):
        return
    if re.search(r"(?i)core\.pager|core\.editor|pager\.|sequence\.editor", name) and re.fullmatch(
        r"(?:cat|less|more|delta|vim?|nvim|nano|code|true|false|bat|:|diff-so-fancy)?(?:\s-{1,"
        r"2}[\w=-]+)*(?:\s--wait)?",
        given,
    ):
        return
    if (
        re.search(r"(?i)credential\..*helper|credential\.helper", name)
        and re.fullmatch(
            r"(?:cache|store|osxkeychain|manager|libsecret|manager-core|gh auth git-credential)?.*",
            given,
        )
        and "!" not in given
        and "/" not in given
    ):
        call.ask("git.setting", f"sets {name}")
        return
    call.doubt(
        "git.setting", f"sets {name}, which decides what git runs", "Run the program plainly."
    )
    if unknown(given):
        return
    if name.lower().startswith("alias."):
        call.shell.aliases["git " + name[6:]] = given
        if given.startswith("!"):
            call.shell.copy().script(given[1:])
        return
    if re.search(
        r"(?i)hookspath|templatedir|include|insteadof|proxy|sslverify|safe\.directory|"
        r"allow",
        name,
    ):
        if re.search(r"(?i)hookspath|templatedir", name):
            _hooks(call, call.path(given) + ("/hooks" if "emplate" in name else ""))
        return
    call.shell.copy().script(given.lstrip("!"))


def _hooks(call: Call, folder: str) -> None:
    """From now on files in this folder are hooks; so are those written before."""
    call.scene.hook_dirs.append(folder)
    for path, text in list(call.scene.files.items()):
        if path.startswith(folder + "/") and harmful(call.shell, text):
            call.block("hook.write", f"makes git run the harmful {shown(path)}")


def _runs(call: Call, text: str, what: str) -> None:
    call.doubt("git.runs", f"runs `{shown(text, 50)}` through {what}")
    if not unknown(text):
        call.script(text)
        call.wrapper = False


_FETCHING = ("clone", "fetch", "ls-remote", "pull", "push", "fetch-pack", "send-pack", "archive")


def _sub_options(call: Call, sub: str, rest: list[str], options: Options) -> None:
    """Options many subcommands share: files they write, programs they run."""
    outputs = options.all("--output")
    if sub in ("format-patch", "archive", "bundle"):
        outputs += [name for name in options.all("-o") if call.zone(name) not in _OWN]
    for name in outputs:
        call.write(name, FILE)
    if sub in _FETCHING:
        for text in options.all("--upload-pack", "--receive-pack", "-u", "--exec"):
            if " " in text or "/" in text or sub == "clone":
                _runs(call, text, "--upload-pack")
    for word in rest:
        if re.match(r"(?:ext|fd)::", word):
            _runs(call, word[5:], "an ext:: address")


def _sub(call: Call, sub: str, rest: list[str]) -> None:
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
    if sub == "ls-files" or "--name-only" in rest:
        call.out = "./" + DEEP + "\n"
    special = _SUBS.get(sub)
    if special is not None:
        special(call, options, rest)
    elif sub not in _SAFE and sub + "_" not in _SAFE:
        call.ask("git.unknown", f"uses the git command {shown(sub)}, which may be an alias")
    if sub in ("grep",) and any(word.startswith(("-O", "--open-files-in-pager")) for word in rest):
        text = next(word for word in rest if word.startswith(("-O", "--open-files-in-pager")))
        _runs(call, re.sub(r"\A(?:-O|--open-files-in-pager=?)", "", text), "its pager")


def _push(call: Call, options: Options, rest: list[str]) -> None:
    options = read_options(rest, "-o --push-option --receive-pack --exec --repo")
    if options.has("-n", "--dry-run"):
        return
    words = options.rest
    remote = words[0] if words else (options.get("--repo") or "")
    specs = words[1:]
    call.network.append(shown(remote or "origin"))
    call.remote = "pushes to " + shown(remote or "the remote")
    force = options.has("-f", "--force", "--mirror") or any(
        flag.startswith(("--force-with-lease", "--force-if-includes")) for flag in options.flags
    )
    delete = options.has("-d", "--delete")
    if (
        re.search(r"://|@[\w.-]+:", remote)
        and not re.search(r"github\.com|gitlab\.com|bitbucket\.org|codeberg\.org", remote)
    ) or (remote or "origin") in call.shell.aliases.get(" git remotes", "").split():
        call.block("exfil.push", f"pushes the source to the foreign remote {shown(remote)}")
        return
    if options.has("--mirror", "--prune"):
        call.breaker(
            "git.push-mirror", "makes the remote a mirror: branches that are not here vanish"
        )
        return
    branches = []
    for spec in specs:
        plus = spec.startswith("+")
        source, colon, target = spec.lstrip("+").partition(":")
        name = target if colon else source
        gone = delete or (colon and not source)
        if (gone or plus or force) and _DEFAULTS.match(name):
            call.breaker(
                "git.push-default",
                f"{'deletes' if gone else 'rewrites'} the remote branch {shown(name)}",
                "Push to a branch of your own and open a pull request.",
            )
        elif gone or plus or force:
            branches.append(name)
    if (force and options.has("--all", "--branches", "--tags", "--follow-tags")) or (
        force and any("*" in s or "\ue010" in s for s in specs)
    ):
        call.breaker("git.push-default", "rewrites every branch or tag on the remote")
    elif delete and options.has("--tags"):
        call.block("git.push-delete", "deletes tags on the remote")
    elif branches:
        call.ask(
            "git.push-force", f"rewrites or deletes {shown(', '.join(branches))} on the remote"
        )
    else:
        call.ask("git.push", "changes the remote repository")


def _reset(call: Call, options: Options, rest: list[str]) -> None:
    if options.has("--hard", "--merge", "--keep"):
        call.ask("git.loses-work", "loses uncommitted work", "Commit or stash first.")


def _checkout(call: Call, options: Options, rest: list[str]) -> None:
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


def _switch(call: Call, options: Options, rest: list[str]) -> None:
    if options.has("-f", "--force", "--discard-changes", "-C"):
        call.ask("git.loses-work", "loses uncommitted work")


def _restore(call: Call, options: Options, rest: list[str]) -> None:
    if options.has("--staged", "-S") and not options.has("--worktree", "-W"):
        return
    call.ask("git.loses-work", "loses uncommitted work", "Commit or stash first.")


def _clean(call: Call, options: Options, rest: list[str]) -> None:
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
    if read.has("-f", "--force"):
        call.ask("git.clean", "deletes files git does not know", "Use `git clean -n` first.")


def _stash(call: Call, options: Options, rest: list[str]) -> None:
    if rest[:1] and rest[0] in ("clear", "drop"):
        call.ask("git.loses-work", "loses stashed work")


def _branch(call: Call, options: Options, rest: list[str]) -> None:
    if (
        options.has("-D")
        or (options.has("-d", "--delete") and options.has("-f", "--force"))
        or options.has("-M", "-C")
    ):
        call.ask("git.branch-delete", "deletes a branch that may not be merged")
    elif options.has("-d", "--delete"):
        call.ask("git.branch-delete", "deletes a branch")
    elif options.has("-f", "--force"):
        call.ask("git.branch-move", "moves a branch")
    if options.has("--edit-description"):
        call.ask("shell.interactive", "opens an editor")


def _tag(call: Call, options: Options, rest: list[str]) -> None:
    if options.has("-d", "--delete"):
        call.ask("git.tag-delete", "deletes a tag")
    elif options.has("-f", "--force"):
        call.ask("git.tag-move", "moves a tag")


def _config(call: Call, options: Options, rest: list[str]) -> None:
    words = [word for word in options.rest if word not in ("set", "--")]
    if (words[:1] and words[0] in ("get", "list", "get-regexp", "unset", "edit")) or (
        options.has("--get", "-l", "--list", "--get-all", "--get-regexp", "--show-origin")
        and len(words) < 2
    ):
        if options.has("-e", "--edit"):
            call.ask("shell.interactive", "opens an editor")
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
        _setting(call, name, lasting=True, value=value)
        if options.has("--system"):
            call.block("git.system", "changes git's settings for every user")
        elif far and call.scene.worst is before:
            call.doubt("git.global", "changes the user's own git settings") if not re.match(
                r"user\.(?:name|email)", name
            ) else call.ask("git.global", "changes the user's own git settings")
    elif far and options.has("--unset", "--unset-all", "--remove-section"):
        call.ask("git.global", "changes the user's own git settings")


def _clone(call: Call, options: Options, rest: list[str]) -> None:
    for text in options.all("-c", "--config"):
        _setting(call, text, lasting=True)
    if options.get("--template"):
        call.doubt("git.template", "takes hooks from a template")
    words = [w for w in options.rest]
    for word in words[:1]:
        if re.search(r"://|@[\w.-]+:", word) and not word.startswith("file:"):
            from steersman.governance.guard.programs.network import host_of

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


def _submodule(call: Call, options: Options, rest: list[str]) -> None:
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


def _rebase(call: Call, options: Options, rest: list[str]) -> None:
    read = read_options(rest, "-x --exec -s -X --onto --strategy")
    for text in read.all("-x", "--exec"):
        _runs(call, text, "--exec")
    if read.has("-i", "--interactive", "--root"):
        call.ask("git.rewrite", "rewrites history")


def _bisect(call: Call, options: Options, rest: list[str]) -> None:
    if rest[:1] == ["run"]:
        call.run(rest[1:], None)
        call.wrapper = False
    elif rest[:1] == ["reset"]:
        call.allow()


def _difftool(call: Call, options: Options, rest: list[str]) -> None:
    for text in read_options(rest, "-x --extcmd -t --tool").all("-x", "--extcmd"):
        _runs(call, text, "--extcmd")


def _filter(call: Call, options: Options, rest: list[str]) -> None:
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


def _reflog(call: Call, options: Options, rest: list[str]) -> None:
    if rest[:1] and rest[0] in ("expire", "delete"):
        call.ask("git.unrecoverable", "makes lost commits unrecoverable")


def _gc(call: Call, options: Options, rest: list[str]) -> None:
    if any(word.startswith("--prune=") and word != "--prune=never" for word in rest) or options.has(
        "--prune", "--aggressive"
    ):
        call.ask("git.unrecoverable", "makes lost commits unrecoverable")


def _worktree(call: Call, options: Options, rest: list[str]) -> None:
    if rest[:1] == ["remove"] and options.has("-f", "--force"):
        call.ask("git.loses-work", "removes a work tree with its changes")
    elif rest[:1] == ["add"]:
        words = [w for w in read_options(rest[1:], "-b -B --reason").rest]
        if words and call.zone(words[0]) not in (Zone.INSIDE, Zone.TEMP):
            call.ask(
                "fs.write-outside", f"makes a work tree outside the workspace: {shown(words[0])}"
            )


def _remote(call: Call, options: Options, rest: list[str]) -> None:
    words = [w for w in options.rest]
    if words[:1] and words[0] in ("add", "set-url") and len(words) > 2:
        if not re.search(r"github\.com|gitlab\.com|bitbucket\.org|codeberg\.org", words[2]):
            call.shell.aliases[" git remotes"] = (
                call.shell.aliases.get(" git remotes", "") + " " + words[1]
            )
        call.ask("git.remote", "changes where git pushes to")
    elif words[:1] and words[0] in ("remove", "rm", "rename", "prune"):
        call.ask("git.remote", "changes the list of remotes")


def _rm(call: Call, options: Options, rest: list[str]) -> None:
    if options.has("--cached", "-n", "--dry-run"):
        return
    for word in options.rest:
        if call.zone(word) is Zone.WORKSPACE and options.has("-r"):
            call.ask("fs.workspace", "removes the whole work tree")
        elif options.has("-f", "--force"):
            call.ask("git.loses-work", "removes files with uncommitted work")


def _update_ref(call: Call, options: Options, rest: list[str]) -> None:
    call.ask("git.rewrite", "changes git's references directly")


def _apply(call: Call, options: Options, rest: list[str]) -> None:
    if options.has("--unsafe-paths"):
        call.doubt("fs.write-outside", "may write outside the work tree")
    if call.stdin and NET in call.stdin:
        call.ask("net.apply", "applies a patch fetched from the network")


def _fetch(call: Call, options: Options, rest: list[str]) -> None:
    call.network.append(shown(options.rest[0]) if options.rest else "origin")
    if any(
        word.startswith("+") or (":" in word and "://" not in word and "@" not in word)
        for word in options.rest[1:]
    ) and options.has("-f", "--force"):
        call.ask("git.rewrite", "overwrites local branches")


def _commit(call: Call, options: Options, rest: list[str]) -> None:
    if options.has("--no-verify", "-n"):
        call.ask("git.no-verify", "skips the project's hooks", "Let the hooks run.")


def _log(call: Call, options: Options, rest: list[str]) -> None:
    call.out = OUT


def _symbolic(call: Call, options: Options, rest: list[str]) -> None:
    if len(options.rest) > 1 or options.has("-d", "--delete"):
        call.ask("git.rewrite", "changes git's references directly")


def _send_email(call: Call, options: Options, rest: list[str]) -> None:
    if not options.has("--dry-run"):
        call.ask("net.send", "sends mail")


def _replace(call: Call, options: Options, rest: list[str]) -> None:
    call.ask("git.rewrite", "rewrites history")


def _credential(call: Call, options: Options, rest: list[str]) -> None:
    if rest[:1] == ["fill"]:
        call.block("secrets.print", "prints a stored password")
    else:
        call.ask("secrets.change", "changes stored passwords")


def _lfs(call: Call, options: Options, rest: list[str]) -> None:
    if rest[:1] and rest[0] in ("install", "push", "prune", "migrate"):
        call.ask("git.lfs", "changes hooks, history or the remote")


def _bundle(call: Call, options: Options, rest: list[str]) -> None:
    if rest[:1] == ["create"]:
        for word in options.rest[1:2]:
            if word != "-":
                call.write(word, FILE)


def _init(call: Call, options: Options, rest: list[str]) -> None:
    if options.get("--template"):
        call.doubt("git.template", "takes hooks from a template")
    for word in [*options.rest[:1], *options.all("--separate-git-dir")]:
        if call.zone(word) not in (*_OWN, Zone.WORKSPACE):
            call.write(word + "/config", FILE)


def _checkout_index(call: Call, options: Options, rest: list[str]) -> None:
    for word in rest:
        if word.startswith("--prefix=") and call.zone(word[9:]) not in _OWN:
            call.write(word[9:] + "/file", FILE)


_SUBS = {
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
}

HANDLERS = {"git": git}
