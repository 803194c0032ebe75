"""Programs that make one tree like another, here or elsewhere."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import FILE, SECRET, shown
from steersman.governance.guard.options import Options
from steersman.governance.guard.paths import OWN, Zone
from steersman.governance.guard.places import holds_secrets
from steersman.governance.guard.programs.file_lists import leaking, listed_in
from steersman.governance.guard.programs.serving import serve


def rsync(call: ProgramCall) -> None:
    """`rsync`: from here to there, with deletion or a remote shell."""
    valued = (
        "-e -f -T -B --rsh --rsync-path --exclude --include --filter --files-from "
        "--exclude-from --include-from --log-file "
        "--password-file --port --bwlimit --backup-dir --suffix --link-dest --compare-dest "
        "--copy-dest --partial-dir --chmod --chown --max-size --temp-dir --timeout"
    )
    options = call.options(valued)
    _rsync_runs(call, options)
    if options.has("-n", "--dry-run", "--list-only"):
        return
    words = options.rest
    if not words:
        return
    target, sources = words[-1], words[:-1]
    deletes = any(flag.startswith("--delete") or flag in ("--del",) for flag in options.flags)
    leaks = any(
        not _remote(word)
        and (holds_secrets(call.path(word), call.place) or call.zone(word) in (Zone.HOME,))
        for word in sources
    )
    from_lists = listed_in(call, *options.all("--files-from"))
    for word in sources:
        leaks = leaks or (not _remote(word) and _below(call, word, from_lists))
        if _remote(word):
            call.network.append(_host(word))
            call.ask("remote.copy", f"copies files from {_host(word)}")
        elif options.has("--remove-source-files") and call.zone(word) not in OWN:
            call.delete(word)
    if _remote(target):
        _rsync_out(call, _host(target), leaks, deletes)
        return
    if leaks and not call.path(target).startswith(call.place.home):
        call.doubt("secrets.copy", "copies a home folder with its credentials")
    _rsync_in(call, target, deletes)


def _below(call: ProgramCall, folder: str, names: list[str]) -> bool:
    """True when there are credentials among the files that a list names below a folder."""
    return leaking(call, [name.lstrip("/") for name in names], folder)


def _rsync_runs(call: ProgramCall, options: Options) -> None:
    plain = re.compile(r"(?:/usr/bin/)?ssh\b(?!.*ProxyCommand)")
    texts = [text for text in options.all("-e", "--rsh") if not plain.match(text)]
    for text in texts + options.all("--rsync-path"):
        call.doubt("flag.run", f"runs `{shown(text, 50)}` as its transport")
        call.script(text)
        call.wrapper = False


def _rsync_out(call: ProgramCall, host: str, leaks: bool, deletes: bool) -> None:
    call.network.append(host)
    call.remote = f"copies files to {host}"
    if leaks:
        call.block("exfil.copy", f"copies credentials to {host}")
    elif deletes:
        call.block("remote.delete", f"deletes files on {host} that are not here")
    else:
        call.ask("remote.copy", f"copies files to {host}")


def _rsync_in(call: ProgramCall, target: str, deletes: bool) -> None:
    where = call.zone(target)
    name = shown(call.path(target))
    if deletes and where is Zone.WORKSPACE:
        call.doubt("fs.workspace", "deletes files in the workspace that are not in the source")
    elif deletes and where is Zone.UNKNOWN:
        call.doubt("fs.delete-outside", f"deletes files below {name}")
    elif deletes and where in (Zone.OUTSIDE, Zone.HOME_CHILD, Zone.CACHE):
        call.block("fs.delete-outside", f"deletes files below {name}")
    elif deletes and where not in OWN:
        call.delete(target)
    call.write(target.rstrip("/") + "/copied" if where not in OWN else target, FILE)


def _remote(word: str) -> bool:
    return (
        re.match(r"(?:[\w.-]+@)?[\w.-]+::?|rsync://|[\w.-]+@", word) is not None
        and not word.startswith(("/", "."))
        and ":" in word
    )


def _host(word: str) -> str:
    word = word.removeprefix("rsync://")
    return re.split(r"[:/]", word.rsplit("@", 1)[-1])[0]


def unison(call: ProgramCall) -> None:
    """`unison A B`: two trees made equal; `-force` lets one side win over the other."""
    options = call.options(
        "-force -prefer -path -ignore -root -servercmd -sshcmd -sshargs -copyprog -diff -merge "
        "-logfile -backupdir",
        single=True,
    )
    for text in options.all("-servercmd", "-sshcmd", "-copyprog", "-diff", "-merge"):
        call.doubt("flag.run", f"runs `{shown(text, 50)}`")
        call.script(text)
        call.wrapper = False
    roots = options.rest + options.all("-root")
    far = [word for word in roots if "://" in word]
    call.network += [_host(word.split("://", 1)[-1]) for word in far]
    if any(holds_secrets(call.path(word), call.place) for word in roots if word not in far):
        call.block("exfil.copy", "copies credentials to another place")
    elif far and options.has("-force", "-prefer"):
        call.block("remote.delete", "replaces a tree on another machine")
    else:
        call.ask("remote.copy", "makes two trees equal")


def rclone(call: ProgramCall) -> None:
    """`rclone`: copies and mirrors to remotes."""
    options = call.options(
        "--config --filter --include --exclude --transfers --max-age --min-age --bwlimit "
        "--files-from --files-from-raw --include-from --exclude-from --filter-from"
    )
    if options.has("-n", "--dry-run"):
        return
    sub, words = (options.rest[0], options.rest[1:]) if options.rest else ("", [])
    target = words[-1] if words else ""
    far = [word for word in words if _remote(word)]
    if sub in (
        "sync",
        "bisync",
        "purge",
        "delete",
        "deletefile",
        "rmdirs",
        "rmdir",
        "cleanup",
        "dedupe",
    ):
        for word in far:
            call.network.append(_host(word))
        if far and (
            sub in ("purge", "delete", "rmdirs", "deletefile", "dedupe") or _remote(target)
        ):
            call.block("remote.delete", f"deletes objects at {shown(target)}")
        elif sub in ("purge", "delete", "sync") and target and not far:
            call.delete(target)
        else:
            call.ask("remote.copy", "moves data to or from a remote")
    elif sub == "serve" and not far:
        serve(call, "rclone", call.args)
    elif sub in ("copy", "copyto", "move", "moveto", "rcat", "mkdir", "serve", "mount"):
        leaks = any(
            not _remote(word) and holds_secrets(call.path(word), call.place) for word in words
        )
        from_lists = listed_in(call, *options.all("--files-from", "--files-from-raw"))
        leaks = leaks or any(
            _below(call, word, from_lists) for word in words[:1] if not _remote(word)
        )
        leaks = leaks or bool(call.stdin and SECRET in call.stdin)
        if leaks:
            call.block("exfil.copy", "copies credentials to a remote")
        else:
            call.ask("remote.copy", "copies data to or from a remote")
    elif sub == "config" and words[:1] and words[0] in ("show", "dump"):
        call.block("secrets.read", "prints stored credentials")
    elif sub not in (
        "ls",
        "lsd",
        "lsl",
        "lsf",
        "lsjson",
        "size",
        "check",
        "about",
        "version",
        "tree",
        "listremotes",
        "help",
        "cat",
        "md5sum",
    ):
        call.ask("remote.copy", "uses a remote")
