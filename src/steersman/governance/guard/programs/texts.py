"""Programs that only turn text into text: their output is worked out where it can be."""

import base64
import binascii
import codecs
import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.expand import ansi
from steersman.governance.guard.marks import (
    DEEP,
    FILE,
    OUT,
    RANDOM,
    STAR,
    UNKNOWN,
    blur,
    literal,
    shown,
    unknown,
)
from steersman.governance.guard.options import Options, listed
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import holds_secrets
from steersman.governance.guard.programs.flags import check_flags
from steersman.records.patterns import pattern

_FORMAT = pattern(r"%(?:%|[-+ #0']*\d*(?:\.\d+)?[hlL]*([a-zA-Z]))")


def same_lines(text: str) -> str:
    """What a program prints that only orders or leaves out lines; paths found stay paths."""
    return blur(text) if unknown(text.replace(DEEP, "")) else text


def echo(call: ProgramCall) -> None:
    """`echo`."""
    args = list(call.args)
    escapes = newline = False
    while args and re.fullmatch(r"-[neE]+", args[0]):
        newline = newline or "n" in args[0]
        escapes = escapes or "e" in args[0]
        args.pop(0)
    text = " ".join(literal(word) for word in args)
    call.out = (ansi(text) if escapes else text) + ("" if newline else "\n")


def printf(call: ProgramCall) -> None:
    """`printf FORMAT WORD…`, also `-v NAME`."""
    args = list(call.args)
    name = None
    if args[:1] == ["-v"] and len(args) > 1:
        name, args = args[1], args[2:]
        if "$(" in name or "`" in name:
            call.shell.reveal(name)
    if args[:1] == ["--"]:
        args = args[1:]
    if not args:
        return
    text = _formatted(literal(args[0]), [literal(word) for word in args[1:]])
    if name is not None:
        call.shell.variables[name] = text
        text = ""
    call.out = text


def _formatted(form: str, words: list[str]) -> str:
    made, left = "", list(words)
    for _ in range(50):
        before = len(left)

        def put(found: re.Match[str]) -> str:
            kind = found[1]
            if kind is None:
                return "%"
            word = left.pop(0) if left else ""
            if kind == "c":
                return word[:1]
            if kind == "b":
                return ansi(re.sub(r"\\0(?=[0-7]{3})", r"\\", word))
            if kind in "xXo" and word.isdigit():
                return format(int(word), kind)
            return word

        made += _FORMAT.sub(put, ansi(form) if "\\" in form else form)
        if not left or len(left) == before:
            break
    return made


def stdin_or_files(call: ProgramCall, operands: list[str]) -> str:
    """The text a filter works on."""
    if not operands or operands == ["-"]:
        return call.stdin if call.stdin is not None else OUT
    made = ""
    for word in operands:
        if word == "-":
            made += call.stdin or ""
            continue
        call.read(word)
        made += call.out
    return made


def decode(call: ProgramCall) -> None:
    """`base64`, `base32`, `xxd -r`, `openssl enc -d`, `uudecode`: encodings."""
    args = call.args
    name = call.name
    if name == "openssl":
        _openssl(call)
        return
    options = call.options("-w -o -b -i -c -l -s -g --wrap --input --output")
    name = {"gbase64": "base64", "base64url": "base64"}.get(name, name)
    text = stdin_or_files(call, [*options.all("-i", "--input"), *options.rest][:1])
    back = (
        options.has("-d", "-D", "--decode")
        or name in ("uudecode",)
        or (name in ("xxd", "basenc") and options.has("-r", "-d", "--decode"))
    )
    if name == "basenc":
        name = "base32" if "--base32" in args else "hex" if "--base16" in args else "base64"
    if name == "xxd":
        name = "hex"
    call.out = (
        _decoded(name, text) if back else blur(text) if unknown(text) else _encoded(name, text)
    )
    target = options.get("-o", "--output")
    if call.name == "xxd" and len(options.rest) > 1:
        target = options.rest[1]
    if target and target not in ("-", "/dev/stdout"):
        call.write(target, call.out)


def _openssl(call: ProgramCall) -> None:
    args = call.args
    call.out = OUT
    sub = args[0] if args else ""
    options = call.options(
        "-in -out -pass -k -K -iv -engine -passin -passout -key -cert -subj -days "
        "-newkey -keyout -connect -CAfile",
        single=True,
    )
    for name in options.all("-in"):
        call.read(name, quiet=sub in ("x509", "verify", "dgst", "crl", "req"))
    for name in options.all("-out", "-keyout"):
        call.write(name)
    if options.has("-engine", "-provider"):
        call.doubt("flag.helper", "loads an engine, which is unknown code")
    if sub in ("enc", "base64") and options.has("-d"):
        text = call.stdin or OUT
        if options.get("-in"):
            text = call.content(options.get("-in") or "") or FILE
        if sub == "base64" or (options.has("-base64", "-a") and len(options.flags) <= 4):
            call.out = _decoded("base64", text)
        else:
            call.out = blur(text)
    elif sub == "s_client":
        from steersman.governance.guard.programs.connect import over_wire

        over_wire(call, options.get("-connect", "-host") or "*")
    elif sub in ("s_server", "ocsp") and options.has("-accept", "-port", "-www", "-WWW", "-HTTP"):
        call.ask("net.listen", "waits for connections from the network")
        if options.has("-WWW", "-HTTP"):
            call.ask("net.serve", "serves the files of this folder")
    elif call.stdin:
        call.out = blur(call.stdin)


def _decoded(name: str, text: str) -> str:
    if UNKNOWN.search(text):
        return blur(text)
    clean = re.sub(r"\s", "", text)
    try:
        if name == "base32":
            raw = base64.b32decode(clean + "=" * (-len(clean) % 8), casefold=True)
        elif name == "hex":
            clean = re.sub(r"(?m)^[0-9a-f]+:\s*|\s\s.*$", "", text)
            raw = bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", clean))
        elif name == "uudecode":
            return OUT
        else:
            clean = clean.replace("-", "+").replace("_", "/")
            raw = base64.b64decode(clean + "=" * (-len(clean) % 4))
    except (ValueError, binascii.Error):
        return OUT
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _encoded(name: str, text: str) -> str:
    return (
        blur(text)
        if unknown(text)
        else OUT
        if name == "hex"
        else base64.b64encode(text.encode()).decode()
    )


def reverse(call: ProgramCall) -> None:
    """`rev`, `tac`."""
    text = stdin_or_files(call, [word for word in call.args if not word.startswith("-")])
    if unknown(text):
        call.out = blur(text)
    elif call.name == "rev":
        call.out = "\n".join(line[::-1] for line in text.split("\n"))
    else:
        call.out = "\n".join(reversed(text.rstrip("\n").split("\n"))) + "\n"


def translate(call: ProgramCall) -> None:
    """`tr`: letters for letters."""
    options = call.options()
    text = call.stdin if call.stdin is not None else OUT
    call.out = text
    if unknown(text) or not options.rest:
        call.out = blur(text) if unknown(text) else text
        return
    first = _letters(options.rest[0])
    if options.has("-d", "--delete"):
        call.out = "".join(letter for letter in text if letter not in first)
    elif len(options.rest) > 1 and not options.has("-c", "-C"):
        second = _letters(options.rest[1]) or " "
        second += second[-1] * max(0, len(first) - len(second))
        call.out = text.translate({ord(a): b for a, b in zip(first, second, strict=False)})


def _letters(text: str) -> str:
    text = ansi(literal(text))
    text = (
        text.replace("[:lower:]", "a-z").replace("[:upper:]", "A-Z").replace("[:space:]", " \t\n")
    )
    return re.sub(
        r"(.)-(.)",
        lambda m: "".join(map(chr, range(ord(m[1]), min(ord(m[2]), ord(m[1]) + 128) + 1))) or m[0],
        text,
    )


def rot13(call: ProgramCall) -> None:
    """`rot13`, `caesar`."""
    text = call.stdin or OUT
    call.out = blur(text) if unknown(text) else codecs.encode(text, "rot13")


def reader(call: ProgramCall) -> None:
    """`cat` and other programs that show files."""
    check_flags(call)
    operands = [word for word in call.args if not word.startswith(("-", "+")) or word == "-"]
    call.out = stdin_or_files(call, operands)


def part(call: ProgramCall) -> None:
    """`head`, `tail`: some lines of a text."""
    options = call.options("-n -c --lines --bytes -s --pid")
    text = stdin_or_files(call, options.rest)
    call.out = text
    if RANDOM in text:
        size = options.get("-c", "--bytes") or ""
        if re.search(r"(?i)\d{2,}G|\d+T|\d{11,}", size):
            call.breaker("exhaust.memory", "produces more data than any machine can store")
        call.out = text.replace(RANDOM, "") or OUT if "head" in call.name else text
        if "tail" in call.name:
            call.block("exhaust.memory", "reads an endless stream to its end")


def counter(call: ProgramCall) -> None:
    """`wc`, checksums: content is read, not shown."""
    options = call.options("-c --files0-from")
    for word in options.rest:
        call.read(word, quiet=True)
    call.out = "1\n" if call.stdin is not None and call.name == "wc" else OUT


def filter_(call: ProgramCall) -> None:
    """Filters with options: `cut`, `uniq`, `nl`, `fold`, `column`, `paste`, `jq` and others."""
    valued = _VALUED.get(call.name, "-d -f -c -b -s -t -w -n -k -o")
    options = call.options(valued)
    operands = options.rest[1:] if call.name in _PATTERN else options.rest
    text = stdin_or_files(call, operands)
    if call.name in ("yq", "dos2unix") and options.has("-i", "--inplace"):
        for word in operands:
            call.write(word, text)
    if call.name == "uniq":
        for word in operands[1:2]:
            call.write(word, text)
    call.out = (
        _cut(call, options.get("-d"), options.get("-f"), text)
        if call.name == "cut"
        else (same_lines(text) if call.name in _SAME else blur(text))
    )


_VALUED = {
    "jq": "--arg --argjson --slurpfile --rawfile --indent -f --from-file -L",
    "yq": "-o -p --output-format --input-format",
    "column": "-s -o -c -t -N",
    "xmllint": "--xpath",
}
_PATTERN = frozenset(listed("jq gojq jaq yq dasel hq"))
_SAME = frozenset(listed("cat uniq shuf pv fold expand unexpand fmt column tac iconv dos2unix"))


def _cut(call: ProgramCall, border: str | None, field: str | None, text: str) -> str:
    if unknown(text) or field is None or not field.isdigit():
        return blur(text) if unknown(text) else text
    made = []
    for line in text.split("\n"):
        parts = line.split(border or "\t")
        made.append(parts[int(field) - 1] if int(field) <= len(parts) else line)
    return "\n".join(made)


_FOR_SECRETS = pattern(
    r"(?i)(?:private.key|begin (?:rsa|openssh|ec|dsa|pgp)|passw|secret|token|api.?key|credential|"
    r"access.key|akia|ghp_|glpat|xox[bp]|sk-)"
)


def _deep(call: ProgramCall, root: str, options: Options) -> None:
    """A search through a whole tree that shows the lines it finds."""
    path = call.path(root)
    if holds_secrets(path, call.place):
        call.block("secrets.read", f"shows credentials below {shown(path)}")
        return
    homes = path in ("/home", "/Users") or call.zone(root) in (Zone.ROOT, Zone.HOME)
    chosen = options.all("--include", "-g", "--glob")
    if not homes or any(glob.strip("*/") for glob in chosen):
        return
    hidden = call.name in ("grep", "egrep", "fgrep", "ugrep") or options.has(
        "-u", "-uu", "-uuu", "--hidden", "-.", "--unrestricted", "--no-ignore"
    )
    patterns = options.all("-e", "--regexp") or options.rest[:1]
    if any(_FOR_SECRETS.search(literal(text)) for text in patterns):
        call.block("secrets.search", f"searches {shown(path)} for credentials and shows them")
    elif hidden and not options.has("-t", "--type"):
        call.doubt(
            "secrets.search",
            f"shows lines of every file below {shown(path)}, credentials among them",
            "Search the workspace, or list the files with -l.",
        )


def grep(call: ProgramCall) -> None:
    """`grep`, `rg`, `ag`: a pattern, then files; helpers by option."""
    valued = (
        "-e -f -m -A -B -C -d -D -g -t -T -j -M -E -r --regexp --file --max-count --context "
        "--after-context --before-context --include --exclude --exclude-dir --glob "
        "--iglob --type "
        "--type-not --pre --pre-glob --hostname-bin --max-depth --max-filesize --encoding "
        "--hyperlink-format --color --colors --sort --sortr --engine --replace "
        "--path-separator "
        "--type-add --threads --ignore-file --label --binary-files --devices --directories"
    )
    if call.name not in ("rg", "ripgrep"):
        valued = valued.replace(" -r ", " ").replace(" -E ", " ").replace(" -T ", " ")
    options = call.options(valued)
    helper = options.get("--pre", "--hostname-bin")
    if helper:
        call.doubt("flag.helper", f"runs the helper {helper}")
        call.script(helper)
        call.wrapper = False
    operands = (
        options.rest
        if options.has("-e", "--regexp", "-f", "--file", "--files", "--type-list")
        else options.rest[1:]
    )
    silent = options.has(
        "-l", "-c", "-q", "-L", "--count", "--files-with-matches", "--quiet", "--files"
    )
    text = ""
    deep = call.name in ("rg", "ripgrep", "ag", "ack", "ugrep") or options.has("-r", "-R")
    for word in operands:
        call.read(word, quiet=silent)
        text += call.out
        if deep and not silent:
            _deep(call, word, options)
    if not operands:
        text = call.stdin if call.stdin is not None else OUT
    if options.has("-l", "-L", "--files-with-matches", "--files", "--files-without-match"):
        call.out = "".join(f"{root.rstrip('/') or '.'}/{DEEP}\n" for root in operands or ["."])
        return
    if not operands and DEEP in text:
        call.out = _among(text, options) + blur(text)
    else:
        call.out = text if call.stdin is not None and not unknown(text) else blur(text)


def _among(text: str, options: Options) -> str:
    """`find ~ | grep id_rsa`: paths in which a word occurs, among others that nobody knows."""
    words = options.all("-e", "--regexp") or options.rest[:1]
    if options.has("-v", "--invert-match", "-f", "--file", "-c", "--count", "-q", "--quiet"):
        return ""
    if not words or not all(_PLAIN_WORD.match(word) for word in words):
        return ""
    roots = dict.fromkeys(line.partition(DEEP)[0] for line in text.split() if DEEP in line)
    return "".join(f"{root}{DEEP}/{STAR}{word}{STAR}\n" for root in roots for word in words)


_PLAIN_WORD = pattern(r"[\w./-]*\w[\w./-]*\Z")


def date(call: ProgramCall) -> None:
    """`date`: reads the clock; `-s` sets it; `-f` reads a file."""
    for name in call.options("-f -d -s -r --file --date --set --reference").all("-f", "--file"):
        call.read(name)
    if any(word.startswith(("-s", "--set")) for word in call.args):
        call.ask("system.clock", "changes the machine's clock")


def mktemp(call: ProgramCall) -> None:
    """`mktemp`: a new name of its own."""
    call.out = "/tmp/\ue008\n"


def endless(call: ProgramCall) -> None:
    """`yes`: without end."""
    call.out = (" ".join(call.args) or "y") + "\n" + RANDOM


def pwd(call: ProgramCall) -> None:
    """`pwd`."""
    call.out = call.shell.cwd + "\n"


def basename(call: ProgramCall) -> None:
    """`basename`, `dirname`, `realpath`, `readlink`."""
    words = [word for word in call.args if not word.startswith("-")]
    if not words:
        return
    path = words[0]
    if call.name == "dirname":
        call.out = (path.rsplit("/", 1)[0] if "/" in path else ".") + "\n"
    elif call.name == "basename":
        call.out = path.rstrip("/").rsplit("/", 1)[-1] + "\n"
    else:
        call.out = call.path(path) + "\n"


def whoami(call: ProgramCall) -> None:
    """`whoami`."""
    call.out = call.place.home.rsplit("/", 1)[-1] + "\n"


def seq(call: ProgramCall) -> None:
    """`seq`: numbers."""
    numbers = [int(word) for word in call.args if word.lstrip("-").isdigit()]
    last = numbers[-1] if numbers else 1
    first = numbers[0] if len(numbers) > 1 else 1
    call.out = "\n".join(str(n) for n in range(first, min(last, first + 12) + 1)) + "\n"
