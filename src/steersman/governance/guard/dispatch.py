"""From the words of a command to the program that knows them."""

import re
from typing import TYPE_CHECKING

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import (
    KNOWN_NET,
    NET,
    OUT,
    SECRET,
    glob_pattern,
    globbed,
    literal,
    shown,
    unknown,
)
from steersman.governance.guard.net import last_look
from steersman.governance.guard.options import listed
from steersman.governance.guard.paths import Zone, neighbour
from steersman.governance.guard.programs import handler_of, known
from steersman.governance.guard.programs.speech_table import CONSOLES
from steersman.governance.guard.redirects import Sinks, write_sinks
from steersman.records.patterns import pattern
from steersman.records.runners import manifests

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell


def run_words(
    words: list[str],
    shell: "Shell",
    stdin: str | None,
    sinks: Sinks,
    reads: list[str],
) -> str:
    """Judge one command with the files redirected to and from it; the answer is its output."""
    call = ProgramCall(words, shell, stdin)
    for path in reads:
        call.saw(path)
    if not call.scene.step():
        return call.out
    if words == [""] and shell.calling:  # `"$@"` while a function is defined starts nothing
        write_sinks(shell, sinks, "")
        return ""
    body = shell.functions.get(words[0])
    alias = shell.aliases.get(words[0])
    if body is not None and words[0] not in shell.calling and shell.depth < 8:
        made = _function(shell, words, stdin)
        write_sinks(shell, sinks, made)
        return made
    if alias is not None and words[0] not in shell.calling:
        inner = shell.copy()
        inner.calling = (*shell.calling, words[0])
        made = inner.script(" ".join([alias, *(_quoted(word) for word in call.args)]))
        write_sinks(shell, sinks, made)
        return made
    if unknown(words[0]) or globbed(words[0]):
        _puzzle(call)
    else:
        _start(call)
        if call.stdin == SECRET and call.scene.environments:
            _names_only(call)
        _given_code(call)
        if not call.wrapper:
            last_look(call)
    call.out = call.scene.fit(call.out)
    for path, append in sinks:
        call.write(path, call.out, append=append)
        if not append and neighbour(call.path(path), call.place):
            call.block("fs.write-neighbour", f"overwrites another project's file: {shown(path)}")
    call.done()
    return call.out


def _given_code(call: ProgramCall) -> None:
    """Code that a program gets from this line beside its words."""
    if call.stdin and call.name in CONSOLES:
        from steersman.governance.guard.programs.interpreters import console

        console(call)
    if call.scene.files and (call.name in _OTHER_RUNNERS or call.name in manifests()):
        from steersman.governance.guard.programs.sources import read_sources

        read_sources(call)


# Filters that keep the names of variables, or no text at all.
_NAMES = {
    "cut": pattern(r"(?:-d ?=|--delimiter[= ]=) (?:-f ?1|--fields[= ]1)|(?:-f ?1) -d ?="),
    "awk": pattern(r"-F ?= \{ ?print \$1;? ?\}"),
    "sed": pattern(r"(?:-[rE] )?s([/|,#])=\.\*\$?\1\1g?"),
    "wc": pattern(r"(?:-[lcwm])?"),
    "grep": pattern(r"-[a-zA-Z]*[cq][a-zA-Z]* .*"),
}


def _names_only(call: ProgramCall) -> None:
    """`env | cut -d= -f1`: no value of the environment is shown after all."""
    fits = _NAMES.get({"gawk": "awk", "mawk": "awk", "egrep": "grep"}.get(call.name, call.name))
    if fits is not None and fits.fullmatch(literal(" ".join(call.args))):
        call.scene.environments.pop()
        call.out = OUT


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _function(shell: "Shell", words: list[str], stdin: str | None) -> str:
    kept = shell.arguments, shell.calling
    shell.arguments, shell.calling = words[1:], (*shell.calling, words[0])
    shell.depth += 1
    made = shell.visit(shell.functions[words[0]], stdin)
    shell.depth -= 1
    shell.arguments, shell.calling = kept
    return made


def _start(call: ProgramCall) -> None:
    word = call.words[0]
    if word[:1] == "=" and known(word[1:]):
        call.doubt("shape.zsh", "means something else in another shell")
        call.name = word[1:]
    if word.startswith("zf_"):
        call.name = word[3:]
    _cloned(call)
    handler = handler_of(call.name)
    front = handler is not None and call.name in _FRONTS
    if (
        "/" in word
        and not front
        and (handler is None or call.content(word) is not None or _local(call, word))
    ):
        from steersman.governance.guard.programs.shells import run_file

        run_file(call, word)
        return
    if handler is None:
        for other in _other_names(call.name):
            handler = handler_of(other)
            if handler is not None:
                call.name = other
                break
    if handler is None:
        if _only_asks(call.args):
            return
        call.unknown_code = True
        call.ask(
            "program.unknown",
            "starts an unknown program",
            "Use a known tool, or ask the user.",
        )
        return
    if call.args not in (["--help"], ["--version"]):
        handler(call)


# `arm-none-eabi-objdump`, `x86_64-linux-gnu-gcc-13`, `llvm-nm`
_CROSS = pattern(
    r"[\w.-]+-(gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|gfortran|ld|as|ar|nm|objdump|objcopy|size|strings|"
    r"strip|readelf|ranlib|addr2line|gdb|gcov|c\+\+filt)\Z"
)


def _other_names(name: str) -> list[str]:
    """What a program nobody knows by this name may be: a Windows one, one with its version, one
    for another machine."""
    plain = name.removesuffix(".exe").lower() if name.endswith(".exe") else name
    made = [plain, plain.rstrip("0123456789."), plain.lower()]
    without = re.sub(r"-\d[\d.]*\Z", "", plain)
    cross = _CROSS.match(without)
    if plain.startswith("qemu-system-"):
        made.append("qemu-system")
    elif plain.startswith("qemu-"):
        made.append("qemu-user")
    return [*made, without, cross[1]] if cross else [*made, without]


_TELLS = frozenset(
    listed(
        """--version -V version --help help status list ls info validate lint doctor whoami check
        verify inspect describe show diff plan logs history"""
    )
)
_ACTS = pattern(
    r"(?i).*(?:delet|remov|destr|drop|purge|reset|wipe|apply|push|publish|deploy|send|upload|exec|eval|"
    r"create|kill|stop|start|install|login|auth|secret|token|passw|cred|key|force|write|save|fix|--yes|"
    r"://|listen|serve|expose|root|sudo|run|-y\Z|-f\Z)"
)
_PLAIN = pattern(r"(?![/~])(?!.*\.\.)[\w./@=:,-]+\Z")


def _only_asks(args: list[str]) -> bool:
    """True when even a program nobody knows is only asked for its version, help or state, or
    about a file of the project."""
    verbs = [
        word for word in args if not word.startswith("-") or word in ("--version", "--help", "-V")
    ]
    return any(word in _TELLS for word in verbs[:2]) and all(
        _PLAIN.match(word) and not _ACTS.match(word) for word in args
    )


# Programs that build, test or start what the project's files say, whatever these are called.
_OTHER_RUNNERS = frozenset(
    listed(
        """rustc gcc g++ cc c++ clang clang++ tcc javac java kotlinc kotlin scala scalac groovy
        swift swiftc zig nim crystal ghc runghc runhaskell stack cabal dotnet csc mcs dmd rdmd
        ldc2 dub dart flutter ts-node elixir mix julia ocaml dune pytest jest vitest mocha rspec
        phpunit prove busted ctest ninja rails gradlew mvnw nix nix-build nix-shell wasmtime wasmer
        mono nerdctl"""
    )
)
# Programs a project carries itself, whose subcommands say what they do.
_FRONTS = frozenset(
    listed(
        """rails rake manage.py artisan gradlew mvnw prisma sequelize knex typeorm drizzle-kit
        alembic flask rimraf console symfony phinx mix terraform wrangler vercel firebase"""
    )
)
_BUILDERS = frozenset(
    listed(
        """make npm yarn pnpm bun pip pip3 python python3 cargo go gradle mvn cmake bash sh node
        ruby rake bundle composer docker just ninja meson sbt tox pytest npx uv poetry
        perl php"""
    )
)


def _cloned(call: ProgramCall) -> None:
    """Building or running in a folder that was just fetched from an unknown host."""
    if call.name in _BUILDERS or call.words[0].startswith("./"):
        folder = call.shell.cwd
        above = folder.rpartition("/")[0]
        files = call.scene.files
        if NET in files.get(folder, "") or NET in files.get(above, ""):
            call.block("net.run", "builds or runs what was just fetched from an unknown host")


def _local(call: ProgramCall, word: str) -> bool:
    return call.zone(word) in (Zone.INSIDE, Zone.TEMP) and "/bin/" not in word


_RISKY = listed(
    """rm dd shred mkfs bash sh curl wget nc mv cp chmod chown kill sudo python3 perl find cat tee
    reboot shutdown rmdir unlink"""
)


def _puzzle(call: ProgramCall) -> None:
    """A program word that is not fully known: try what it may be."""
    word = call.words[0]
    if globbed(word) and not unknown(word):
        pattern = glob_pattern(word.rsplit("/", 1)[-1])
        for name in _RISKY:
            if pattern.match(name):
                call.scene.plain = False
                shadow = ProgramCall([name, *call.args], call.shell, call.stdin)
                _judge(shadow)
                call.out = shadow.out
                break
    call.unknown_code = True
    if NET in word or KNOWN_NET in word:
        call.block("net.run", "runs what was fetched from the network as a command")
        return
    call.doubt(
        "program.hidden",
        "starts a program whose name is not known from the text",
        "Write the program's name in plain text.",
    )
    if unknown(word) and call.args:
        _guess(call)


def _guess(call: ProgramCall) -> None:
    """`$X -rf /`: with arguments only a deletion makes sense of, take it for one."""
    flags = [word for word in call.args if word.startswith("-")]
    if any(re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*", word) for word in flags):
        shadow = ProgramCall(["rm", *call.args], call.shell, call.stdin)
        _judge(shadow)


def _judge(call: ProgramCall) -> None:
    """A call of a program that is known by name."""
    handler = handler_of(call.name)
    if handler is not None:
        handler(call)
