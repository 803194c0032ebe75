"""Which files of a workspace decide what a command line does that a person agreed to.

A name is looked for in every way in which it could be meant, not as one shell would read it: what
is before a `/` may be a variable, and any folder that is named may be the one that it lies in. So a
spelling that is not understood names a file too many rather than too few. What a program reads
without naming it, and names that are put together at run time, are not found.
"""

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator

from steersman.operations.running.runners import meant
from steersman.records.protection import inside
from steersman.records.runners import manifests, readings
from steersman.records.shell_words import simple_commands
from steersman.records.stamps import Stamp, stamp

STEPS = 3  # from a file to what it names
MOST_FILES = 64  # more are the project that a hook is about, not the hook
MOST_WORDS = 5000
MOST_SEARCHES = 256  # that are remembered
MOST_FOLDERS = 32
MOST_BYTES = 256 * 1024  # of a file that is looked into
DEEPEST = 16  # links to links, folders in a path
INNERMOST = 3  # commands in words of commands
_BETWEEN = re.compile(r"[\s=:,;|&<>()\[\]{}\"'`\\]+")
_INPUT = re.compile(r"(?<!<)<(?![<>&])")
_OUTPUT = re.compile(r"&?>+\|?\s*(?:\"[^\"]*\"|'[^']*'|[^\s;&|()]+)")
_COMMENT = re.compile(r"^\s*(?:#(?!!)|//).*$", re.MULTILINE)
_AS_MODULE = re.compile(r"-m\s+(\w+(?:\.\w+)*)")
_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+)?import\s+\(?([\w., \t]+)", re.MULTILINE)
_FIRST = re.compile(r"[\[(]\s*[\"']([\w./-]+)")  # what another language starts
_MISSING = re.compile(r"(?:\.|\$[^/]*)/(?!/)|(?=[^/~$])")  # what a relative path begins with
_QUOTED = re.compile(r"[\"'`]([^\"'`\n]{1,200})[\"'`]")
_OTHERS = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".awk", ".jq")
_SCRIPTS = (*_OTHERS, ".sh", ".bash", ".zsh", ".mk")
_MODULES = (".py", "/__init__.py", "/__main__.py")
_ENDS = ("", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js")
_HANDS_ON = {"!", "if", "then", "else", "elif", "while", "until", "do", "env", "exec", "time"}
_RUNS = re.compile(r"(?:.*/)?(?:\.|source|\w*sh|python[\d.]*|node|deno|bun|tsx|ruby|perl|php)")
_INTERPRETERS = ("node", "tsx", "ruby")  # what they run, they get on their command line
_RUNNERS = {name: files for name, files in manifests().items() if name not in _INTERPRETERS}
_FOUND: "dict[tuple[str, str, tuple[str, ...]], tuple[_Sight, set[str]]]" = {}
_NODE = {"npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"}


def named(text: str, root: str) -> set[str]:
    """The files that a command names itself, but what it only writes; relative to the root."""
    words = tuple(_words(_OUTPUT.sub(" ", text)))
    found = _Sight().files((*words, *_modules(text)), [root])
    return _relative(found | _missing(words, found, root), root)


def behind(text: str, root: str, path: str = "") -> set[str]:
    """The files that decide what a command does: those that it names, programs of the workspace on
    the search path, what tells a runner what to run, and the scripts that such files name.

    They are searched for again when anything that the search looked at is another.
    """
    places = (os.path.realpath(one) for one in path.split(os.pathsep) if one)
    asked = text, root, tuple(place for place in places if inside(place, root))
    sight, found = _FOUND.get(asked, (None, set()))
    if sight is None or sight.moved():
        sight, found = search(*asked)
        if len(_FOUND) >= MOST_SEARCHES:
            _FOUND.clear()
        _FOUND[asked] = sight, found
    return _relative(found, root)


def search(text: str, root: str, path: tuple[str, ...]) -> "tuple[_Sight, set[str]]":
    """What `behind` finds, and what was looked at for it."""
    sight = _Sight()
    return sight, _Search(root, path, sight).found(text)


class _Sight:
    """Looks at files and folders, and knows whether they would look the same again."""

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}
        self._stats: dict[str, Stamp | None] = {}

    def moved(self) -> bool:
        """Whether there is another file, or other content, at any place that was looked at."""
        return any(_listed(folder) != names for folder, names in self._names.items()) or any(
            then is None or _stamp(place) != then for place, then in self._stats.items()
        )

    def names(self, folder: str) -> frozenset[str]:
        """The names in a folder."""
        if folder not in self._names:
            self._names[folder] = _listed(folder)
        return self._names[folder]

    def kind(self, place: str) -> int:
        """What there is, by its `stat` type; nothing is 0."""
        if place not in self._stats:
            self._stats[place] = _stamp(place)
        seen = self._stats[place]
        return seen[0] if seen is not None else stat.S_IFREG

    def files(self, words: Iterable[str], bases: list[str], *, endings: bool = True) -> set[str]:
        """The files that words name, below some folders or those that other words name there."""
        few = [word for word in dict.fromkeys(words) if word and "\0" not in word][:MOST_WORDS]
        names = dict.fromkeys(one for w in few for one in (_endings(w) if endings else [w]))
        found: set[str] = set()
        below = [*bases]
        for at, base in enumerate(below):
            there = self.names(base)
            for name in names:
                if name.partition("/")[0] not in there and not name.startswith(("/", "..")):
                    continue
                place = os.path.normpath(os.path.join(base, name))
                kind = self.kind(place)
                if kind == stat.S_IFDIR and at < len(bases) and len(below) < MOST_FOLDERS:
                    below.append(place)
                if kind == stat.S_IFREG:
                    found.add(place)
        return found


class _Search:
    """Goes from a command to the files behind it, each once."""

    def __init__(self, root: str, path: tuple[str, ...], sight: _Sight) -> None:
        self._root = root
        self._path = path
        self._sight = sight
        self._files: set[str] = set()
        self._waiting: list[tuple[str, tuple[str, ...] | None]] = []  # and for what a runner reads
        self._told: set[tuple[str, tuple[str, ...]]] = set()

    def found(self, text: str) -> set[str]:
        words = tuple(_words(_OUTPUT.sub(" ", text)))
        self._take(self._sight.files((*words, *_modules(text)), [self._root]))
        missing = _missing(words, self._files, self._root)
        self._start(words, words, self._root)
        for _ in range(STEPS):
            known, waiting, self._waiting = {*self._files}, self._waiting, []
            for file, wanted in waiting:
                if wanted is None:
                    self._script(file)
                else:
                    self._manifest(file, wanted)
                if len(self._files) > MOST_FILES:
                    return known | missing
        return self._files | missing

    def _take(self, files: Iterable[str]) -> None:
        new = set(files) - self._files
        self._files |= new
        self._waiting += [(file, None) for file in sorted(new)]

    def _start(self, programs: Iterable[str], words: Collection[str], folder: str) -> None:
        """What is behind programs: the files that the search path finds, and those of runners."""
        places = [*self._path]
        if not _NODE.isdisjoint(words):
            places.append(os.path.join(folder, "node_modules/.bin"))
        for program in dict.fromkeys(programs):
            self._take(self._sight.files([program], places, endings=False))
            known = _RUNNERS.get(os.path.basename(program), [])
            for file in self._sight.files([*words, *known], [folder]) if known else ():
                name = os.path.basename(file)
                if readings().get(name) == "code" and name in known:
                    self._take([file])
                elif name in known and (file, tuple(words)) not in self._told:
                    self._told.add((file, tuple(words)))
                    self._files.add(file)
                    self._waiting.append((file, tuple(words)))

    def _manifest(self, file: str, wanted: tuple[str, ...]) -> None:
        folder = os.path.dirname(file)
        for line in meant(os.path.basename(file), _text(file), wanted):
            programs = [*_programs(line)]
            names = (*programs, *_modules(line))
            self._take(filter(_is_code, self._sight.files(names, [folder])))
            self._start(programs, tuple(_words(line)), folder)

    def _script(self, file: str) -> None:
        text = _COMMENT.sub("", _text(file))
        if file.endswith(_OTHERS):
            programs = _FIRST.findall(text)
            words = (*_BETWEEN.split(text), *_QUOTED.findall(text), *_modules(text))
        else:
            programs = [*_programs(text)]
            words = (*_words(text), *_modules(text))
        places = dict.fromkeys((self._root, os.path.dirname(file)))
        self._take(filter(_is_code, self._sight.files(words, [*places])))
        self._start(programs, words, self._root)


def _words(text: str, depth: int = 0) -> Iterator[str]:
    """Whatever could be a name: words as a shell reads them, words in those, and parts of them."""
    for simple in simple_commands(_INPUT.sub(" ", text)):
        for word in simple.words:
            yield word.text
            if word.text != text and depth < INNERMOST and re.search(r"[\s;|&]", word.text):
                yield from _words(word.text, depth + 1)
    if depth == 0:
        yield from _BETWEEN.split(text)


def _modules(text: str) -> list[str]:
    """The modules that a text runs or imports, as the files that they may be."""
    found = _AS_MODULE.findall(text)
    for package, names in _IMPORT.findall(text):
        each = [name.split()[0] for name in names.split(",") if name.strip()]
        found += [package, *(f"{package}.{name}" for name in each)] if package else each
    paths = [one.strip(".").replace(".", "/") for one in found]
    return [f"{place}{one}{end}" for one in paths for place in ("", "src/") for end in _MODULES]


def _programs(text: str, depth: int = 0) -> Iterator[str]:
    """The programs that a shell's text starts, and the scripts that it hands to one."""
    for simple in simple_commands(_INPUT.sub(" ", text)):
        words = [word.text for word in simple.words]
        while words and (words[0] in _HANDS_ON or re.match(r"\w+=", words[0])):
            del words[0]
        if not words:
            continue
        yield words[0]
        given = [word for word in words[1:] if not word.startswith("-")]
        if words[0] in _RUNNERS:
            yield from given  # `uv run check.py`
        elif _RUNS.fullmatch(words[0]) and given:
            yield given[0]
            if depth < INNERMOST and "-c" in words:
                yield from _programs(given[0], depth + 1)


def _endings(word: str) -> Iterator[str]:
    """A path, and what is left of it without its first folders, which may be a variable."""
    parts = word.split("/")[-DEEPEST:]
    ends = _ENDS if word.startswith(("./", "../")) else ("",)
    if word.startswith(("/", "..")):
        yield from (f"{word}{end}" for end in ends)
    for at in range(len(parts)):
        if parts[at] not in ("", ".", ".."):
            yield from ("/".join(parts[at:]) + end for end in ends)


def _stamp(place: str) -> Stamp | None:
    """What there is: its type, and of a file what shows that it was written."""
    try:
        found = os.stat(place)
    except (OSError, ValueError):
        return (0,)
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        return (kind,)  # what is in a folder, its names say
    written = stamp(found)
    return None if written is None else (kind, *written)


def _listed(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def _missing(words: Iterable[str], found: Collection[str], root: str) -> set[str]:
    """Scripts that are named and are not there: who makes one, makes what is run."""
    begun = [
        word[begins.end() :]
        for word in words
        if word.endswith(_SCRIPTS)
        and not any(file.endswith(os.path.basename(word)) for file in found)
        if (begins := _MISSING.match(word))
    ]
    plain = (rest for rest in begun if re.fullmatch(r"[\w.@+/-]+", rest))
    return {os.path.normpath(os.path.join(root, rest)) for rest in plain}


def _is_code(path: str) -> bool:
    """Whether a file may be run; what else a script names is mostly what it looks at."""
    return path.endswith(_SCRIPTS) or os.access(path, os.X_OK) or _text(path).startswith("#!")


def _text(path: str) -> str:
    """What a file says; nothing when it is none of text."""
    try:
        with open(path, "rb") as file:
            said = file.read(MOST_BYTES)
    except OSError:
        return ""
    return "" if b"\0" in said else said.decode("utf-8", "replace")


def _relative(files: Iterable[str], root: str) -> set[str]:
    places = {place for file in files for place in _places(file)}
    return {os.path.relpath(place, root) for place in places if inside(place, root)}


def _places(path: str, depth: int = 0) -> Iterator[str]:
    """A path, every link on the way, and where they lead."""
    yield path
    parts = path.split("/")
    for at in range(2, len(parts) + 1):
        if os.path.islink(link := "/".join(parts[:at])) and depth < DEEPEST:
            yield link
            leads = os.path.join(os.path.dirname(link), os.readlink(link), *parts[at:])
            yield from _places(os.path.normpath(leads), depth + 1)
            return
