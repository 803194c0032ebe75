"""Programs that start another one once for each of many words: `xargs`, `parallel`."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import OUT, UNSET, unknown
from steersman.governance.guard.options import read_options, skip_options
from steersman.governance.guard.programs.wrap_table import WRAPPERS
from steersman.governance.guard.programs.wrappers import about_itself
from steersman.records.patterns import pattern


def xargs(call: ProgramCall) -> None:
    """`xargs`: a program with words from standard input, once or many times."""
    valued = (
        "-a -d -E -I -L -n -P -s -J -R --arg-file --delimiter --eof --replace --max-lines "
        "--max-args --max-procs --max-chars --process-slot-var"
    )
    rest = skip_options(call.args, valued)
    options = read_options(call.args[: len(call.args) - len(rest)], valued)
    text = call.stdin if call.stdin is not None else UNSET
    name = options.get("-a", "--arg-file")
    if name is not None:
        text = _arguments(call, name)
    separator = options.get("-d", "--delimiter")
    items = [
        item
        for item in re.split(
            "[\0\n]" if separator is None else re.escape(separator.replace("\\n", "\n")), text
        )
        if item.strip()
    ]
    if not options.has("-0", "--null", "-I", "--replace", "-i", "-d") and not unknown(text):
        items = text.replace("\0", " ").split()
    items = [item.strip("\n") for item in items][:40] or ([OUT] if unknown(text) else [])
    words = rest or ["echo"]
    marker = options.get("-I", "-J", "--replace") or ("{}" if options.has("-i") else None)
    if "\ue007" in text and options.get("-P", "--max-procs") is not None:
        call.breaker("forkbomb.xargs", "starts processes without limit")
    call.scene.plain = False
    if marker:
        for item in items or [OUT]:
            call.run([word.replace(marker, item) for word in words], None)
    else:
        call.run([*words, *items], None)


def _arguments(call: ProgramCall, name: str) -> str:
    """What a file of arguments holds; `-` is standard input."""
    if name in ("-", "/dev/stdin"):
        return call.stdin or OUT
    call.read(name)
    return call.out


_PLACES = pattern(r"\{[#%]?\d*[./]*\}")


def parallel(call: ProgramCall) -> None:
    """`parallel command ::: words`: a script for each word, or for each line of standard input."""
    if about_itself(call.args):
        return
    how = WRAPPERS["parallel"]
    rest = skip_options(call.args, how.valued)
    options = read_options(call.args[: len(call.args) - len(rest)], how.valued)
    at = next((n for n, word in enumerate(rest) if re.fullmatch(r":::{1,2}\+?", word)), len(rest))
    words, items = rest[:at], [w for w in rest[at:] if not re.fullmatch(r":::{1,2}\+?", w)]
    files = options.all("-a", "--arg-file")
    if rest[at : at + 1] in (["::::"], ["::::+"]):
        files, items = items, []
    text = "" if items else (call.stdin or "")
    for name in files:
        text += _arguments(call, name)
    items += [item for item in re.split("[\0\n]", text) if item.strip()]
    if call.stdin is None and not items:
        items = [OUT]
    call.scene.plain = False
    marker = options.get("-I") or ""
    for item in items[:40]:
        made = [
            _PLACES.sub(lambda _, item=item: item, w.replace(marker or "{}", item)) for w in words
        ]
        if not words:
            call.script(item)
        elif made == words:
            made.append(item)
        _each(call, made)
    for word in words[1:]:
        if " " in word:
            call.script(word)


def _each(call: ProgramCall, words: list[str]) -> None:
    """One job: words are a command, one text with blanks is a script."""
    if words and " " in words[0]:
        call.script(" ".join(words))
    elif words:
        call.run(words, None)
