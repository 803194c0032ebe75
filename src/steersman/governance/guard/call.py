"""One simple command while it is read: its words, what goes in and out, and what it would touch."""

from typing import TYPE_CHECKING

from steersman.governance.guard.effects import judge_delete, judge_read, judge_write
from steersman.governance.guard.looks import names_its_writes
from steersman.governance.guard.marks import OUT, globbed, literal, shown, unknown
from steersman.governance.guard.options import Options, may_name, read_options
from steersman.governance.guard.paths import Zone, absolute, zone
from steersman.governance.guard.scene import ASK, BLOCK, BREAK, sentence
from steersman.records.judgement import Fact

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell

STDIN = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


class ProgramCall:
    """A program about to be started, as far as its text shows."""

    def __init__(self, words: list[str], shell: "Shell", stdin: str | None) -> None:
        self.words = words
        self.name = literal(words[0]).rsplit("/", 1)[-1]
        self.args = words[1:]
        self.shell = shell
        self.scene = shell.scene
        self.place = shell.scene.place
        self.stdin = stdin
        self.out = OUT
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.deletes: list[str] = []
        self.network: list[str] = []
        self.patterns: list[str] = []
        self.places: list[str] = []
        self.remote = ""
        self.unknown_code = False
        self.wrapper = False
        self.inert = False  # its words are names it looks up; none is run

    # ---- what is said about it

    def ask(self, rule: str, why: str, instead: str = "") -> None:
        """Someone should look at this."""
        self.scene.note(ASK, rule, f"`{sentence(self.words)}` {why}.", instead)

    def doubt(self, rule: str, why: str, instead: str = "") -> None:
        """As `ask`, about something no rule on prefixes may wave through."""
        self.scene.plain = False
        self.ask(rule, why, instead)

    def block(self, rule: str, why: str, instead: str = "") -> None:
        """This must not happen."""
        self.scene.note(BLOCK, rule, f"`{sentence(self.words)}` {why}.", instead)

    def breaker(self, rule: str, why: str, instead: str = "") -> None:
        """This must not happen, whatever the settings."""
        self.scene.note(BREAK, rule, f"`{sentence(self.words)}` {why}.", instead)

    # ---- its words

    def options(self, valued: str = "", *, single: bool = False) -> Options:
        """Its options and operands; `valued` names the options that take a value."""
        return read_options(self.args, valued, single)

    def path(self, text: str, *, last: bool = True) -> str:
        """An operand as an absolute path; `last` is off for what is done to a link itself."""
        cwd, links = self.shell.cwd, self.scene.links
        path = absolute(text, cwd, self.place.home)
        self._place(text)
        if not links or not path.startswith("/"):
            return path
        from steersman.governance.guard.links import followed

        return followed(text if text.startswith("/") else f"{cwd}/{text}", links, last=last)

    def _place(self, text: str) -> None:
        """Remember a path as it is written; what a link on its way leads to is not known here."""
        text = text.removeprefix("file://")
        if text and not unknown(text) and not globbed(text):
            self.places.append(text if text.startswith("/") else f"{self.shell.cwd}/{text}")

    def zone(self, text: str) -> Zone:
        """The zone of an operand."""
        return zone(self.path(text), self.place)

    def content(self, text: str) -> str | None:
        """What a file holds, when this command line wrote it or it is standard input."""
        if text in STDIN:
            return self.stdin
        return self.scene.files.get(self.path(text))

    # ---- what it touches

    def name_path(self, path: str) -> str:
        """A path as facts name it; one that is not a single file is remembered as a pattern."""
        name = shown(path)
        if globbed(path) or unknown(path):
            self.patterns.append(name)
        return name

    def saw(self, text: str) -> None:
        """It reads an operand; nothing is judged."""
        self.reads.append(self.name_path(self.path(text)))

    def read(self, text: str, *, quiet: bool = False) -> None:
        """It reads a file; its content becomes the output."""
        judge_read(self, text, quiet)

    def write(self, text: str, content: str | None = None, *, append: bool = False) -> None:
        """It writes a file."""
        judge_write(self, text, content, append)

    def delete(self, text: str, *, recursive: bool = True, narrow: bool = False) -> None:
        """It deletes a file, or a folder with all below."""
        judge_delete(self, text, recursive, narrow)

    # ---- what it runs

    def run(self, words: list[str], stdin: str | None = None, *, light: bool = False) -> None:
        """It starts another program with these words."""
        self.wrapper = True
        if not light:
            self.scene.plain = False
        if not words:
            return
        shell = self.shell
        kept = shell.via
        shell.via = (*kept, self.name)
        shell.depth += 1
        if shell.depth > 8:
            self.scene.too_complex("it is nested too deeply")
        else:
            self.out = shell.run(words, stdin)
        shell.depth -= 1
        shell.via = kept

    def starts(self, words: list[str]) -> None:
        """It starts another program whose effects are read here; only that it does is kept."""
        told = tuple(shown(word, 2000) for word in words)
        self.scene.fact(Fact(told, known=False, via=(*self.shell.via, self.name)))

    def script(
        self, text: str, arguments: list[str] | None = None, stdin: str | None = None
    ) -> None:
        """It runs a text as a shell script in a new shell."""
        from steersman.governance.guard.programs.shells import run_script

        run_script(self, text, arguments or [], stdin)

    def done(self) -> None:
        """Nothing more is found out: keep the fact; of a wrapper, what its redirects open."""
        if self.wrapper and not (self.reads or self.writes or self.deletes):
            return
        for word in self.args:
            for text in may_name(word):
                self._place(text)
        words = [":"] if self.wrapper else self.words
        known = not any(unknown(word) or globbed(word) for word in words)
        if not known:
            self.scene.plain = False
        self.scene.fact(
            Fact(
                tuple(shown(word, 2000) for word in words),
                known,
                self.shell.via,
                tuple(dict.fromkeys(self.reads)),
                tuple(dict.fromkeys(self.writes)),
                tuple(dict.fromkeys(self.deletes)),
                tuple(dict.fromkeys(self.network)),
                self.remote,
                self.unknown_code,
                tuple(dict.fromkeys(self.patterns)),
                tuple(dict.fromkeys(self.places)),
                exact=names_its_writes(words),
            )
        )
