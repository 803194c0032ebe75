"""Interpreters: inline code is read, scripts of the project are trusted, the rest is doubted."""

import re
from urllib.parse import unquote

from steersman.governance.guard.call import STDIN, ProgramCall
from steersman.governance.guard.code import scan
from steersman.governance.guard.code_patterns import NETWORK
from steersman.governance.guard.code_services import scripted
from steersman.governance.guard.marks import DEEP, FILE, NET, OUT, literal, shown, unknown
from steersman.governance.guard.options import listed, read_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.serving import SERVERS, serve
from steersman.governance.guard.programs.shells import feed, run_address, run_written
from steersman.governance.guard.programs.speech_table import (
    ALIASES,
    CONSOLES,
    MODULES_SAFE,
    SPEECHES,
    UTILITIES,
    Speech,
)
from steersman.records.patterns import pattern

# Options by which an interpreter finds what it runs in the project by itself.
_ALIAS = pattern(r"-[MXTA]:\w")
_TESTS_ITSELF = frozenset(listed("--test --test-only --experimental-test-coverage --run"))


def coverage(call: ProgramCall) -> None:
    """`coverage run …`: Python with a measurement."""
    if call.args[:1] == ["run"]:
        rest = call.args[1:]
        while rest and rest[0].startswith("-") and rest[0] not in ("-m", "--"):
            rest = rest[1:]
        call.run(["python3", *rest], call.stdin, light=True)


def interpreter(call: ProgramCall) -> None:
    """Code given inline, on standard input, as a module, or as a file."""
    name = (
        call.name
        if call.name in SPEECHES or call.name in ALIASES
        else call.name.rstrip("0123456789.")
    )
    speech = SPEECHES[ALIASES.get(name, name)]
    args = call.args
    if any(word in ("--version", "-V", "--help", "-v", "-h") for word in args[:1]):
        return
    if speech.language == "cmd":
        _cmd(call)
        return
    codes, rest, options = _inline(speech, args)
    if speech.language == "gdb" and {"-p", "--pid", "attach"} & set(args):
        call.doubt("debug.attach", "inspects another process")
    _loads(call, speech, options)
    inside = bool(codes or rest)
    if "-S" in options and speech.language == "php":
        serve(call, "php", args)
    elif "un" in options.get("-r", ()) and codes == ["httpd"]:
        serve(call, "httpd.rb", rest)
    elif codes and (utility := _utility(codes[0], options)):
        call.run([*utility, *rest], call.stdin)
    elif codes:
        _codes(call, speech, codes, rest, options)
    elif speech.language == "python" and options.get("-m"):
        _module(call, options["-m"][-1], rest)
    elif not rest and (_TESTS_ITSELF & set(args) or any(_ALIAS.match(word) for word in args)):
        call.unknown_code = True
    elif not rest or rest[0] in ("-", *STDIN):
        run_stdin(call, speech.language)
        inside = False
    else:
        _file(call, speech, rest)
    stays = speech.stays or "-i" in options
    if stays and inside and call.stdin and not {"-batch", "--batch", "--script"} & set(args):
        run_stdin(call, speech.language)


def _utility(code: str, options: dict[str, list[str]]) -> list[str]:
    """`ruby -run -e rm`, `perl -MExtUtils::Command -e rm_rf`: the utility this is."""
    word = code.strip().rstrip("();")
    for library in options.get("-r", []) + options.get("-M", []):
        known = UTILITIES.get(library.partition("=")[0], {})
        if word in known:
            return (known[word] or word).split()
    return []


def _loads(call: ProgramCall, speech: Speech, options: dict[str, list[str]]) -> None:
    """Code that comes before the code: libraries, debugger scripts, a program to debug."""
    args = call.args
    for flag in ("-I", "-r", "-M", "-L", "-l"):
        for name in options.get(flag, []):
            if name.startswith(("/", "~")) and call.zone(name) not in (Zone.INSIDE, Zone.SYSTEM):
                call.doubt("flag.helper", f"loads code from {shown(name)} first")
    for name in [value for values in options.values() for value in values]:
        if name.startswith("data:"):
            scan(call.shell, unquote(name.split(",", 1)[-1]), speech.language)
        elif re.match(r"lib=(?:/tmp|/var/tmp|/dev/shm|~|\.\.)", name):
            call.doubt("flag.helper", f"loads code from {shown(name[4:])} first")
    if "--args" in args:
        call.run(args[args.index("--args") + 1 :], None)
        call.wrapper = False
    for name in options.get("-x", []) if speech.language == "gdb" else []:
        run_written(call, name, "gdb")
        if call.zone(name) is not Zone.INSIDE:
            call.doubt("flag.helper", f"runs debugger commands from {shown(name)}")
    for name in (
        options.get("-r", [])
        + options.get("--require", [])
        + options.get("--import", [])
        + options.get("--loader", [])
    ):
        if (
            name
            and ("/" in name)
            and call.zone(name) not in (Zone.INSIDE,)
            and speech.language == "node"
        ):
            call.doubt("flag.helper", f"loads {shown(name)} first")


def _inline(speech: Speech, args: list[str]) -> tuple[list[str], list[str], dict[str, list[str]]]:
    """Code options may end a bundle (`-ne 'code'`); what follows code is its arguments."""
    names = speech.inline.split()
    if args[:1] == ["eval"] and "eval" in names:
        return args[1:2], args[2:], {}
    codes: list[str] = []
    options: dict[str, list[str]] = {}
    at = 0
    while at < len(args):
        word = args[at]
        at += 1
        if word == "--" or len(word) < 2 or word[0] != "-":
            return codes, args[at - (word != "--") :], options
        name, equals, value = word.partition(":" if speech.language == "nim" else "=")
        short = not word.startswith("--") and not speech.single
        if word in names and at < len(args):
            codes.append(args[at])
            at += 1
        elif equals and name in names:
            codes.append(value)
        elif (
            short
            and len(word) > 2
            and "-" + word[-1] in names
            and at < len(args)
            and "-" + word[1] not in speech.valued.split()
        ):
            codes.append(args[at])
            options.setdefault(word, []).append("")
            at += 1
        elif short and "-" + word[1] in names:
            codes.append(word[2:])
        elif name in speech.valued.split() and not equals and at < len(args):
            options.setdefault(name, []).append(args[at])
            at += 1
        elif short and word[:2] in speech.valued.split():
            options.setdefault(word[:2], []).append(word[2:])
        else:
            options.setdefault(name, []).append(value)
        if speech.language == "python" and (codes or "-m" in options):
            return codes, args[at:], options
    return codes, [], options


# Code that runs what it reads: `system $_`, `os.system(input())`.
_RUNS_INPUT = pattern(
    r"(?:system|exec|eval|popen|qx|spawn|run|execSync|shell_exec)\b[\s({\[\"']*(?:\$_|\$0|\$line|gets|"
    r"input\(|sys\.stdin|STDIN|\$stdin|ARGF|readline|_)\b"
)


def _codes(
    call: ProgramCall,
    speech: Speech,
    codes: list[str],
    rest: list[str],
    options: dict[str, list[str]],
) -> None:
    loaded = [name for flag in ("-M", "-r", "-l") for name in options.get(flag, [])]
    uses = "".join(f"use {name};\n" for name in loaded if NETWORK.search(name) or name == "CPAN")
    for code in codes:
        if unknown(code):
            if not feed(call, code):
                continue
            call.unknown_code = True
        text = uses + literal(code)
        made = _read(call, text, speech.language)
        if speech.language == "osa":
            scripted(call.shell, text)
        call.out = made or OUT
        if call.stdin and _RUNS_INPUT.search(text):
            call.script(call.stdin)
            call.wrapper = False
        if (
            call.stdin
            and "\ue003" in call.stdin
            and re.search(r"socket|http|urlopen|requests", text)
        ):
            call.block("exfil.code", "sends credentials over the network")
    in_place = any(re.match(r"-\w*i", flag) for flag in options) and speech.language in (
        "perl",
        "ruby",
    )
    for word in rest if speech.language in ("perl", "ruby") else ():
        if in_place:
            call.write(word, FILE)
        elif any("n" in flag or "p" in flag for flag in options):
            call.read(word)


def _module(call: ProgramCall, name: str, rest: list[str]) -> None:
    top = name.split(".", maxsplit=1)[0]
    call.shell = call.shell.copy()
    if "/bin/" in call.words[0]:
        call.shell.variables["VIRTUAL_ENV"] = call.path(call.words[0]).rpartition("/bin/")[0]
    name = "pip" if top == "pip" else name
    if name in SERVERS or top in SERVERS:
        serve(call, name if name in SERVERS else top, rest)
    elif name in (
        "pip",
        "pytest",
        "ruff",
        "mypy",
        "black",
        "flake8",
        "pylint",
        "tox",
        "nox",
        "twine",
        "alembic",
        "pipx",
        "pre_commit",
        "uv",
        "gunicorn",
        "uvicorn",
        "isort",
    ):
        call.run([name.replace("_", "-"), *rest], call.stdin, light=True)
    elif name in MODULES_SAFE or top in MODULES_SAFE:
        _module_code(call, top, rest)
        if top in ("coverage", "pdb", "cProfile", "trace") and rest:
            tail = [word for word in rest if not word.startswith("-")]
            if tail[:1] == ["run"]:
                tail = tail[1:]
            if "-m" in rest:
                _module(
                    call,
                    rest[rest.index("-m") + 1 : rest.index("-m") + 2][0]
                    if rest[-1] != "-m"
                    else "",
                    [],
                )
            elif tail:
                _file(call, SPEECHES["python"], tail)
    elif name in ("twine", "alembic", "poetry", "awscli", "ansible", "pipx"):
        call.run([name, *rest], call.stdin)
    elif name in ("smtpd", "ftplib", "telnetlib", "xmlrpc.server"):
        call.ask("net.listen", "uses the network")
    else:
        call.unknown_code = True
        run_written(call, name.replace(".", "/") + ".py", "python")


def _module_code(call: ProgramCall, top: str, rest: list[str]) -> None:
    """Modules that are given code or a place to unpack to."""
    options = read_options(rest, "-c -s -n -r -p -u --command --setup --extract -e")
    codes = options.all("-c", "-s", "--command", "--setup") if top in ("pdb", "timeit") else []
    codes += options.rest if top == "timeit" else []
    for code in codes:
        scan(call.shell, code.lstrip("!"), "python")
    if top in ("zipfile", "tarfile") and options.has("-e", "--extract"):
        for folder in options.rest[-1:]:
            if call.zone(folder) not in (Zone.INSIDE, Zone.TEMP, Zone.WORKSPACE):
                call.write(folder + "/unpacked", FILE)


_SHELL_LINE = pattern(r"(?m)^\s*(?:\w+\s*=\s*)?(?:!!?|%sx\s|%system\s)(.+)$")


def run_stdin(call: ProgramCall, language: str) -> None:
    """An interpreter runs its standard input."""
    if call.stdin is None:
        call.ask("shell.interactive", "starts an interactive interpreter")
    elif feed(call, call.stdin):
        _read(call, literal(call.stdin), language)


def console(call: ProgramCall) -> None:
    """The console of a program that is more than an interpreter."""
    language, starts = CONSOLES[call.name]
    words = " ".join(word for word in call.args if word == "-" or word[:1] != "-")
    if any(words == start or (start and words.startswith(start + " ")) for start in starts):
        run_stdin(call, language)


def _read(call: ProgramCall, text: str, language: str) -> str:
    """Read code; lines of IPython that are a shell's go to the shell."""
    if call.name.startswith("ipython"):
        for found in _SHELL_LINE.finditer(text):
            call.script(found[1])
            call.wrapper = False
        text = _SHELL_LINE.sub("", text)
    return scan(call.shell, text, language)


def _file(call: ProgramCall, speech: Speech, rest: list[str]) -> None:
    if run_address(call, rest[0]):
        return
    made = call.content(rest[0])
    call.saw(rest[0])
    base = rest[0].rsplit("/", 1)[-1]
    if base in ("manage.py", "artisan", "rails", "rake", "django-admin"):
        call.run([base, *rest[1:]], call.stdin)
        return
    if base == "setup.py" and {"install", "upload", "register", "develop"} & {*rest[1:]}:
        call.ask("pkg.install", "installs or publishes the package")
    call.unknown_code = True
    if rest[0] == "run" and call.name in ("bun", "deno"):
        return
    if made is not None and made != FILE:
        if feed(call, made):
            scan(call.shell, made, speech.language)
        return
    if speech.language == "gdb":
        return
    if call.name in ("bun",):
        from steersman.governance.guard.programs.verbs import by_table

        by_table(call)
        return
    where = call.zone(rest[0])
    if where is not Zone.INSIDE or unknown(rest[0].replace(DEEP, "")):
        call.doubt("code.unknown", "runs an unreviewed script from outside the project")


def _cmd(call: ProgramCall) -> None:
    at = next((n for n, word in enumerate(call.args) if word.lower() in ("/c", "/k")), None)
    text = " ".join(call.args[at + 1 :]) if at is not None else ""
    scan(call.shell, text, "powershell")
    if _CMD_LOOKS.match(text) and not re.search(r"[&|<>^]", text):
        return
    call.ask("program.unknown", "runs a Windows command")


_CMD_LOOKS = pattern(
    r"(?i)\s*(?:ver|dir|echo|type|where|whoami|hostname|set|vol|tree|ipconfig(?: /all)?|tasklist|"
    r"path|systeminfo|cd|chdir|assoc|help)(?:\s[^\\]*)?\Z"
)


def compiler(call: ProgramCall) -> None:
    """`gcc` and the like: source on standard input, plugins, wrappers."""
    options = read_options(
        call.args,
        "-o -x -I -L -l -D -include -wrapper -B -specs -MF -MT -isystem -T --param -std -march",
        True,
    )
    for name in options.all("-print-file-name", "--print-file-name"):
        call.out = f"/usr/lib/{name}\n"
    for flag, values in options.flags.items():
        if flag in ("-wrapper",):
            call.doubt("flag.run", "runs a wrapper")
            for value in values:
                call.script(value.replace(",", " "))
        elif flag in ("-fplugin", "-B", "-specs", "--specs", "-fuse-ld", "--ld-path") and values[
            -1
        ].startswith("/"):
            call.doubt("flag.helper", f"loads {shown(values[-1])} into the compiler")
    for name in options.all("-o"):
        call.write(name, _body(call, options.rest))
    for word in options.rest:
        call.read(
            word, quiet=word != "-" and not call.path(word).startswith(("/etc/shadow", "/root"))
        )
    if call.stdin and not unknown(call.stdin):
        scan(call.shell, call.stdin, "c")


def _body(call: ProgramCall, sources: list[str]) -> str:
    """What a compiler makes: as well known as its sources, which are read elsewhere."""
    made = [call.content(name) for name in sources]
    if any(text and NET in text for text in made):
        return NET
    known = all(
        text or call.zone(name) is Zone.INSIDE for name, text in zip(sources, made, strict=True)
    )
    return ":" if call.stdin is not None or (sources and known) else FILE
