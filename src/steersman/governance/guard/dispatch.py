"""From the words of a command to the program that knows them."""

import re
from typing import TYPE_CHECKING

from steersman.governance.guard.call import Call
from steersman.governance.guard.marks import KNOWN_NET, NET, glob_pattern, globbed, shown, unknown
from steersman.governance.guard.net import last_look
from steersman.governance.guard.options import listed
from steersman.governance.guard.paths import Zone, neighbour
from steersman.governance.guard.programs import HANDLERS, RISKY
from steersman.governance.guard.programs.shells import run_file

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell

_ASSIGN = re.compile(r"[A-Za-z_]\w*=")


def run_words(
    words: list[str], shell: "Shell", stdin: str | None, sinks: list[tuple[str, bool]]
) -> str:
    """Judge one command; the answer is what it would print."""
    call = Call(words, shell, stdin)
    if not call.scene.step():
        return call.out
    body = shell.functions.get(words[0])
    if body is not None and words[0] not in shell.calling and shell.depth < 8:
        return _function(shell, words, stdin)
    alias = shell.aliases.get(words[0])
    if alias is not None and words[0] not in shell.calling:
        inner = shell.copy()
        inner.calling = (*shell.calling, words[0])
        return inner.script(" ".join([alias, *(_quoted(word) for word in call.args)]))
    if unknown(words[0]) or globbed(words[0]):
        _puzzle(call)
    else:
        _start(call)
        if not call.wrapper:
            last_look(call)
    for path, append in sinks:
        call.write(path, call.out, append=append)
        if not append and neighbour(call.path(path), call.place):
            call.block("fs.write-neighbour", f"overwrites another project's file: {shown(path)}")
    call.done()
    return call.out


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


def _start(call: Call) -> None:
    word = call.words[0]
    if word[:1] == "=" and HANDLERS.get(word[1:]):
        call.doubt("shape.zsh", "means something else in another shell")
        call.name = word[1:]
    if word.startswith("zf_"):
        call.name = word[3:]
    _cloned(call)
    handler = HANDLERS.get(call.name)
    if "/" in word and (handler is None or call.content(word) is not None or _local(call, word)):
        if handler is None or call.name not in _FRONTS:
            run_file(call, word)
            return
    if handler is None:
        name = call.name.removesuffix(".exe").lower() if call.name.endswith(".exe") else call.name
        for other in (name, name.rstrip("0123456789."), name.lower()):
            if other in HANDLERS:
                handler, call.name = HANDLERS[other], other
                break
    if handler is None:
        call.unknown_code = True
        call.ask(
            "program.unknown",
            "starts a program this guard does not know",
            "Use a known tool, or ask the user.",
        )
        return
    handler(call)


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


def _cloned(call: Call) -> None:
    """Building or running in a folder that was just fetched from a host nobody vouches for."""
    if call.name in _BUILDERS or call.words[0].startswith("./"):
        folder = call.shell.cwd
        if NET in call.scene.files.get(folder, ""):
            call.block("net.run", "builds or runs what was just fetched from an unknown host")
    elif call.name == "make" and "-C" in call.args:
        call.allow()


def _local(call: Call, word: str) -> bool:
    return call.zone(word) in (Zone.INSIDE, Zone.TEMP) and "/bin/" not in word


def _puzzle(call: Call) -> None:
    """A program word that is not fully known: try what it may be."""
    word = call.words[0]
    if globbed(word) and not unknown(word):
        pattern = glob_pattern(word.rsplit("/", 1)[-1])
        for name in RISKY:
            if pattern.match(name):
                call.scene.plain = False
                shadow = Call([name, *call.args], call.shell, call.stdin)
                HANDLERS[name](shadow)
                call.out = shadow.out
                break
    call.unknown_code = True
    if NET in word or KNOWN_NET in word:
        call.block("net.run", "runs what was fetched from the network as a command")
        return
    call.doubt(
        "program.hidden",
        "starts a program whose name is not known from the text",
        "Write the program's name out.",
    )
    if unknown(word) and call.args:
        _guess(call)


def _guess(call: Call) -> None:
    """`$X -rf /`: with arguments only a deletion makes sense of, take it for one."""
    flags = [word for word in call.args if word.startswith("-")]
    if any(re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*", word) for word in flags):
        shadow = Call(["rm", *call.args], call.shell, call.stdin)
        HANDLERS["rm"](shadow)


__all__ = ["_ASSIGN", "run_words"]
