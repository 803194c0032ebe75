"""Programs that edit text, some by scripts of their own that write files and run commands."""

import re

from steersman.governance.guard.call import STDIN, ProgramCall
from steersman.governance.guard.code_texts import arguments
from steersman.governance.guard.marks import FILE, OUT, blur, literal, shown, unknown
from steersman.governance.guard.options import listed
from steersman.governance.guard.parameters import tries
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.file_lists import listed_in
from steersman.governance.guard.programs.flags import check_flags
from steersman.governance.guard.programs.shells import feed, run_address, run_content, run_written
from steersman.governance.guard.programs.texts import same_lines, stdin_or_files
from steersman.records.patterns import pattern


def sed(call: ProgramCall) -> None:
    """`sed`: scripts may write files (`w`) and run commands (`e`)."""
    options = call.options("-e -f -l --expression --file --line-length")
    scripts = options.all("-e", "--expression")
    operands = options.rest
    if not scripts and not options.has("-f", "--file"):
        scripts, operands = operands[:1], operands[1:]
    for name in options.all("-f", "--file"):
        made = run_content(call, name)
        if made:
            scripts.append(made)
        elif call.zone(name) is not Zone.INSIDE:
            call.doubt("code.unknown", "runs an unreviewed sed script")
    in_place = any(flag.startswith(("-i", "--in-place")) for flag in options.flags)
    if not in_place and any(re.match(r"-[nEr]*i", word) for word in call.args):
        in_place = True
    added = ""
    for text in scripts:
        added += _sed_script(call, literal(text))
    if in_place:
        if operands[:1] == [""]:
            operands = operands[1:]
        for word in operands:
            call.write(word, added if added else FILE, append=bool(added))
        call.out = ""
    else:
        text = stdin_or_files(call, operands)
        call.out = _sed_out(scripts, text)


_SED_W = pattern(r"(?:^|[;{}\d$/!,]\s*|/[gpIi0-9]*)\s*[wW]\s+(\S+)")


_SED_SW = pattern(r"s(.)(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpiIeM0-9]*w\s*(\S+)")


_SED_E = pattern(
    r"(?:^|[;{}]|(?:^|;)\s*(?:\d+|\$|/[^/]*/)!?)\s*e(?:\s+([^;}\n]+)|\s*(?:$|"
    r"[;}]))"
)


_SED_SE = pattern(
    r"s([^\w\s\\])((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1[gpiI0-9M]*e[gpiI0-9M]*\s*(?:$|"
    r"[;}])"
)


_SED_TEXT = pattern(r"(?:^|[;{}])\s*(?:\d+|\$|/[^/]*/)?\s*[aic]\\?\s*(.+)", re.DOTALL)


def _sed_script(call: ProgramCall, text: str) -> str:
    for form, group in ((_SED_W, 1), (_SED_SW, 2)):
        for found in form.finditer(text):
            if form is _SED_W and re.match(r"\A/[^/]*\Z", text[: found.start()]):
                continue
            call.write(found[group].rstrip(";}"), FILE)
    for found in _SED_E.finditer(text):
        call.doubt("flag.run", "lets sed run commands")
        if found[1]:
            call.script(found[1])
            call.wrapper = False
    for found in _SED_SE.finditer(text):
        call.doubt("flag.run", "lets sed run what it has replaced")
        call.script(found[3])
        call.wrapper = False
    found_text = _SED_TEXT.search(text)
    if found_text:
        return found_text[1] + "\n"
    replaced = re.match(r".*?s([^\w\s\\])((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1", text, re.DOTALL)
    return replaced[3] + "\n" if replaced and len(replaced[3]) > 12 else ""


_WHOLE = pattern(r"(?<!\\)&")
_QUOTED = pattern(r"\\([^\w\\])")  # a letter that would mean something to sed


def _sed_out(scripts: list[str], text: str) -> str:
    if unknown(text):
        return blur(text)
    parts = [part.strip() for script in scripts for part in re.split(r";(?=\s*s[^\w\s])", script)]
    for script in parts:
        found = re.fullmatch(r"s([^\w\s\\])((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1([gI]*)", script)
        if found is None:
            return text
        form = re.sub(r"\\([()|+?])", r"\1", found[2])
        if not tries(form, text, found[3]):
            return blur(text)
        try:
            text = re.compile(form).sub(
                _QUOTED.sub(r"\1", _WHOLE.sub(r"\\g<0>", found[3])),
                text,
                count=0 if "g" in found[4] else 1,
            )
        except (re.error, IndexError):
            return blur(text)
    return text


def sort(call: ProgramCall) -> None:
    """`sort`: `-o` writes, `--compress-program` runs."""
    options = call.options(
        "-o -k -t -S -T --output --key --field-separator --compress-program --files0-from "
        "--parallel --buffer-size --temporary-directory"
    )
    helper = options.get("--compress-program")
    if helper:
        call.doubt("flag.helper", f"runs the helper {helper}")
        call.script(helper)
        call.wrapper = False
    lists = options.all("--files0-from")
    text = stdin_or_files(call, options.rest + listed_in(call, *lists))
    call.out = same_lines(text)
    target = options.get("-o", "--output")
    if target:
        call.write(target, call.out)


def awk(call: ProgramCall) -> None:
    """`awk`: programs may run commands, write and read files."""
    from steersman.governance.guard.code import scan

    options = call.options(
        "-F -v -f -i -l -e --field-separator --assign --file --include --load --source"
    )
    program = options.all("-e", "--source")
    operands = options.rest
    if not program and not options.has("-f", "--file"):
        program, operands = operands[:1], operands[1:]
    for name in options.all("-f", "--file"):
        made = run_content(call, name)
        if made:
            program.append(made)
        elif call.zone(name) is not Zone.INSIDE:
            call.doubt("code.unknown", "runs an unreviewed awk program")
    if options.has("-l", "--load"):
        call.doubt("flag.helper", "loads native code into awk")
    files = [word for word in operands if "=" not in word or "/" in word.split("=")[0]]
    text = stdin_or_files(call, files) if files or call.stdin is not None else ""
    if text and any(
        re.search(r"system\s*\(\s*\$\d|\|\s*getline|print[^|]*\|\s*\"\w*sh\"", p) for p in program
    ):
        call.script(text)
        call.wrapper = False
    call.out = blur(text) if unknown(text) else OUT
    for code in program:
        if unknown(code):
            call.unknown_code = True
            call.doubt("code.unknown", "runs an awk program that is not known from the text")
        made = scan(call.shell, literal(code), "awk")
        if made:
            call.out = made


def split(call: ProgramCall) -> None:
    """`split`, `csplit`: `--filter` runs."""
    options = call.options("-b -l -n -a -C --bytes --lines --filter --number -f --prefix -t")
    text = options.get("--filter")
    if text:
        call.doubt("flag.run", "runs a filter on every part")
        call.script(text)
        call.wrapper = False
    for word in options.rest[:1]:
        call.read(word, quiet=True)
    for word in options.rest[1:2]:
        call.write(word)


def sponge(call: ProgramCall) -> None:
    """`sponge`: standard input into a file."""
    for word in call.args:
        if not word.startswith("-"):
            call.write(word, call.stdin)


# What changes the code that an editor runs from now on: options of the one kind, commands of the
# other.
_EXTENDS = frozenset(
    ("--install-extension", "--uninstall-extension", "--update-extensions", "--add-mcp")
)
_PLUGINS = pattern(
    r"\b(?:Plug(?:Install|Update|Upgrade|Clean)|Packer(?:Sync|Install|Update)|Mason(?:Install|Update)|"
    r"Lazy!?\s+(?:sync|install|update|restore|clean)|TS(?:Install|Update)|Coc(?:Install|Update)|"
    r"(?:Vundle|Plugin)(?:Install|Update|Clean)|(?:plug|dein|minpac|packager)#(?:install|update)|"
    r"package(?:-vc)?-install|package-upgrade|straight-use-package|quelpa)"
)


def code(call: ProgramCall) -> None:
    """`code` and its kin, which can also open the machine to others."""
    if any(word.partition("=")[0] in _EXTENDS for word in call.args):
        call.ask("editor.extend", "changes what the editor runs from now on")
    elif call.args[:1] and call.args[0] in ("tunnel", "serve-web"):
        call.ask("net.listen", "opens this machine to others through the editor")
    else:
        edit(call)


# Editors of other families; all others are kin of vi and follow what comes on standard input.
_OTHERS = frozenset(listed("emacs emacsclient helix hx joe mg micro nano pico"))
_GIVEN = listed("-c --cmd --eval -e -E --funcall -f --remote-send --remote-expr")
_VI_VALUED = "-c --cmd -S -u -U -T -W -w -i --listen --server --remote-send --remote-expr"
_FLAGS = {
    "nvim": f"{_VI_VALUED} -l",
    "kak": "-c -e -E -f -i -p -s -C -ui",
    "micro": "-config-dir -plugin",
    **dict.fromkeys(
        ("emacs", "emacsclient"), "-u -T -s -e --eval -l --load -f --funcall --socket-name -a"
    ),
    **dict.fromkeys(("hx", "helix"), "-c --config -g --grammar --log -w --working-dir"),
}
_AT = r"(?m)(?:^|\|)[\s:]*(?:sil(?:ent)?!?\s+)?[\d,$%.'<>]*"
_SOURCED = pattern(
    _AT + r"(?P<how>luaf(?:ile)?|py[3x]?f(?:ile)?|py(?:thon)?3file|rubyf(?:ile)?|so(?:urce)?)!?\s+"
    r"(?P<file>[^\s|]+)"
)
_SAVED = pattern(
    _AT + r"(?:w(?:q|rite)?|sav(?:eas)?|up(?:date)?|x(?:it)?)!?\s+(?:>>\s*)?(?!q\b|!)([^\s|]+)"
)
_OPENED = pattern(_AT + r"(?:r(?:ead)?|e(?:dit)?|tabe(?:dit)?)!?\s+(?!!)([^\s|]+)")


def edit(call: ProgramCall) -> None:
    """Editors: they write the files they open and follow commands given as options."""
    check_flags(call)
    options = call.options(_FLAGS.get(call.name, _VI_VALUED), single=call.name in ("kak", "micro"))
    files = [(name, "editor") for name in options.all("-S", "-u", "--load")]
    files += [(name, "lua" if call.name == "nvim" else "editor") for name in options.all("-l")]
    if call.name in ("hx", "helix"):
        files += [(name, "editor") for name in options.all("-c", "--config")]
        texts = []
    else:
        texts = options.all(*_GIVEN)
        texts += [word[1:] for word in call.args if word.startswith("+")]
    if (
        call.name not in _OTHERS
        and call.stdin
        and ({"-", "/dev/stdin"} & set(call.args) or feed(call, call.stdin))
    ):
        texts.append(literal(call.stdin))
    if options.has("-plugin"):
        call.ask("editor.extend", "changes what the editor runs from now on")
    for text in filter(None, texts):
        files += _commands(call, text)
    for name, language in files:
        _load(call, name, language)
    for word in options.rest:
        where = call.zone(word)
        if where not in (Zone.INSIDE, Zone.TEMP, Zone.HARMLESS):
            call.write(word)


def _commands(call: ProgramCall, text: str) -> list[tuple[str, str]]:
    """Commands an editor is given; the answer is the files they load, with their languages."""
    from steersman.governance.guard.code import scan

    scan(call.shell, text, "editor")
    if _PLUGINS.search(text):
        call.ask("editor.extend", "changes what the editor runs from now on")
    for found in re.finditer(r"%sh(?=[{(\[])", text) if call.name == "kak" else ():
        call.script(arguments(text, found.end())[1:-1])
        call.wrapper = False
    if call.name in _OTHERS:
        return []
    for found in _SAVED.finditer(text):
        call.write(found[1])
    for found in _OPENED.finditer(text):
        call.read(found[1])
    kinds = {"l": "lua", "p": "python", "r": "ruby"}
    return [
        (found["file"], kinds.get(found["how"][0], "editor")) for found in _SOURCED.finditer(text)
    ]


def _load(call: ProgramCall, name: str, language: str) -> None:
    """A file of commands that an editor follows."""
    if name in ("NONE", "NORC", "DEFAULTS"):
        return
    run_written(call, name, "lua" if name.endswith(".lua") else language)
    known = call.zone(name) is Zone.INSIDE or (name in STDIN and call.stdin)
    if not run_address(call, name) and not known:
        call.doubt("flag.helper", f"loads editor commands from {shown(name)}")
