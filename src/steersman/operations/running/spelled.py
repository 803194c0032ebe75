"""What in a text could be the name of something that it runs or loads. Pure.

`behind.py` looks which of these names there are.
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from steersman.records.runners import manifests
from steersman.records.shell_words import Simple, Word, simple_commands

DEEPEST = 16  # folders in a path
INNERMOST = 3  # commands in words of commands
OTHERS = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".awk", ".jq")
_OTHER = re.compile(r"#!.*\b(?:python|node|deno|bun|tsx|ruby|perl|php|lua)")
SCRIPTS = (*OTHERS, ".sh", ".bash", ".zsh", ".mk", ".just")
BETWEEN = re.compile(r"[\s=:,;|&<>()\[\]{}\"'`\\]+")
QUOTED = re.compile(r"[\"'`]([^\"'`\n]{1,200})[\"'`]")
_MISSING = re.compile(r"(?:\.|\$[^/]*)/(?!/)|(?=[^/~$])")  # what a relative path begins with
_INPUT = re.compile(r"(?<!<)<(?![<>&])")
_AS_MODULE = re.compile(r"-m\s+(\w+(?:\.\w+)*)")
_IMPORT = re.compile(
    r"(?:^|[;\"'])[ \t]*(?:from\s+([\w.]+)\s+)?import\s+"
    r"\(?([\w., \t]+|(?<=\()[\w.,\s]+)",
    re.MULTILINE,
)
_HASHES = re.compile(r"^[ \t]*#(?!!).*$", re.MULTILINE)
_SLASHES = re.compile(r"^[ \t]*(?:#(?!!)|//).*$", re.MULTILINE)
_WITH_SLASHES = (".js", ".mjs", ".cjs", ".ts", ".php")
FIRST = re.compile(r"[\[(]\s*[\"']([\w./-]+)")  # what another language starts
_MODULES = (".py", "/__init__.py", "/__main__.py")
_ENDS = ("", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", ".rb", ".py")
_HANDS_ON = {"!", "if", "then", "else", "elif", "while", "until", "do", "env", "exec", "time", "{"}
_RUNS = re.compile(
    r"(?:.*/)?(?:\.|source|import|include|mod|\w*sh|python[\d.]*|node|deno|bun|tsx|ruby|perl|php)"
)
_INTERPRETER = re.compile(
    r"(?:.*/)?(?:(?:ba|z|k|da)?sh|python[\d.]*|node|deno|bun|tsx|ruby|perl|php)"
)
_INTERPRETERS = ("node", "tsx", "ruby")  # what they run, they get on their command line
RUNNERS = {name: files for name, files in manifests().items() if name not in _INTERPRETERS}

# Names that are put together, so that only the folder is known.
_PIECES = re.compile(r"[^\w./@+-]+")
_HANDED = ("xargs", "parallel", "-exec", "-execdir")
_SEARCHED = re.compile(
    r"(?:\b(?:(?:LD_LIBRARY_|CD|F|)PATH|BASH_ENV|ENV|NODE_OPTIONS|PYTHONSTARTUP|RUBYOPT|PERL5OPT"
    r"|LD_PRELOAD|MAKEFILES|ZDOTDIR)=|\s-(?:I|cp|classpath)[ =]?)(\S+)"
)
_SOURCES = re.compile(r"\b(?:sed|[gmn]?awk|jq|make)\b[^|;&\n]*?\s(?:-\w*[fL]|--\w*file)[ =]?(\S+)")
_FROM_ROOT = re.compile(
    r"(?:\b(NODE_PATH|PERL5LIB|RUBYLIB|LUA_PATH)\s*:?=\s*|\s(-I)[ =]?)(?:\S*:)?[\"']?"
    r"(?:\./?|\$\{?(?:PWD|CLAUDE_PROJECT_DIR)\}?|\$\((?:pwd|CURDIR)\))[\"']?(?:[\s:;]|$)"
)
_IN_ROOT = {
    "NODE_PATH": ("*.js", "*.cjs", "*.node"),
    "PERL5LIB": ("*.pm",),
    "RUBYLIB": ("*.rb",),
    "LUA_PATH": ("*.lua",),
    "-I": ("*.pm", "*.rb"),
}
_MODULES_FROM = re.compile(r"\b(?:(?:PYTHON|NODE_|LUA_C?|CLASS)PATH|PERL5LIB|RUBYLIB)=(\S+)")
_LOADS = re.compile(
    r"importlib|__import__|runpy|SourceFileLoader|pkgutil|execfile|createRequire"
    r"|(?<![.\w])(?:exec|require|import)\(\s*(?![\"'\s])|\bdofile|\bloadfile|\buse lib\b"
    r"|\$LOAD_PATH|require\(\s*`"
)
_STARTS = re.compile(
    r"subprocess|child_process|\b(?:require|import)\(|\b(?:system|popen|exec\w*|spawn\w*|fork)\b",
    re.I,
)
_GIVEN = re.compile(
    r"\b(?:run|call|check_call|check_output|popen|system|exec\w*|spawn\w*|fork|require\w*|import|from"
    r"|run_path|load|open|do)\b[\s(\[]*(?:sys\.executable\s*,\s*|[\"'](?:sh|bash|node|python3?)[\"']\s*,"
    r"[\s\[]*)?[\"'`](?:\$[\w:{}]+/)?([\w./ -]+)",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"\w*")
_NAME = re.compile(r"\w+")
_FOR = re.compile(r"\bfor (\w+) in\b")
_READ = re.compile(r"\bread\b(.*)")
_FROM_COMMAND = re.compile(r"\b(\w+)=[\"']?[$`]\(")
_PATH_OF_MODULES = re.compile(r"sys\.path([^\n]*)")
_JOINED = (
    re.compile(r"([\w.@+-]+(?:/[\w.@+-]+)*)/(?:[{$%]|[\"'`]\s*[+%.])"),  # f"lib/{name}"
    re.compile(r"[\"'`]([\w./@+-]+)[\"'`]\)?\s*[/+]\s*[\w(\"']"),  # HERE / "lib" / name
    re.compile(r"[\"'`]([\w./@+-]+)[\"'`]\s*\)*\.(?:iterdir|glob|joinpath)\b"),
    re.compile(r"(?:path\.join|joinpath|resolve|listdir|scandir|glob|Path)\(([^\n]*)"),
)


def words(text: str, depth: int = 0) -> Iterator[str]:
    """Whatever could be a name: words as a shell reads them, words in those, and parts of them."""
    for simple in _simples(text):
        for word in simple.words:
            yield word.text
            if word.text != text and depth < INNERMOST and re.search(r"[\s;|&]", word.text):
                yield from words(word.text, depth + 1)
    if depth == 0:
        yield from BETWEEN.split(text)


@lru_cache(maxsize=8)  # one script is looked at in several ways
def _simples(text: str) -> tuple[Simple, ...]:
    return tuple(simple_commands(_INPUT.sub(" ", text)))


def count_words(text: str) -> int:
    """How many words a text has, for whoever asks before it is read."""
    return len(BETWEEN.findall(text))


def modules(text: str) -> list[str]:
    """The modules that a text runs or imports."""
    found = _AS_MODULE.findall(text)
    for package, names in _IMPORT.findall(text):
        each = [name.split()[0] for name in names.split(",") if name.strip()]
        found += [package, *(f"{package}.{name}" for name in each)] if package else each
    return found


def programs(text: str, depth: int = 0) -> Iterator[str]:
    """The programs that a shell's text starts, and the scripts that it hands to one."""
    for words in _commands(text):
        names = [word.text for word in words]
        yield names[0]
        given = [word.text for word in _operands(words)]
        if names[0] in RUNNERS:
            yield from given  # `uv run check.py`
        elif names[0] == "mod":  # of a justfile
            yield from (f"{name}{end}" for name in given for end in ("", ".just", "/mod.just"))
        elif _RUNS.fullmatch(names[0]) and given:
            yield given[0]
            if depth < INNERMOST and "-c" in names:
                yield from programs(given[0], depth + 1)


def _commands(text: str) -> Iterator[Sequence[Word]]:
    """The simple commands of a text, and what looks like one in the words of another."""
    for simple in _simples(text):
        words = simple.words
        at = 0
        while at < len(words) and (
            words[at].text in _HANDS_ON or re.match(r"\w+=", words[at].text)
        ):
            at += 1
        if words[at:]:
            yield words[at:]
        inner = (i for i in range(at + 1, len(words)) if _INTERPRETER.fullmatch(words[i].text))
        yield from (words[i:] for i in inner)  # `timeout 5 sh check.sh`


def _operands(words: Sequence[Word]) -> list[Word]:
    """The words of a command after its name, without options."""
    pairs = zip(words[1:], words, strict=False)
    return [
        word
        for word, last in pairs
        if not word.text.startswith(("-", "+")) and last.text not in ("-X", "-W")
    ]


def endings(word: str) -> Iterator[str]:
    """A path, and what is left of it without its first folders, which may be a variable."""
    parts = word.split("/")[-DEEPEST:]
    ends = _ENDS if word.startswith(("./", "../")) else ("",)
    if word.startswith(("/", "..")):
        yield from (f"{word}{end}" for end in ends)
    for at in range(len(parts)):
        if parts[at] not in ("", ".", ".."):
            yield from ("/".join(parts[at:]) + end for end in ends)


def searched(text: str, *, modules: bool) -> list[str]:
    """The folders and files from which programs load, or only modules, as variables say."""
    found = (_MODULES_FROM if modules else _SEARCHED).findall(text)
    found += [] if modules else _SOURCES.findall(text)
    return [piece for value in found for piece in pieces(value)]


def in_root(text: str) -> list[str]:
    """Patterns of what may be loaded from the root, where a variable or an option names it."""
    found = _FROM_ROOT.findall(text)
    return [name for variable, option in found for name in _IN_ROOT[variable or option]]


def shebang(text: str) -> list[str]:
    """What the first line of a script names as its interpreter, but by a whole path."""
    first = text.partition("\n")[0]
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    return [word for word in words if not word.startswith(("/", "-"))]


def uncommented(path: str, text: str) -> str:
    """A script without its comments; what is one in one language is a command in another."""
    return (_SLASHES if path.endswith(_WITH_SLASHES) else _HASHES).sub("", text)


def pieces(text: str) -> list[str]:
    """What is left of words where a variable or a pattern is taken out."""
    return [piece for piece in _PIECES.split(text) if piece.strip("./")]


def put_together(text: str, known: Callable[[str], object], depth: int = 0) -> bool:
    """Whether a shell's text runs something whose name it does not spell out."""
    for words in _commands(text):
        names = [word.text for word in words]
        if names[0] in ("for", "case"):
            continue
        if names[0] in ("eval", "run-parts") or _hands_over(names):
            return True
        given = _operands(words)
        if not _RUNS.fullmatch(names[0]):
            if _unknown(words[0], known) and ("/" in names[0] or _chosen(names[0], text)):
                return True
        elif "-c" in names and given and depth < INNERMOST:
            if names[0].endswith("sh") and put_together(given[0].text, known, depth + 1):
                return True
        elif "-m" not in names and (not given or _unknown(given[0], known)):
            return True
    return False


def _hands_over(names: list[str]) -> bool:
    """Whether a command is given to an interpreter, or is itself what is found."""
    at = next((at for at, name in enumerate(names) if name in _HANDED), None)
    rest = names[at + 1 :] if at is not None else []
    return any(_RUNS.fullmatch(name) for name in rest) or rest[:1] == ["{}"]


def _unknown(word: Word, known: Callable[[str], object]) -> bool:
    """Whether the last part of a path is only known when it runs."""
    last = word.text.rstrip("/").rpartition("/")[2]
    return word.open and bool(re.search(r"[$*?\[]", last)) and not known(word.text)


def _chosen(word: str, text: str) -> bool:
    """Whether a variable has its value from a loop or a command."""
    name = _VARIABLE.match(word.strip("${}"))
    return name is not None and name[0] in _chosen_names(text)


@lru_cache(maxsize=8)
def _chosen_names(text: str) -> frozenset[str]:
    """The variables of a text that it gives values which it does not spell out; "" for none."""
    read = {name for line in _READ.findall(text) for name in _NAME.findall(line)}
    found = read | {*_FOR.findall(text), *_FROM_COMMAND.findall(text)}
    return frozenset(found | {""}) if found else frozenset()


def joined(text: str) -> list[str]:
    """Of another language: what may be the folder of something whose name is put together."""
    if _LOADS.search(text):
        said = QUOTED.findall(text)
        tops = [name.partition(".")[0] for name in said]  # "rules." + name
        return [*tops, *(one for name in said for one in (*pieces(name), *dotted(name)))]
    calls = _PATH_OF_MODULES.findall(text)
    found: list[str] = []
    if _STARTS.search(text):
        *direct, inner = (form.findall(text) for form in _JOINED)
        found, calls = [one for some in direct for one in some], calls + inner
    return found + [one for call in calls for said in QUOTED.findall(call) for one in pieces(said)]


def dotted(name: str) -> list[str]:
    """The files that a module may be."""
    path = name.strip(".").replace(".", "/")
    return [f"{place}{path}{end}" for place in ("", "src/") for end in _MODULES] if path else []


def given(text: str) -> list[str]:
    """Of another language: what it starts or loads by a name that is written out."""
    return _GIVEN.findall(text)


def is_other(path: str, text: str) -> bool:
    """Whether a script is of another language than a shell's."""
    return path.endswith(OTHERS) or _OTHER.match(text) is not None


def missing(words: Iterable[str], found: Collection[str], root: str) -> set[str]:
    """Scripts that are named and are not there: who makes one, makes what is run."""
    begun = [
        word[begins.end() :]
        for word in words
        if word.endswith(SCRIPTS)
        and not any(file.endswith(os.path.basename(word)) for file in found)
        if (begins := _MISSING.match(word))
    ]
    plain = (rest for rest in begun if re.fullmatch(r"[\w.@+/-]+", rest))
    return {os.path.normpath(os.path.join(root, rest)) for rest in plain}
