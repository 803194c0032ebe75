"""PowerShell: its options by any beginning of their name, its code command by command."""

import base64
import binascii
import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.code import scan
from steersman.governance.guard.marks import FILE, literal, shown, unknown
from steersman.governance.guard.options import listed
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.cmdlets import (
    CALM,
    DELETES,
    KEYWORDS,
    LOOKS,
    SECRETS,
    SHORT,
    WRITES,
)
from steersman.governance.guard.programs.hosts import LOCAL, host_of
from steersman.governance.guard.programs.shells import feed
from steersman.records.patterns import pattern

_VALUED = listed(
    """executionpolicy ep windowstyle workingdirectory wd outputformat of inputformat if
    configurationname settingsfile custompipename psconsolefile version"""
)
_FLAGS = listed("noprofile nop nologo noexit noninteractive noni sta mta login interactive")


def powershell(call: ProgramCall) -> None:
    """`pwsh -Command …`, `-File …`, `-EncodedCommand …`, or code on standard input."""
    at, args = 0, call.args
    while at < len(args):
        word = args[at]
        at += 1
        name = word.lower().lstrip("-/") if word[:1] in "-/" and len(word) > 1 else ""
        if not name:
            _given(call, word, args[at:])
            return
        if name in ("?", "h", "help") or (name in ("version", "v") and at == len(args)):
            return
        if "encodedcommand".startswith(name) or name == "ec":
            _encoded(call, "".join(args[at : at + 1]))
            return
        if "command".startswith(name) or name == "commandwithargs":
            _given(call, args[at] if at < len(args) else "-", args[at + 1 :], code=True)
            return
        if "file".startswith(name):
            _file(call, "".join(args[at : at + 1]))
            return
        if any(option.startswith(name) for option in _VALUED) and name not in _FLAGS:
            if args[at : at + 1] and args[at].lower() == "hidden":
                call.doubt("code.hidden", "runs PowerShell in a hidden window")
            at += 1
    _given(call, "-", [])


def _given(call: ProgramCall, word: str, rest: list[str], *, code: bool = False) -> None:
    if word == "-":
        if call.stdin is None:
            call.ask("shell.interactive", "starts an interactive interpreter")
        elif feed(call, call.stdin):
            judge_code(call, literal(call.stdin))
    elif not code and re.search(r"(?i)\.ps1\Z", word):
        _file(call, word)
    elif not unknown(word) or feed(call, word):
        judge_code(call, literal(" ".join([word, *rest])))


def _file(call: ProgramCall, name: str) -> None:
    call.saw(name)
    call.unknown_code = True
    made = call.content(name)
    if made is not None and made != FILE:
        if feed(call, made):
            judge_code(call, literal(made))
    elif call.zone(name) is not Zone.INSIDE or _WINDOWS.match(name):
        call.doubt("code.unknown", "runs an unreviewed script from outside the project")


def _encoded(call: ProgramCall, text: str) -> None:
    call.doubt(
        "code.hidden", "runs PowerShell code that is encoded", "Write the code in plain text."
    )
    try:
        judge_code(call, base64.b64decode(text).decode("utf-16-le", "replace"))
    except (ValueError, binascii.Error):
        call.unknown_code = True


_WINDOWS = pattern(
    r"(?i)['\"]?(?:[a-z]:[\\/]|[a-z]:\Z|\\\\|\$env:|/mnt/[a-z](?:/|\Z)|%\w+%|HK\w+:)"
)
_CMDLET = pattern(r"([A-Za-z]+)-[A-Za-z]\w*\Z")
_WORD = pattern(r"\"(?:`.|[^\"])*\"|'(?:''|[^'])*'|[^\s\"']+")
_SPLITS = pattern(r"\"(?:`.|[^\"])*\"|'(?:''|[^'])*'|(\|\||&&|[;\n|{}()])")
_REACHES = pattern(
    r"(?i)::(?:Delete|Move|WriteAll\w*|SetEnvironmentVariable|Start|Load\w*|FromBase64String|Copy|"
    r"Create\w*|SetAccessControl|ExitWindows\w*)\s*\(|\.(?:Delete|Kill|Terminate|InvokeMethod|"
    r"DownloadString|DownloadFile|UploadString|UploadFile|ShellExecute|RegWrite|RegDelete|Put)\s*\("
    r"|Net\.Sockets|Reflection\.Assembly|VirtualAlloc|DllImport"
)


def judge_code(call: ProgramCall, text: str) -> None:
    """Every command of the code."""
    scan(call.shell, text, "powershell")
    if _REACHES.search(text):
        call.doubt("powershell.change", "calls something that changes or fetches")
    for part in _parts(text):
        words = [word.strip("\"'") for word in _WORD.findall(part)]
        while words and (words[0] in ("&", ".", "!", "-not", "=") or _ASSIGNS.match(part)):
            part = _ASSIGNS.sub("", part, count=1) if _ASSIGNS.match(part) else part[1:]
            part = part.lstrip("&.!= ")
            words = [word.strip("\"'") for word in _WORD.findall(part)]
        if words and not re.match(r"[\"'$\[@\d,.+*/<>=-]", part):
            _command(call, words, part)


_ASSIGNS = pattern(r"\$[\w:]+\s*[+-]?=\s*|\[[\w.\[\]]+\]\s*(?=\$)")


def _parts(text: str) -> list[str]:
    made, start = [], 0
    for found in _SPLITS.finditer(text):
        if found[1]:
            made.append(text[start : found.start()])
            start = found.end()
    return [part.strip() for part in [*made, text[start:]] if part.strip()]


def _command(call: ProgramCall, words: list[str], part: str) -> None:
    name = words[0].lower().rpartition("\\")[2]
    name = SHORT.get(name, name)
    found = _CMDLET.match(name)
    if name in KEYWORDS or name.startswith("#"):
        return
    if found is None:
        inner = call.shell.copy()
        inner.depth += 1
        inner.script(part.replace("\\", "/"))
    elif name in DELETES:
        _deletes(call, words)
    elif name in WRITES:
        _writes(call, name, words)
    elif name in SECRETS:
        call.doubt("secrets.print", f"reads stored credentials with {shown(words[0])}")
    elif name in ("invoke-webrequest", "invoke-restmethod"):
        _fetches(call, words)
    elif found[1] not in LOOKS and name not in CALM:
        call.ask("powershell.change", f"changes something with {shown(words[0])}")


def _operands(words: list[str]) -> list[str]:
    """Words that are not options, and what follows the options for a path."""
    return [word for word in words[1:] if not word.startswith("-") or word[1:2].isdigit()]


def _deletes(call: ProgramCall, words: list[str]) -> None:
    for word in _operands(words):
        if _WINDOWS.match(word):
            call.block("fs.windows", f"deletes files of the Windows system: {shown(word)}")
        elif word[:1] in "$@":
            call.doubt("code.deletes", "deletes paths that are not known from the text")
        else:
            call.delete(word.replace("\\", "/"))


def _writes(call: ProgramCall, name: str, words: list[str]) -> None:
    for at, word in enumerate(words):
        if not at or word.startswith("-") or words[at - 1].lower() in ("-value", "-encoding"):
            continue
        if words[at - 1].lower() in ("-itemtype", "-name", "-filter", "-inputobject"):
            continue
        if _WINDOWS.match(word):
            call.ask("fs.windows", f"writes outside the workspace: {shown(word)}")
        elif "/" in word or "\\" in word or words[at - 1].lower() in ("-path", "-filepath"):
            source = name == "copy-item" and at == 1
            (call.saw if source else call.write)(word.replace("\\", "/"))


def _fetches(call: ProgramCall, words: list[str]) -> None:
    text = " ".join(words)
    urls = [word for word in words if "://" in word]
    call.network += [shown(host_of(url)) for url in urls]
    local = bool(urls) and all(LOCAL.match(host_of(url)) for url in urls)
    if not local and re.search(r"(?i)-method\s+(?!get|head)|-body|-infile|-form|-usedefault", text):
        call.ask("net.send", "sends data to another machine")
    found = re.search(r"(?i)-outf\w*\s+(\S+)", text)
    if found:
        call.write(found[1].replace("\\", "/"), "\ue004" if not local else FILE)
