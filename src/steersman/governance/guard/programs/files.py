"""Programs that delete, move, copy and write files, and rights on them."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.links import link_all
from steersman.governance.guard.marks import FILE, OUT, SECRET, STAR, globbed, shown, unknown
from steersman.governance.guard.options import read_options
from steersman.governance.guard.paths import FOLDERS, Zone
from steersman.governance.guard.places import secret, special

_FAR = (Zone.ROOT, Zone.TOP, Zone.SYSTEM)


_WIDE = (Zone.ROOT, Zone.TOP, Zone.SYSTEM, Zone.HOME, Zone.ABOVE)


def remove(call: ProgramCall) -> None:
    """`rm`, `rmdir`, `unlink`, `shred`, `trash`."""
    options = call.options(
        "-n -s --iterations --size --interactive" if call.name == "shred" else ""
    )
    call.out = ""
    if options.has("--version", "--help") and not options.rest:
        return
    if call.name in ("shred", "wipe") and not options.has("-u", "--remove"):
        for word in options.rest:
            where = call.zone(word)
            if where is Zone.INSIDE or where is Zone.TEMP:
                continue
            call.delete(word, recursive=True)
        return
    recursive = options.has("-r", "-R", "--recursive", "-d") or call.name in (
        "rmdir",
        "srm",
        "rimraf",
        "trash",
        "del-cli",
        "wipe",
        "shred",
        "gio",
        "trash-put",
    )
    operands = [word for word in options.rest if word != "trash"]
    for word in operands:
        if call.name == "shred":
            call.delete(
                word,
                recursive="\ue010" in word
                or "\ue013" in word
                or call.zone(word) is not Zone.OUTSIDE,
            )
        else:
            call.delete(word, recursive=recursive)


def move(call: ProgramCall) -> None:
    """`mv`: what goes away, and where to."""
    options = call.options("-t -S --target-directory --suffix")
    target = options.get("-t", "--target-directory")
    sources = options.rest if target else options.rest[:-1]
    target = target or (options.rest[-1] if options.rest else "")
    call.out = ""
    gone = target == "/dev/null"
    for word in sources:
        where = call.zone(word)
        kind = special(call.path(word), call.place)
        if call.path(word) == call.place.workspace + "/.git":
            call.scene.files[".git moved"] = ""
            call.doubt("git.internals", "moves the repository's .git away")
        if gone or where in (Zone.ROOT, Zone.TOP, Zone.HOME, Zone.ABOVE, Zone.DEVICE, Zone.SYSTEM):
            call.delete(word, recursive=True)
            if gone and where in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMP):
                call.doubt("fs.delete", "moves files into nothing")
        elif where in (Zone.OUTSIDE, Zone.HOME_CHILD, Zone.CACHE):
            if kind:
                call.block("fs.move-special", f"moves {shown(call.path(word))} away")
            else:
                call.doubt("fs.move-outside", "moves something from outside the workspace")
        elif where is Zone.WORKSPACE:
            call.doubt("fs.workspace", "moves the whole workspace")
        if secret(call.path(word), call.place) and where is not Zone.INSIDE:
            call.block("secrets.read", f"moves credentials: {shown(call.path(word))}")
        call.deletes.append(call.name_path(call.path(word)))
    if target and not gone:
        _into(call, sources, target)


def copy(call: ProgramCall) -> None:
    """`cp`, `install`, `ln`: content appears at another place."""
    options = call.options("-t -S -m -o -g --target-directory --suffix --mode --owner --group")
    target = options.get("-t", "--target-directory")
    sources = options.rest if target else options.rest[:-1]
    if call.name == "ln" and len(options.rest) == 1 and not target:
        sources, target = options.rest, options.rest[0].rsplit("/", 1)[-1]
    target = target or (options.rest[-1] if options.rest else "")
    call.out = ""
    if call.name in ("install", "ginstall") and options.has("-d", "--directory"):
        for word in options.rest:
            call.write(word)
        return
    for word in sources:
        call.read(word, quiet=True)
        path = call.path(word)
        if secret(path, call.place):
            inside = path.startswith(call.place.workspace + "/")
            if not inside:
                call.scene.note(
                    2,
                    "secrets.copy",
                    f"`{shown(' '.join(call.words), 80)}` copies credentials from {shown(path)}.",
                    "Leave credentials where they are.",
                )
    if target and target != "/dev/null":
        mode = options.get("-m", "--mode") or ""
        if re.fullmatch(r"[24567]\d{3}|.*[ugo]*\+?s.*", mode):
            call.block("perms.setuid", "installs a program that runs with other rights")
        if call.name == "ln":
            call.scene.links.pop(call.path(target, last=False), None)
        _into(call, sources, target)
        symbolic = options.has("-s", "--symbolic", "--symbolic-link") or call.name == "symlink"
        if symbolic or call.name in ("ln", "link") or options.has("-l", "--link"):
            link_all(
                call, sources, target, symbolic=symbolic and not options.has("-r", "--relative")
            )


def _into(call: ProgramCall, sources: list[str], target: str) -> None:
    """Write the copies; content is known when this line wrote the sources."""
    whole = "".join(
        SECRET
        if secret(call.path(word), call.place)
        else (call.content(word) if call.content(word) is not None else FILE) or ""
        for word in sources
    )
    where = call.zone(target)
    name = (
        target.rstrip("/") + "/" + sources[0].rstrip("/").rsplit("/", 1)[-1] if sources else target
    )
    folder = target.endswith("/") or len(sources) > 1 or where in FOLDERS
    if where is Zone.DEVICE or not folder:
        call.write(target, whole)
    if folder or where in _FAR:
        call.write(name, whole)
    if call.name == "ln" and sources and call.zone(sources[0]) is Zone.DEVICE:
        call.doubt("disk.link", "links to a raw device")
    if call.content(target) is not None and not folder:
        call.scene.files[call.path(name)] = whole


def touch(call: ProgramCall) -> None:
    """`touch`, `mkdir`, `mkfifo`: new, empty things."""
    options = call.options("-m -t -d -r --mode --date --reference -Z")
    call.out = ""
    for word in options.rest:
        call.write(word, OUT if call.name == "mkfifo" else "", append=True)


def tee(call: ProgramCall) -> None:
    """`tee`: standard input to files and on."""
    options = call.options()
    text = call.stdin if call.stdin is not None else OUT
    for word in options.rest:
        call.write(word, text, append=options.has("-a", "--append"))
    call.out = text


def truncate(call: ProgramCall) -> None:
    """`truncate`, `fallocate`: the size of a file."""
    options = call.options("-s -r -o -l -n --size --length --offset --reference")
    size = options.get("-s", "-l", "--size", "--length") or ""
    if re.search(r"(?i)\d+\s*[TPEZ]|\d{3,}\s*G|\d{13,}", size):
        call.breaker("exhaust.disk", f"fills the disk with {size}")
    for word in options.rest:
        call.write(word, "")
    call.out = ""


def dd(call: ProgramCall) -> None:
    """`dd if= of=`."""
    call.out = call.stdin if call.stdin is not None else OUT
    target = None
    sizes = {}
    for word in call.args:
        key, _, value = word.partition("=")
        if key == "if":
            call.read(value)
        elif key == "of":
            target = value
        else:
            sizes[key] = value
    if "count" in sizes and "\ue007" in call.out:
        call.out = OUT
    if target is not None:
        call.write(target, call.out, append="append" in sizes.get("oflag", ""))
        if "\ue007" in call.out and "count" not in sizes:
            call.doubt("exhaust.disk", "writes endlessly")


def mode(call: ProgramCall) -> None:
    """`chmod`, `chown`, `chgrp`, `chattr`, `setfacl`, `setcap`: rights."""
    args = list(call.args)
    minus = next(
        (n for n, word in enumerate(args) if re.fullmatch(r"-[rwxXstugo]+(?:,.*)?", word)), None
    )
    if call.name in ("chmod", "gchmod") and minus is not None:
        args[minus] = "a" + args[minus]
        args.insert(0, args.pop(minus))
    options = read_options(args, "--reference --from" + (" -m -x -M -X" * (call.name == "setfacl")))
    words = options.rest
    if call.name in ("setfacl",):
        targets, what = words, " ".join(options.all("-m", "-M"))
    elif options.has("--reference"):
        targets, what = words, ""
    else:
        targets, what = words[1:], words[0] if words else ""
        if call.name == "chattr" and words[:1] and not words[0].startswith(("+", "-", "=")):
            targets = words
    call.out = ""
    recursive = options.has("-R", "--recursive", "-hR", "-Rf")
    _rights(call, targets, what, recursive)


def _rights(call: ProgramCall, targets: list[str], what: str, recursive: bool) -> None:
    setuid = call.name == "chmod" and re.search(r"(?:\A|,)[ugoa]*[+=]\w*s|\A0?[2467]\d{3}\Z", what)
    world = call.name == "chmod" and re.search(
        r"\A0?[0-7]?[0-7]{2}[2367]\Z|(?:\A|,)[go]*[oa]?[go]*\+\w*w|\A\+?a\+w", what
    )
    for word in targets:
        path = call.path(word)
        where = call.zone(word)
        name = shown(path)
        call.writes.append(call.name_path(path))
        if call.name == "setcap" or setuid:
            if where in (Zone.INSIDE, Zone.TEMP, Zone.WORKSPACE) and not call.shell.root:
                call.doubt("perms.setuid", f"gives {name} the rights of another user")
            else:
                call.block("perms.setuid", f"gives {name} the rights of another user")
        elif where in (*_WIDE, Zone.DEVICE, Zone.UNSET):
            level = (
                call.breaker
                if recursive and where in (Zone.ROOT, Zone.TOP, Zone.HOME)
                else call.block
            )
            level("perms.system", f"changes the rights of {where.value}: {name}")
        elif where in (Zone.OUTSIDE, Zone.HOME_CHILD, Zone.CACHE):
            _rights_outside(call, path, what)
        elif special(path, call.place) == "hook":
            call.doubt("hook.activate", f"makes the hook {name} run")
        elif world and (recursive or what.endswith("777")):
            call.doubt("perms.world", f"makes {name} writable for everyone")
        elif where is Zone.UNKNOWN and unknown(path):
            call.doubt("perms.unknown", "changes rights on a path that is not known")


def _rights_outside(call: ProgramCall, path: str, what: str) -> None:
    """Rights on something of the user's; taking rights from others is harmless."""
    stricter = call.name == "chmod" and re.fullmatch(r"0?[67]00|go?-\w+|go=|u=\w+,go=", what)
    kind = special(path, call.place)
    if not stricter and (secret(path, call.place) or kind in ("access", "startup")):
        call.block("perms.secrets", f"changes the rights of credentials: {shown(path)}")
    else:
        call.doubt("perms.outside", f"changes rights outside the workspace: {shown(path)}")


def look(call: ProgramCall) -> None:
    """`ls`, `stat`, `file`, `du`: things about files, not their content."""
    words = [word for word in call.args if not word.startswith("-")]
    for word in words:
        call.saw(word)
    call.out = OUT
    if call.name in ("ls", "dir", "gls", "tree", "exa", "eza", "lsd"):
        folders = words or ["."]
        itself = globbed(folders[0]) or any(re.match(r"-\w*d", word) for word in call.args)
        if itself and call.name != "tree":
            call.out = "\n".join(words) + "\n"
            return
        call.out = "".join(_listed(call, folder) for folder in folders)


def _listed(call: ProgramCall, folder: str) -> str:
    """What a listing of a folder prints; names elsewhere are given with their folder."""
    if call.zone(folder) in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMP):
        return f"{STAR}\n"
    return f"{call.path(folder).rstrip('/')}/{STAR}\n"
