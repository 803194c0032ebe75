"""Tcl, read command by command: its variables put in, and what it runs, deletes or writes said in
calls that the reader of code knows. Nothing is judged here."""

import posixpath
import shlex
from collections.abc import Iterator

from steersman.governance.guard.marks import OUT, UNSET, live
from steersman.governance.guard.options import listed
from steersman.records.patterns import pattern

_NAME = pattern(r"\$(?:\{(?P<b>[^}]*)\}|(?:::)?(?P<n>\w+(?:\(\w+\))?))")
_MOST, _DEEPEST = 1000, 12
_UNREAD = "eval(code)"  # code of which nobody knows what it is
_CLOSES = {"[": "]", "{": "}"}
_SAME = listed("normalize nativename tildeexpand rootname")


def rewritten(code: str, home: str) -> str:
    """Tcl as calls with plain texts; commands nobody needs to know stay as they are."""
    reader = _Reader(home)
    reader.run(code)
    return "\n".join(reader.made)


class _Reader:
    """What is known while Tcl is read from its beginning to its end."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.names: dict[str, str] = {"env(HOME)": home, "env(USER)": posixpath.basename(home)}
        self.made: list[str] = []
        self.depth = self.steps = 0

    def run(self, code: str) -> str:
        """Read a script; the answer is the value of its last command."""
        value = ""
        self.depth += 1
        for words in _commands(code):
            self.steps += 1
            if self.steps > _MOST or self.depth > _DEEPEST:
                self.made[:0] = [] if _UNREAD in self.made[:1] else [_UNREAD]
                break
            value = self.command(words)
        self.depth -= 1
        return value

    def command(self, raw: list[str]) -> str:
        """Read one command; the answer is its value."""
        words = [part for word in raw for part in self.values(word)]
        value = OUT
        match words:
            case ["set", name, value]:
                self.names[name.removeprefix("::")] = value
            case ["set", name]:
                value = self.names.get(name.removeprefix("::"), UNSET)
            case ["foreach", name, several, body]:
                for self.names[name] in several.split():
                    self.run(body)
            case ["file", what, *rest]:
                value = self.file(what, [word for word in rest if not word.startswith("-")])
            case ["glob", *rest]:
                value = self.glob(rest)
            case ["open", name, *mode]:
                self.opened(name, mode[0] if mode else "r")
            case ["list" | "concat", *rest]:
                value = " ".join(rest)
            case ["lindex", several, "0"] if UNSET not in several:
                value = several.split(" ")[0]
            case ["exec" | "spawn" | "system", *rest]:
                self.started(rest)
            case ["eval" | "uplevel" | "after", *rest]:
                self.evaluated(" ".join(rest))
            case _:
                self.other(raw, words)
        return value

    def other(self, raw: list[str], words: list[str]) -> None:
        """Any other command: what it has in braces may be a script."""
        if raw[0] in ("puts", "send", "expr", "set", "lappend", "regexp", "string"):
            self.made.append(" ".join([raw[0], *(_text(word) for word in words[1:])]))
            return
        bodies = [word[1:-1] for word in raw[1:] if word[:1] == "{"]
        self.made.append(" ".join(word for word in words if "{" + word + "}" not in raw))
        for body in bodies:
            self.run(body)

    def started(self, words: list[str]) -> None:
        """A command of the system, after options of Tcl's own."""
        while words and words[0].startswith("-"):
            words = words[1:]
        plain = words if len(words) == 1 else [_word(word) for word in words]
        self.say("system", " ".join(plain))

    def evaluated(self, code: str) -> None:
        """Code that is put together first."""
        if UNSET in code or OUT in code:
            self.made.append(_UNREAD)
        else:
            self.run(code)

    def file(self, what: str, words: list[str]) -> str:
        """`file …`: what it does to files, or a path."""
        if what == "delete":
            for word in words:
                self.say("file delete", word)
        elif what in ("rename", "copy"):
            call = "os.rename" if what == "rename" else "copyFile"
            self.say(call, *words[:2])
        elif what == "home":
            return self.home
        elif what == "join":
            return posixpath.join(*words) if words else ""
        elif what in _SAME and words:
            return self.home + words[0][1:] if words[0][:1] == "~" else words[0]
        elif what == "dirname" and words:
            return posixpath.dirname(words[0])
        return OUT

    def glob(self, words: list[str]) -> str:
        """`glob`: the paths that it finds, as a pattern."""
        folder = ""
        while words and words[0].startswith("-"):
            option, words = words[0], words[1:]
            if option in ("-directory", "-path", "-types", "-join") and words:
                folder = words[0] + "/" if option == "-directory" else folder
                words = words[1:]
        return " ".join(live(folder + word) for word in words)

    def opened(self, name: str, mode: str) -> None:
        """`open`: a file, or a pipe to a command."""
        if name.startswith("|"):
            self.say("system", name[1:].strip())
        else:
            self.made.append(f"open({_text(name)}, {_text(mode)})")

    def say(self, call: str, *words: str) -> None:
        """One call with its texts."""
        self.made.append(f"{call}({', '.join(_text(word) for word in words)})")

    def values(self, word: str) -> list[str]:
        """What a word stands for; `{*}` makes several of it."""
        if word.startswith("{*}"):
            return self.value(word[3:]).split()
        return [self.value(word)]

    def value(self, word: str) -> str:
        """A word with its variables and commands put in."""
        if word[:1] == "{":
            return word[1:-1]
        if word[:1] == '"':
            word = word[1:-1] if word[-1:] == '"' else word[1:]
        made, at = "", 0
        while at < len(word):
            named = _NAME.match(word, at)
            if word[at] == "\\":
                made += word[at + 1 : at + 2]
                at += 2
            elif word[at] == "[":
                end = _closed(word, at)
                made += self.run(word[at + 1 : end - 1])
                at = end
            elif named is not None:
                made += self.names.get(named["b"] or named["n"] or "", UNSET)
                at = named.end()
            else:
                made += word[at]
                at += 1
        return made


def _word(word: str) -> str:
    return shlex.quote(word) if " " in word else word


def _text(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _closed(text: str, at: int) -> int:
    """Where what opens here has ended."""
    opens, closes, depth = text[at], _CLOSES[text[at]], 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == opens:
            depth += 1
        elif text[at] == closes:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return len(text) + 1


def _commands(code: str) -> Iterator[list[str]]:
    """The commands of a script, each as its raw words."""
    words: list[str] = []
    word, at, quoted = "", 0, False
    code = code.replace("\\\n", " ") + "\n"
    while at < len(code):
        letter = code[at]
        end = at + 1
        if letter == "\\":
            end = at + 2
        elif letter == "[" or (letter == "{" and not quoted and word in ("", "{*}")):
            end = _closed(code, at)
        elif letter == '"' and (quoted or word in ("", "{*}")):
            quoted = not quoted
        elif letter == "#" and not words and not word:
            end = code.find("\n", at)
            letter = ""
        elif not quoted and letter in " \t\n;":
            if word:
                words.append(word)
            word = ""
            if letter in "\n;" and words:
                yield words
                words = []
            letter = ""
        word += code[at:end] if letter else ""
        at = end
    if word.strip():
        yield [*words, word.strip()]
    elif words:
        yield words
