"""Archives: what is packed, where it is unpacked, and options that run commands."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import FILE, NET, OUT, SECRET, shown
from steersman.governance.guard.options import Options, listed, read_options
from steersman.governance.guard.paths import OWN
from steersman.governance.guard.programs.file_lists import leaking, listed_in

# Options by which the names in an archive lead out of the folder that it is unpacked to.
_ABSOLUTE = {
    "tar": "-P --absolute-names --absolute-paths",
    "cpio": "--absolute-filenames",
    "unzip": "-:",
    "7z": "-spf -spf2",
    "unrar": "-ep3",
}
_SAME = {"bsdtar": "tar", "gtar": "tar", "7za": "7z", "7zr": "7z", "7zz": "7z", "rar": "unrar"}


def _lands(call: ProgramCall, options: Options, folder: str | None) -> None:
    """Files are unpacked to a folder, by default the current one."""
    names = _ABSOLUTE.get(_SAME.get(call.name, call.name), "")
    if options.has(*names.split()):
        call.doubt("fs.write-outside", "unpacks to absolute paths")
    if call.zone(folder or ".") not in OWN:
        call.write((folder or ".").rstrip("/") + "/unpacked", FILE)


def tar(call: ProgramCall) -> None:
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
    flags = options.flags
    if "c" in mode or "r" in mode or "u" in mode or options.has("--create", "--append"):
        lists = options.all("-T", "--files-from")
        _pack(
            call, options.rest + listed_in(call, *lists), archive, folder, "--remove-files" in flags
        )


_PACKERS = listed("gzip pigz zstd bzip2 pbzip2 xz lz4 lzma pixz lzip zstdmt")


_TAR_RUNS = listed(
    """--to-command -I --use-compress-program -F --info-script --new-volume-script
        --rsh-command --rmt-command"""
)


def _tar_runs(call: ProgramCall, options: Options) -> None:
    texts = [text for text in options.all(*_TAR_RUNS) if text.split(" ")[0] not in _PACKERS]
    actions = options.all("--checkpoint-action")
    texts += [text[5:] for text in actions if text.startswith("exec=")]
    for text in texts:
        call.doubt("flag.run", f"runs `{shown(text, 50)}`")
        call.script(text)
    call.wrapper = False


def _unpack(call: ProgramCall, options: Options, folder: str | None) -> None:
    _lands(call, options, folder)
    archive = options.get("-f", "--file")
    made = call.stdin if archive in (None, "-") else call.content(archive)
    if made and NET in made:
        call.doubt("net.unpack", "unpacks an unreviewed download")
        call.scene.files[call.path(folder or ".")] = NET
    call.out = OUT


def _pack(
    call: ProgramCall,
    sources: list[str],
    archive: str,
    folder: str | None = None,
    moves: bool = False,
) -> None:
    """Files go into an archive; `moves` when they are deleted then."""
    leaks = leaking(call, sources, folder)
    if archive not in {"-", "/dev/stdout"}:
        call.write(archive, SECRET if leaks else FILE)
    if leaks:
        call.doubt("secrets.copy", "packs credentials")
    if moves:
        for word in sources:
            call.delete(word)
    call.out = SECRET if leaks else FILE


def zip_(call: ProgramCall) -> None:
    """`zip`, `7z`, `rar`: archives from files."""
    options = call.options("-x -i -P -b -t -n -TT -o -w --unzip-command", single=True)
    for text in options.all("-TT", "--unzip-command"):
        call.doubt("flag.run", f"runs `{shown(text, 50)}`")
        call.script(text)
        call.wrapper = False
    words = options.rest
    if call.name != "zip":
        _seven(call, options)
    elif words:
        lists = ["-"] if any(re.fullmatch(r"-\w*@\w*", flag) for flag in options.flags) else []
        moves = options.has("-m", "--move", "-rm", "-mr")
        _pack(call, words[1:] + listed_in(call, *lists), words[0], None, moves)


def _seven(call: ProgramCall, options: Options) -> None:
    words, flags = options.rest, [*options.flags]
    sub = words[0] if words else ""
    if sub in ("x", "e"):
        folder = next((flag[2:] for flag in flags if flag.startswith("-o")), None)
        told = next((word for word in words[2:] if word.endswith("/")), None)
        _lands(call, options, told if call.name in ("rar", "unrar") else folder)
    elif sub in ("a", "u", "m") and len(words) > 1:
        lists = [word[1:] for word in words[2:] if word.startswith("@")]
        lists += [found[1] for flag in flags if (found := re.match(r"-ir?[-0]?@(.+)", flag))]
        named = [word for word in words[2:] if not word.startswith("@")]
        moves = sub == "m" or "-sdel" in flags or "-df" in flags
        _pack(call, named + listed_in(call, *lists), words[1], None, moves)


def unzip(call: ProgramCall) -> None:
    """`unzip`, `gunzip` and the like."""
    options = call.options("-d -x -P -S --suffix -o")
    if options.has("-l", "-v", "-t", "-Z", "--list", "--test"):
        return
    if call.name in ("unzip", "unar"):
        if not options.has("-p", "-c"):
            _lands(call, options, options.get("-d" if call.name == "unzip" else "-o"))
    else:
        for word in options.rest:
            shows = call.name.endswith("cat")
            call.read(word, quiet=not shows)
            if (
                not shows
                and not options.has("-c", "--stdout", "-k", "--keep")
                and call.zone(word) not in OWN
            ):
                call.write(word, FILE)
        call.out = _inflated(call) if call.stdin is not None else call.out


def _inflated(call: ProgramCall) -> str:
    """What a known compressed text holds; the text itself when it is not compressed."""
    text = call.stdin or ""
    import lzma
    import zlib

    try:
        raw = text.encode("latin-1")
        if raw[:2] == b"\x1f\x8b":
            return zlib.decompressobj(31).decompress(raw, 100_000).decode("utf-8", "replace")
        if raw[:3] == b"BZh":
            import bz2

            return bz2.BZ2Decompressor().decompress(raw, 100_000).decode("utf-8", "replace")
        if raw[:6] == b"\xfd7zXZ\0":
            return lzma.LZMADecompressor().decompress(raw, 100_000).decode("utf-8", "replace")
    except (ValueError, OSError, EOFError, ArithmeticError):
        return text
    except (zlib.error, lzma.LZMAError):
        return OUT
    return text


def cpio(call: ProgramCall) -> None:
    """`cpio`, `pax`, `ar`: older archives, of the files that standard input lists."""
    valued = "-D -F -I -O -H --directory --file --rsh-command"
    options = call.options(valued if call.name != "pax" else "-f -b -s -x -o -p -B -G -T -U")
    for text in options.all("--rsh-command"):
        call.doubt("flag.run", "runs a helper")
        call.script(text)
    folder = options.get("-D", "--directory", "--output")
    if call.name == "ar":
        if any("x" in word for word in call.args[:1]):
            _lands(call, options, folder)
    elif call.name == "cpio" and options.has("-i", "--extract") and not options.has("-t", "--list"):
        _lands(call, options, folder)
    elif call.name == "pax" and options.has("-r") and not options.has("-w"):
        _lands(call, options, None)
        if any(re.match(r"(.).*?\1[/~.]", text) for text in options.all("-s")):
            call.doubt("fs.write-outside", "unpacks to paths that it makes")
    elif call.name == "pax" and options.has("-w"):
        copies = options.rest[-1:] if options.has("-r") else []
        named = options.rest[: len(options.rest) - len(copies)]
        _older(call, named or listed_in(call, "-"), options.get("-f"), copies)
    elif call.name == "cpio" and options.has("-o", "--create"):
        _older(call, listed_in(call, "-"), options.get("-O", "-F", "--file"), [], folder)
    elif call.name == "cpio" and options.has("-p", "--pass-through"):
        _older(call, listed_in(call, "-"), None, options.rest[:1], folder)


def jar(call: ProgramCall) -> None:
    """`jar`: archives of Java."""
    mode = call.args[0] if call.args else ""
    options = call.options("-f -C --file --dir")
    if options.has("-x", "--extract") or re.fullmatch(r"\w*x\w*", mode):
        _lands(call, options, options.get("-C", "--dir"))


def deb(call: ProgramCall) -> None:
    """`dpkg-deb`: packages of Debian, unpacked without being installed."""
    options = call.options()
    takes_out = ("-x", "-X", "-R", "-e", "--extract", "--vextract", "--raw-extract", "--control")
    if options.has(*takes_out):
        _lands(call, options, next(iter(options.rest[1:2]), None))


def _older(
    call: ProgramCall,
    sources: list[str],
    archive: str | None,
    copies: list[str],
    folder: str | None = None,
) -> None:
    """Files go into an archive, or are copied to a folder."""
    target = f"{copies[0].rstrip('/')}/copied" if copies else archive
    _pack(call, sources, target or "-", folder)
