"""Programs that walk trees of files: find, fd, tar, archives, rsync and the like."""

import re

from steersman.governance.guard.call import Call
from steersman.governance.guard.marks import DEEP, FILE, NET, OUT, SECRET, STAR, live, shown
from steersman.governance.guard.options import Options, listed, read_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import holds_secrets

_OWN = (Zone.INSIDE, Zone.TEMP, Zone.WORKSPACE)
_TESTS = listed(
    "-name -iname -path -ipath -regex -iregex -mtime -atime -ctime -size -newer "
    "-empty -user -group -perm -type -mmin -links -inum -wholename"
)


_LITTER = re.compile(
    r"(?i).*(?:tmp|temp|bak|pyc|pyo|swp|swo|ds_store|thumbs|orig|rej|cache|node_modules|"
    r"~|\.log)\W*\Z"
)


def find(call: Call) -> None:
    """`find ROOT… TESTS ACTIONS`."""
    args = list(call.args)
    while args and args[0] in ("-H", "-L", "-P", "-O3", "-O2", "-O1"):
        args.pop(0)
    roots = []
    while args and not args[0].startswith(("-", "(", "!")) and args[0] not in ("\\(", "\\!"):
        roots.append(args.pop(0))
    roots = roots or ["."]
    names = [
        args[n + 1]
        for n, word in enumerate(args[:-1])
        if word in ("-name", "-iname", "-path", "-wholename")
    ]
    negated = any(word in ("!", "-not") for word in args)
    names = [] if negated else [name for name in names if name not in ("*", ".*", "*.*")]
    narrow = bool(names) or any(
        word in _TESTS
        for word in args
        if word not in ("-type", "-name", "-iname", "-path", "-wholename")
    )
    narrow = narrow and not negated
    if any(name.rstrip("/").endswith(".git") for name in names) and re.search(
        r"-delete|\brm\b", " ".join(args)
    ):
        call.doubt("fs.workspace", "deletes repositories")
    litter = bool(names) and all(_LITTER.match(name) for name in names)
    made = [_found(root, names) for root in roots]
    call.out = "\n".join(made) + "\n"
    for word in roots:
        call.reads.append(shown(call.path(word)))
    if litter:
        roots = [
            root + "/FOUND" if call.zone(root) in (Zone.HOME, Zone.ABOVE) else root
            for root in roots
        ]
    _actions(call, args, roots, made, narrow)


def _found(root: str, names: list[str]) -> str:
    tail = live(names[-1]) if names and "/" not in names[-1] else ""
    return root.rstrip("/") + "/" + DEEP + ("/" + tail if tail and root.rstrip("/") != "" else tail)


def _actions(call: Call, args: list[str], roots: list[str], made: list[str], narrow: bool) -> None:
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
        elif word in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next(
                (
                    n
                    for n in range(at, len(args))
                    if args[n] in (";", "\\;") or (args[n] == "+" and args[n - 1] == "{}")
                ),
                len(args),
            )
            _exec(call, args[at:end], roots, narrow)
            at = end + 1
        elif word in ("-fprint", "-fprint0", "-fls", "-fprintf"):
            text = args[at + 1] if word == "-fprintf" and at + 1 < len(args) else FILE
            if at < len(args):
                call.write(args[at], text)
            at += 2 if word == "-fprintf" else 1


def _exec(call: Call, words: list[str], roots: list[str], narrow: bool) -> None:
    if not words:
        return
    name = words[0].rsplit("/", 1)[-1]
    if name in ("rm", "rmdir", "unlink", "shred", "srm", "trash") and "{}" in words:
        for root in roots:
            where = call.zone(root)
            if where in (Zone.WORKSPACE,) and not narrow:
                call.doubt("fs.workspace", "deletes everything in the workspace")
            call.delete(root, recursive=True, narrow=narrow)
        call.scene.plain = False
        return
    for root in roots[:4]:
        where = call.zone(root)
        item = root if where not in _OWN else root.rstrip("/") + "/FOUND"
        if where not in _OWN and narrow:
            item = root.rstrip("/") + "/" + DEEP
        call.run([word.replace("{}", item) for word in words], None)
    call.wrapper = False


def locate(call: Call) -> None:
    """`locate`, `mdfind`: paths anywhere with a name."""
    names = [word for word in call.args if not word.startswith("-")]
    call.out = "\n".join(f"/{DEEP}/{live(name)}" for name in names) + "\n"


def fd(call: Call) -> None:
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
    call.out = "\n".join(_found(root, []) for root in roots) + "\n"
    if at is None:
        return
    words = args[at + 1 :]
    if words and words[-1] == ";":
        words = words[:-1]
    if not any("{" in word for word in words):
        words = [*words, "{}"]
    _exec(call, words, roots, narrow)


def tar(call: Call) -> None:
    """`tar`: what it unpacks, where, and options that run commands."""
    args = list(call.args)
    if args and not args[0].startswith("-") and re.fullmatch(r"[a-zA-Z]+", args[0]):
        args[0] = "-" + args[0]
    valued = (
        "-f -C -I -F -T -X -b -g -K -L -N -V -H --file --directory --use-compress-program "
        "--to-command "
        "--checkpoint-action --checkpoint --info-script --new-volume-script --rsh-command "
        "--rmt-command "
        "--exclude --transform --owner --group --mode --strip-components --files-from "
        "--one-top-level"
    )
    options = read_options(args, valued)
    _tar_runs(call, options)
    folder = options.get("-C", "--directory", "--one-top-level")
    mode = "".join(flag[1:] for flag in options.flags if not flag.startswith("--"))
    archive = options.get("-f", "--file") or "-"
    if "x" in mode or options.has("--extract", "--get"):
        _unpack(call, options, folder)
        return
    if "t" in mode or options.has("--list"):
        return
    if "c" in mode or "r" in mode or "u" in mode or options.has("--create", "--append"):
        _pack(call, options.rest, archive, folder)
        if options.has("--remove-files"):
            for word in options.rest:
                call.delete(word)


_PACKERS = listed("gzip pigz zstd bzip2 pbzip2 xz lz4 lzma pixz lzip zstdmt")
_TAR_RUNS = listed(
    """--to-command -I --use-compress-program -F --info-script --new-volume-script
        --rsh-command --rmt-command"""
)


def _tar_runs(call: Call, options: Options) -> None:
    texts = [text for text in options.all(*_TAR_RUNS) if text.split(" ")[0] not in _PACKERS]
    actions = options.all("--checkpoint-action")
    texts += [text[5:] for text in actions if text.startswith("exec=")]
    for text in texts:
        call.doubt("flag.run", f"runs `{shown(text, 50)}`")
        call.script(text)
    call.wrapper = False


def _unpack(call: Call, options: Options, folder: str | None) -> None:
    if options.has("-P", "--absolute-names"):
        call.doubt("fs.write-outside", "unpacks to absolute paths")
    if folder and call.zone(folder) not in _OWN:
        call.write(folder.rstrip("/") + "/unpacked", FILE)
    if call.stdin and NET in call.stdin:
        call.doubt("net.unpack", "unpacks a download nobody has seen")
    call.out = OUT


def _pack(call: Call, sources: list[str], archive: str, folder: str | None) -> None:
    leaks = False
    base = call.path(folder) if folder else call.shell.cwd
    for word in sources:
        path = word if word.startswith("/") else f"{base}/{word}"
        clean = call.path(path)
        call.reads.append(shown(clean))
        leaks = (
            leaks or holds_secrets(clean, call.place) or call.zone(clean) in (Zone.HOME, Zone.ROOT)
        )
    if archive not in {"-", "/dev/stdout"}:
        call.write(archive, SECRET if leaks else FILE)
        if leaks:
            call.doubt("secrets.copy", "packs credentials")
    call.out = SECRET if leaks else FILE


def zip_(call: Call) -> None:
    """`zip`, `7z`, `rar`: archives from files."""
    options = call.options("-x -i -P -b -t -n -TT -o -w --unzip-command", single=True)
    for text in options.all("-TT", "--unzip-command"):
        call.doubt("flag.run", f"runs `{shown(text, 50)}`")
        call.script(text)
        call.wrapper = False
    words = options.rest
    if call.name in ("7z", "7za", "7zr", "rar", "unrar"):
        _seven(
            call,
            words,
            options.has("-sdel") or "-df" in options.flags,
            [flag for flag in options.flags],
        )
        return
    if words:
        leaks = any(
            holds_secrets(call.path(word), call.place) or call.zone(word) is Zone.HOME
            for word in words[1:]
        )
        if words[0] != "-":
            call.write(words[0], SECRET if leaks else FILE)
        if leaks:
            call.doubt("secrets.copy", "packs credentials")
        call.out = SECRET if leaks else FILE
        if options.has("-m", "--move", "-rm", "-mr"):
            for word in words[1:]:
                call.delete(word)


def _seven(call: Call, words: list[str], deletes: bool, flags: list[str]) -> None:
    sub = words[0] if words else ""
    if sub in ("x", "e"):
        folder = next((flag[2:] for flag in flags if flag.startswith("-o")), None)
        if folder and call.zone(folder) not in _OWN:
            call.write(folder + "/unpacked", FILE)
    elif sub in ("a", "u", "m"):
        if len(words) > 1:
            call.write(words[1], FILE)
        if deletes or sub == "m":
            for word in words[2:]:
                call.delete(word)


def unzip(call: Call) -> None:
    """`unzip`, `gunzip` and the like."""
    options = call.options("-d -x -P -S --suffix -o")
    if options.has("-l", "-v", "-t", "-Z", "--list", "--test"):
        return
    folder = options.get("-d")
    if call.name in ("unzip", "bsdtar", "unar") and folder and call.zone(folder) not in _OWN:
        call.write(folder.rstrip("/") + "/unpacked", FILE)
    if call.name not in ("unzip", "unar"):
        for word in options.rest:
            call.read(word, quiet=True)
            if not options.has("-c", "--stdout", "-k", "--keep") and call.zone(word) not in _OWN:
                call.write(word, FILE)
        call.out = call.stdin if call.stdin is not None else call.out


def cpio(call: Call) -> None:
    """`cpio`, `pax`, `ar`: older archives."""
    options = call.options("-D -F -I -O -H --directory --file --rsh-command")
    for text in options.all("--rsh-command"):
        call.doubt("flag.run", "runs a helper")
        call.script(text)
    folder = options.get("-D", "--directory")
    if folder and call.zone(folder) not in _OWN:
        call.write(folder + "/unpacked", FILE)


def rsync(call: Call) -> None:
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
    for word in sources:
        if _remote(word):
            call.network.append(_host(word))
        elif options.has("--remove-source-files") and call.zone(word) not in _OWN:
            call.delete(word)
    if _remote(target):
        _rsync_out(call, _host(target), leaks, deletes)
        return
    if leaks and not call.path(target).startswith(call.place.home):
        call.doubt("secrets.copy", "copies a home folder with its credentials")
    _rsync_in(call, target, deletes)


def _rsync_runs(call: Call, options: Options) -> None:
    plain = re.compile(r"(?:/usr/bin/)?ssh\b(?!.*ProxyCommand)")
    texts = [text for text in options.all("-e", "--rsh") if not plain.match(text)]
    for text in texts + options.all("--rsync-path"):
        call.doubt("flag.run", f"runs `{shown(text, 50)}` as its transport")
        call.script(text)
        call.wrapper = False


def _rsync_out(call: Call, host: str, leaks: bool, deletes: bool) -> None:
    call.network.append(host)
    call.remote = f"copies files to {host}"
    if leaks:
        call.block("exfil.copy", f"copies credentials to {host}")
    elif deletes:
        call.block("remote.delete", f"deletes files on {host} that are not here")
    else:
        call.ask("remote.copy", f"copies files to {host}")


def _rsync_in(call: Call, target: str, deletes: bool) -> None:
    where = call.zone(target)
    name = shown(call.path(target))
    if deletes and where is Zone.WORKSPACE:
        call.doubt("fs.workspace", "deletes files in the workspace that are not in the source")
    elif deletes and where is Zone.UNKNOWN:
        call.doubt("fs.delete-outside", f"deletes files below {name}")
    elif deletes and where in (Zone.OUTSIDE, Zone.HOME_CHILD, Zone.CACHE):
        call.block("fs.delete-outside", f"deletes files below {name}")
    elif deletes and where not in _OWN:
        call.delete(target)
    call.write(target.rstrip("/") + "/copied" if where not in _OWN else target, FILE)


def _remote(word: str) -> bool:
    return (
        re.match(r"(?:[\w.-]+@)?[\w.-]+::?|rsync://|[\w.-]+@", word) is not None
        and not word.startswith(("/", "."))
        and ":" in word
    )


def _host(word: str) -> str:
    word = word.removeprefix("rsync://")
    return re.split(r"[:/]", word.rsplit("@", 1)[-1])[0]


def unison(call: Call) -> None:
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


def rclone(call: Call) -> None:
    """`rclone`: copies and mirrors to remotes."""
    options = call.options(
        "--config --filter --include --exclude --transfers --max-age --min-age --bwlimit"
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
    elif sub in ("copy", "copyto", "move", "moveto", "rcat", "mkdir", "serve", "mount"):
        leaks = any(
            not _remote(word) and holds_secrets(call.path(word), call.place) for word in words
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


HANDLERS = {
    **{name: find for name in listed("find gfind bfs")},
    **{name: fd for name in listed("fd fdfind")},
    **{name: tar for name in listed("tar gtar bsdtar")},
    **{name: zip_ for name in listed("zip 7z 7za 7zr rar unrar")},
    **{
        name: unzip
        for name in listed(
            "unzip unar gunzip gzip bzip2 bunzip2 xz unxz zstd unzstd lz4 pigz lzma "
            "compress uncompress brotli"
        )
    },
    **{name: cpio for name in listed("cpio pax ar")},
    **{name: locate for name in listed("locate plocate mlocate mdfind")},
    "rsync": rsync,
    "rclone": rclone,
    "unison": unison,
}
__all__ = ["HANDLERS", "STAR"]
