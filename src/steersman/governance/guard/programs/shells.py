"""Shells and the builtins of a shell: what they evaluate is read in turn."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.effects import remote_code
from steersman.governance.guard.marks import (
    FILE,
    OUT,
    SECRET,
    SHELL,
    TEMP,
    UNSET,
    literal,
    unknown,
)
from steersman.governance.guard.options import listed, skip_options
from steersman.governance.guard.paths import Zone, absolute
from steersman.governance.guard.programs.hosts import LOCAL, host_of
from steersman.records.patterns import pattern

SHELLS = listed("sh bash dash ash zsh ksh mksh fish rbash csh tcsh yash hush posh elvish nu xonsh")
_FORGE = pattern(r"(?:github|gitlab|sourcehut|bitbucket|gist):[\w~]")
_RERUN = pattern(r"\$\(|`")


def run_script(call: ProgramCall, text: str, arguments: list[str], stdin: str | None) -> None:
    """A text is run by a shell: read it, or say that nobody can."""
    call.wrapper = True
    call.scene.plain = False
    if not feed(call, text):
        return
    shell = call.shell.copy()
    shell.arguments = arguments
    shell.stdin = stdin
    shell.via = (*call.shell.via, call.name)
    shell.functions = dict(call.shell.functions)
    shell.variables.pop("IFS", None)  # a new shell splits as usual
    call.out = shell.script(text)


def feed(call: ProgramCall, text: str) -> bool:
    """Say what is wrong with code from somewhere else; False when there is nothing to read."""
    kind = remote_code(text)
    call.unknown_code = call.unknown_code or kind != ""
    if kind == "net":
        call.wrapper = False
        call.block(
            "net.run",
            "runs unreviewed code fetched from the network",
            "Save it to a file in the workspace and read it first.",
        )
    elif kind == "installer":
        call.wrapper = False
        call.doubt(
            "net.installer",
            "runs a well-known installer straight from the network",
            "Save it and read it first.",
        )
    elif kind:
        call.wrapper = False
        call.doubt(
            "code.unknown",
            "runs code that is not known from the text",
            "Show the code, or run a script of the project.",
        )
    return kind in ("", "unknown")


def run_content(call: ProgramCall, name: str) -> str:
    """The code on standard input, or in a file that this line wrote; what comes from the network
    is said, and is not."""
    made = (call.stdin if name == "-" else call.content(name)) or ""
    if remote_code(made) in ("net", "installer"):
        feed(call, made)
        return ""
    return made


def run_written(call: ProgramCall, name: str, language: str) -> None:
    """A file is run as code of a language: read, when this line wrote it."""
    from steersman.governance.guard.code import scan

    made = run_content(call, name)
    if made:
        scan(call.shell, literal(made), language)


def run_address(call: ProgramCall, name: str) -> bool:
    """True when a script is named by an address: what lies there is run unseen."""
    elsewhere = _FORGE.match(name) or ("://" in name and not LOCAL.match(host_of(name)))
    if elsewhere:
        call.block(
            "net.run",
            "runs unreviewed code fetched from the network",
            "Save it to a file in the workspace and read it first.",
        )
    return bool(elsewhere)


def run_file(call: ProgramCall, word: str) -> None:
    """A file is started as a program."""
    if run_address(call, word):
        return
    made = call.content(word)
    if made is not None:
        call.unknown_code = True
        if made.startswith("#!") and re.match(r"#!.*\b(?:python|perl|ruby|node|php)", made):
            from steersman.governance.guard.code import scan

            scan(call.shell, made, "python")
        elif made == "\ue002":
            call.ask("code.unknown", "runs an unreviewed file")
        else:
            run_script(call, made, call.args, call.stdin)
        return
    where = call.zone(word)
    if where is Zone.INSIDE:
        call.unknown_code = True
        if "/.git/" in call.path(word):
            call.doubt("code.unknown", "runs a file from git's own folder")
        return
    call.unknown_code = True
    call.ask("program.outside", "starts a program from outside the workspace that is not known")


# `*.ts(.om[1,5])`: zsh's qualifiers narrow what a glob names; those that run code are left.
_QUALIFIER = pattern(r"(?<=[\w*/.\]>])\([.@/=*%^,:;#\dA-DF-Za-df-z\[\]-]*(?:[+-]\d+)?\)(?<!\(\))")


def shell(call: ProgramCall) -> None:
    """`sh`, `bash` and the like: -c text, a script file, or standard input."""
    letters, rest = _shell_options(call)
    if letters is None:
        return
    if "c" in letters and rest:
        call.shell = call.shell.copy()
        call.shell.variables["0"] = rest[1] if len(rest) > 1 else "bash"
        text = rest[0]
        if call.name in ("zsh", "ksh", "mksh"):
            text = _QUALIFIER.sub("", text)
            call.shell.aliases.setdefault("print", "echo")
        call.script(text, rest[2:], call.stdin)
    elif "s" in letters and call.stdin is None and call.shell.stdin is not None:
        call.script(call.shell.stdin, rest)
    elif "s" in letters or not rest or rest[0] in ("-", "/dev/stdin"):
        _from_stdin(call, rest)
    else:
        _file(call, rest)


def _shell_options(call: ProgramCall) -> tuple[str | None, list[str]]:
    """The letters of a shell's options and what follows; None when nothing would be run."""
    args, at, letters = call.args, 0, ""
    while at < len(args):
        word = args[at]
        if word[:1] not in ("-", "+") or word == "-":
            break
        at += 1
        if word == "--":
            break
        if word in ("--version", "--help", "-n"):
            return None, []
        if word in ("--rcfile", "--init-file") and at < len(args):
            call.script(call.content(args[at]) or "")
            call.doubt("code.unknown", "starts a shell with a start-up file of its own")
            at += 1
        elif word in ("--command", "--init-command"):
            letters += "c"
        elif word in ("-o", "+o", "-O", "+O"):
            at += 1
        elif not word.startswith("--"):
            letters += word[1:]
    return letters, args[at:]


def _from_stdin(call: ProgramCall, rest: list[str]) -> None:
    if call.stdin is None:
        call.ask("shell.interactive", "starts an interactive shell")
        return
    call.script(call.stdin, rest)
    if unknown(call.stdin) or "-i" in call.args:
        call.out = SHELL


def _file(call: ProgramCall, rest: list[str]) -> None:
    call.saw(rest[0])
    made = call.content(rest[0])
    if made is not None and made != FILE:
        call.script(made, rest[1:])
        return
    where = call.zone(rest[0])
    call.unknown_code = True
    if where is Zone.INSIDE and not unknown(rest[0]):
        return
    call.doubt("code.unknown", "runs an unreviewed script from outside the project")


def evaluate(call: ProgramCall) -> None:
    """`eval`: the words, joined, are a script in this very shell."""
    call.wrapper = True
    call.scene.plain = False
    text = " ".join(word for word in call.args if word != "--")
    if feed(call, text):
        kept = call.shell.via
        call.shell.via = (*kept, "eval")
        call.out = call.shell.script(literal(text))
        call.shell.via = kept


def source(call: ProgramCall) -> None:
    """`source` and `.`: a file is run in this shell."""
    args = [word for word in call.args if word != "--"]
    if not args:
        return
    made = call.content(args[0])
    if args[0] in ("/dev/stdin", "/proc/self/fd/0") and call.stdin is not None:
        made = call.stdin
    if made is not None:
        if feed(call, made):
            call.wrapper = True
            call.shell.script(made)
        return
    call.unknown_code = True
    call.saw(args[0])
    where = call.zone(args[0])
    path = call.path(args[0])
    known = re.search(
        r"/(?:\.nvm/nvm\.sh|\.cargo/env|\.bashrc|\.profile|\.zshrc|\.bash_profile"
        r"|bin/activate|\.sdkman/bin/sdkman-init\.sh|etc/profile|etc/os-release)\Z",
        path,
    )
    if path.endswith("/bin/activate"):
        call.shell.variables["VIRTUAL_ENV"] = path.removesuffix("/bin/activate")
    if where is not Zone.INSIDE and not known:
        call.doubt("code.unknown", "sources a file from outside the project")


def execute(call: ProgramCall) -> None:
    """`exec`: the shell becomes another program."""
    rest = skip_options(call.args, "-a")
    if rest:
        call.run(rest, call.stdin)
    call.scene.plain = False


def direct(call: ProgramCall) -> None:
    """`command` and `builtin`: functions and aliases are passed over."""
    rest = skip_options(call.args)
    flags = call.args[: len(call.args) - len(rest)]
    if call.name == "command" and any(re.fullmatch(r"-p?[vV]+p?", flag) for flag in flags):
        located(call)
        return
    if rest:
        call.run(rest, call.stdin, light=True)


def trap(call: ProgramCall) -> None:
    """`trap`: a script for later."""
    rest = [word for word in call.args if word not in ("-p", "-l", "--")]
    if len(rest) > 1 and rest[0] not in ("-", ""):
        call.script(rest[0])
    call.out = ""


def cd(call: ProgramCall) -> None:
    """`cd`, `pushd`, `popd`: the folder changes for what follows."""
    rest = [word for word in call.args if word not in ("-P", "-L", "-e", "--")]
    shell = call.shell
    where = rest[0] if rest else shell.scene.place.home
    old = shell.cwd
    if where == "-" or call.name == "popd":
        shell.cwd, shell.before = shell.before, old
        return
    shell.cwd, shell.before = absolute(where, old, shell.scene.place.home), old
    if unknown(shell.cwd) and TEMP not in shell.cwd:
        shell.cwd = OUT
    call.out = ""
    if TEMP in shell.cwd:
        shell.cwd = "/tmp/" + TEMP


def set_(call: ProgramCall) -> None:
    """`set --`: the positional parameters."""
    if "--" in call.args:
        call.shell.arguments = call.args[call.args.index("--") + 1 :]
    elif call.args and not call.args[0].startswith(("-", "+")):
        call.shell.arguments = list(call.args)
    call.out = SECRET if not call.args else ""


def shift(call: ProgramCall) -> None:
    """`shift`."""
    count = int(call.args[0]) if call.args and call.args[0].isdigit() else 1
    call.shell.arguments = call.shell.arguments[count:]


def alias(call: ProgramCall) -> None:
    """`alias`: another name for a command line."""
    for word in call.args:
        name, equals, text = word.partition("=")
        if equals:
            call.shell.aliases[name] = text
            call.shell.copy().script(text)
    call.out = ""


def hash_(call: ProgramCall) -> None:
    """`hash -p`: a name is bound to a program."""
    if call.args[:1] == ["-p"] and len(call.args) > 2:
        call.scene.plain = False
        for name in call.args[2:]:
            call.shell.aliases[name] = call.args[1]
    else:
        call.inert = True


def read(call: ProgramCall) -> None:
    """`read`, `mapfile`: variables from standard input."""
    many = call.name in ("mapfile", "readarray")
    options = call.options("-d -n -O -s -u -C -c" if many else "-a -d -i -n -N -p -t -u")
    text = call.stdin if call.stdin is not None else UNSET
    for word in options.rest:
        if _RERUN.search(word):
            call.shell.reveal(word)
    blanks = call.shell.variables.get("IFS")
    border = f"[{re.escape(blanks)}]" if isinstance(blanks, str) and blanks else r"\s+"
    array = options.get("-a")
    if many:
        name = options.rest[0] if options.rest else "MAPFILE"
        call.shell.variables[name] = text.rstrip("\n").split("\n")
        if options.get("-C"):
            call.script(options.get("-C") or "")
        return
    if array:
        line = text.strip("\n").split("\n")[0]
        call.shell.variables[array] = [part for part in re.split(border, line) if part]
        return
    names = options.rest or ["REPLY"]
    line = text.strip("\n").split("\n")[0].strip()
    parts = re.split(border, line, maxsplit=len(names) - 1) if len(names) > 1 else [line]
    for at, name in enumerate(names):
        call.shell.variables[name] = parts[at] if at < len(parts) else ""
    call.out = ""


def again(call: ProgramCall) -> None:
    """`let`, `unset`, `test -v`: a subscript in the words is expanded once more."""
    call.out = ""
    for word in call.args:
        if _RERUN.search(word):
            call.shell.reveal(word)


def test(call: ProgramCall) -> None:
    """`test` and `[`: conditions; files are looked at, not read."""
    again(call)


def quiet(call: ProgramCall) -> None:
    """Builtins that change nothing outside the shell."""
    call.out = ""


def located(call: ProgramCall) -> None:
    """`which`, `command -v`, `type -p`: where a program lies."""
    words = [word for word in call.args if not word.startswith("-")]
    call.out = "".join(f"/usr/bin/{word}\n" for word in words)
    call.inert = True


def repeat_loop(call: ProgramCall) -> None:
    """`repeat N command` of zsh, and words that only begin a group."""
    call.run(call.args[1:] if call.name == "repeat" else call.args, call.stdin)


def enable(call: ProgramCall) -> None:
    """`enable -f`: a builtin from a shared object."""
    if "-f" in call.args:
        call.doubt("code.unknown", "loads native code into the shell")


def bind(call: ProgramCall) -> None:
    """`bind -x`, `complete -C`: commands run when keys are pressed."""
    options = call.options("-x -C -F -f -q -u -r -m -W -A -G -P -S -X -o")
    for text in options.all("-x", "-C"):
        call.script(text.split(":", 1)[-1].strip(" \"'"))


def history(call: ProgramCall) -> None:
    """`history`, `fc`: what was typed before."""
    call.out = FILE
    if "-s" in call.args and call.name == "history":
        call.script(" ".join(call.args[call.args.index("-s") + 1 :]))
    if "-c" in call.args or "-w" in call.args:
        call.ask("history.clear", "changes the shell's history")
    if call.name == "fc" and ("-s" in call.args or "-e" in call.args):
        call.ask("code.unknown", "runs a command from the history")


def repeat(call: ProgramCall) -> None:
    """`!!` and the like: nobody knows what was typed before."""
    call.unknown_code = True
    call.doubt("code.unknown", "repeats a command that is not known from the text")


def coproc(call: ProgramCall) -> None:
    """`coproc [NAME] command`."""
    args = call.args
    if len(args) > 1 and args[1] in ("{", "(", "((", "[[", "while", "until", "for", "if", "case"):
        args = args[1:]
    call.run(args, call.stdin)
