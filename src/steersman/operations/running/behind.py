"""Which files of a workspace decide what a command line does that a person agreed to.

A name is looked for in every way in which it could be meant, not as one shell would read it: what
is before a `/` may be a variable, and any folder that is named may be the one that it lies in. So a
spelling that is not understood names a file too many rather than too few. Where names are put
together at run time, or not written at all, the folder counts: that of each script, and those that
are searched. What is only looked at does not count, nor what is too much to be a hook.
"""

import os
import re
from collections.abc import Collection, Iterable
from glob import escape, glob

from msgspec import Struct

from steersman.operations.running import node_files, spelled
from steersman.operations.running.runners import meant, unclear
from steersman.operations.running.sight import MOST_BYTES, Sight, places, relative, text_of, tree
from steersman.operations.running.spelled import RUNNERS, SCRIPTS
from steersman.records.protection import inside
from steersman.records.python_names import HIDES, HIDING, STANDARD
from steersman.records.runners import readings
from steersman.records.secret_files import SKIPPED

STEPS = 3  # from a file to what it names
MOST_FILES = 64  # more are the project that a hook is about, not the hook
MOST_IN_FOLDER = 2000  # that are compared
MOST_STEPS = 50_000  # words of scripts that one search reads
MOST_SEARCHES = 256  # that are remembered
_OUTPUT = re.compile(r"&?>+\|?\s*(?:\"[^\"]*\"|'[^']*'|[^\s;&|()]+)")
_NODE = {"npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"}
_ALL_PACKAGES = {"-w", "-ws", "-F", "-r", "--workspace", "--workspaces", "--filter", "--recursive",
                 "workspace", "workspaces"}  # fmt: skip
_MAINS = {"__main__.py", "index.js", "package.json", "main.go"}  # of a folder that is a program
# What a script in the root of the workspace may load from there.
_BESIDE = (
    (".py", ("*.py", "*.pyc", "*.so", "*/__init__.*")),
    ((".js", ".mjs", ".cjs", ".ts"), ("*.js", "*.mjs", "*.cjs", "*.ts", "*.node", "package.json")),
    ("", ("*.sh", "*.bash")),
)
_PYTHON = re.compile(r"python|pypy|\bsys\.(?:path|executable)\b", re.IGNORECASE)


class Behind(Struct, frozen=True):
    """Files by their paths; and folders, with all in them, or patterns, each with what runs them.

    All are relative to the root of the workspace. `unread` are scripts that are too long.
    """

    files: frozenset[str] = frozenset()
    folders: dict[str, str] = {}
    patterns: dict[str, str] = {}
    unread: frozenset[str] = frozenset()

    def __or__(self, other: "Behind") -> "Behind":
        return Behind(
            self.files | other.files,
            other.folders | self.folders,
            other.patterns | self.patterns,
            self.unread | other.unread,
        )

    def every(self, root: str) -> set[str]:
        """All files that there are now, relative to the root."""
        found = {file for name in self.patterns for file in glob(name, root_dir=root)}
        if HIDING in self.patterns:
            found |= set(filter(HIDES.fullmatch, _near(root)))
        inner = (tree(root, folder, MOST_IN_FOLDER) for folder in self.folders)
        return found.union(self.files, *inner)


_FOUND: dict[tuple[str, str, tuple[str, ...]], tuple[Sight, Behind]] = {}


def named(text: str, root: str) -> set[str]:
    """The files that a command names itself, but what it only writes; relative to the root."""
    words = tuple(spelled.words(_OUTPUT.sub(" ", text)))
    found = Sight().files((*words, *_modules(text)), [root])
    return relative(found | spelled.missing(words, found, root), root)


def behind(text: str, root: str, path: str = "") -> Behind:
    """The files that decide what a command does: those that it names, programs of the workspace on
    the search path, what tells a runner what to run, and the scripts that such files name; and the
    folders of scripts, and those from which something is loaded that has no name yet.

    They are searched for again when anything that the search looked at is another.
    """
    paths = (os.path.realpath(one) for one in path.split(os.pathsep) if one)
    asked = text, root, tuple(place for place in paths if inside(place, root))
    sight, found = _FOUND.get(asked, (None, Behind()))
    if sight is None or sight.moved():
        sight, found = search(*asked)
        if len(_FOUND) >= MOST_SEARCHES:
            _FOUND.clear()
        _FOUND[asked] = sight, found
    return found


def search(text: str, root: str, path: tuple[str, ...]) -> tuple[Sight, Behind]:
    """What `behind` finds, and what was looked at for it."""
    sight = Sight()
    return sight, _Search(root, path, sight).found(text)


class _Search:
    """Goes from a command to the files behind it, each once."""

    def __init__(self, root: str, path: tuple[str, ...], sight: Sight) -> None:
        self._root = root
        self._text = ""  # of the command itself
        self._path = path
        self._sight = sight
        self._files: set[str] = set()
        self._folders: dict[str, str] = {}
        self._patterns: dict[str, str] = {}
        self._others: set[str] = set()  # that may be run, and are too many to be followed
        self._waiting: list[tuple[str, tuple[str, ...] | None]] = []  # and for what a runner reads
        self._told: set[tuple[str, tuple[str, ...]]] = set()
        self._unread: set[str] = set()
        self._left = MOST_STEPS

    def found(self, text: str) -> Behind:
        self._text = text = _OUTPUT.sub(" ", text)
        words = tuple(spelled.words(text))
        run = self._sight.files(words, [self._root])
        self._take(run | self._sight.files(_modules(text), [self._root]))
        missing = spelled.missing(words, self._files, self._root)
        for file in sorted(filter(_is_code, run)):
            self._around(file)
        self._in_shell(text, [self._root], "")
        self._start(words, words, self._root)
        self._hiding(text, "")
        files = self._followed() | self._others | missing
        folders = {
            os.path.relpath(folder, self._root): os.path.relpath(why, self._root) if why else ""
            for folder, why in self._folders.items()
            if not any(inside(folder, other) for other in self._folders if other != folder)
        }
        unread = relative(self._unread, self._root)
        found = frozenset(relative(files, self._root))
        return Behind(found, folders, self._patterns, frozenset(unread))

    def _followed(self) -> set[str]:
        """Everything that is named, over some steps, or as far as it is no whole project."""
        for _ in range(STEPS):
            known, waiting, self._waiting = {*self._files}, self._waiting, []
            for file, wanted in waiting:
                if wanted is None:
                    self._script(file)
                else:
                    self._manifest(file, wanted)
                if len(self._files) > MOST_FILES:
                    return known
        return self._files

    def _take(self, files: Iterable[str]) -> None:
        new = set(files) - self._files
        self._files |= new
        self._waiting += [(file, None) for file in sorted(new)]

    def _perhaps(self, files: Iterable[str]) -> None:
        """Any of these may be run: they count, and are followed when they are few."""
        code = {file for file in files if _is_code(file) or "." not in os.path.basename(file)}
        self._others |= code
        if len(self._files | code) <= MOST_FILES:
            self._take(code)

    def _start(self, programs: Iterable[str], words: Collection[str], folder: str) -> None:
        """What is behind programs: the files that the search path finds, and those of runners."""
        places = [*self._path]
        if not _NODE.isdisjoint(words):
            places.append(os.path.join(folder, "node_modules/.bin"))
        for program in dict.fromkeys(programs):
            started = self._sight.files([program], places, endings=False)
            self._take(started)
            for file in sorted(started):
                self._around(file)
            known = RUNNERS.get(os.path.basename(program), [])
            if program in _NODE and not _ALL_PACKAGES.isdisjoint(_options(words)):
                self._tell(node_files.packages(folder), words)
            if folder == self._root:  # there may be others one day
                for name in set(known) - self._sight.names(folder):
                    self._patterns.setdefault(name, "")
            for file in self._sight.files([*words, *known], [folder]) if known else ():
                name = os.path.basename(file)
                if readings().get(name) == "code" and name in known:
                    self._take([file])
                elif name in known:
                    self._tell([file], words)

    def _tell(self, files: Iterable[str], words: Collection[str]) -> None:
        """Files in which a runner finds what these words mean."""
        for file in files:
            if (file, tuple(words)) not in self._told:
                self._told.add((file, tuple(words)))
                self._files.add(file)
                self._waiting.append((file, tuple(words)))

    def _manifest(self, file: str, wanted: tuple[str, ...]) -> None:
        folder = os.path.dirname(file)
        text = text_of(file)
        self._hiding(text, file)
        if readings().get(os.path.basename(file)) == "recipes" and unclear(text):
            words = spelled.BETWEEN.split(spelled.uncommented(file, text))
            self._perhaps(self._sight.files(words, [folder]))
        for line in meant(os.path.basename(file), text, wanted):
            programs = [*spelled.programs(line)]
            names = (*programs, *_modules(line))
            self._take(filter(_is_code, self._sight.files(names, [folder])))
            self._in_shell(line, [folder], file)
            self._start(programs, tuple(spelled.words(line)), folder)

    def _script(self, file: str) -> None:
        whole = text_of(file)
        text = spelled.uncommented(file, whole)
        places = [*dict.fromkeys((self._root, os.path.dirname(file)))]
        self._loaded(spelled.shebang(whole), places, file, folders=False)
        self._expect(spelled.shebang(whole), self._files, file)
        self._left -= spelled.count_words(text)
        if len(whole) >= MOST_BYTES or self._left < 0:  # what the rest of it names is not known
            self._unread.add(file)
            self._around(file)
            for _, names in _BESIDE:
                self._patterns |= dict.fromkeys(names, os.path.relpath(file, self._root))
        if self._left < 0:
            return
        if spelled.is_other(file, whole):
            programs = spelled.FIRST.findall(text)
            words = (*spelled.BETWEEN.split(text), *spelled.QUOTED.findall(text))
            self._loaded(spelled.joined(text), places, file)
            self._loaded(spelled.given(text), places, file, folders=False)
            self._mains(spelled.given(text), places, file)
            self._expect(spelled.given(text), self._files, file)
            self._packages(text, words, places, file)
        else:
            programs = [*spelled.programs(text)]
            words = tuple(spelled.words(text))
            self._in_shell(text, places, file)
        self._take(filter(_is_code, self._sight.files((*words, *_modules(text)), places)))
        self._start(programs, words, self._root)
        self._hiding(text, file)
        self._node(text, file)

    def _node(self, text: str, file: str) -> None:
        """What says how a script is loaded by Node."""
        saying = [*node_files.beside(text + self._text, file, self._root)]
        why = os.path.relpath(file, self._root)
        names = (escape(os.path.relpath(one, self._root)) for one in saying)
        self._patterns = dict.fromkeys(names, why) | self._patterns
        explained = node_files.explained(text, saying)
        self._loaded(explained, [self._root, os.path.dirname(file)], file)

    # Folders

    def _in_shell(self, text: str, bases: list[str], why: str) -> None:
        """Folders behind a shell's text: of what it runs, or where it may find that."""
        programs = [*spelled.programs(text)]
        started = self._sight.files(programs, bases)
        self._take(started)
        for file in sorted(started):
            self._around(file, MOST_FILES)
        if why:
            self._expect(programs, started, why)
        self._mains(programs, bases, why)
        self._packages(text, spelled.words(text), bases, why)
        self._loaded(spelled.searched(text, modules=False), bases, why)
        by = os.path.relpath(why, self._root) if why else ""
        self._patterns = dict.fromkeys(spelled.in_root(text), by) | self._patterns
        if why or any(map(_is_code, self._files)):  # else a test is to find what it tests
            self._loaded(spelled.searched(text, modules=True), bases, why)
        if spelled.put_together(text, lambda word: self._sight.files([word], bases)):
            self._loaded(spelled.pieces(text), bases, why, most=MOST_FILES if why else 0)

    def _mains(self, words: Iterable[str], bases: list[str], why: str) -> None:
        """Folders that are programs, or loaded as one module."""
        for folder in self._sight.folders(words, bases):
            if not _MAINS.isdisjoint(self._sight.names(folder)):
                self._hold(folder, why or folder, MOST_FILES)

    def _loaded(
        self,
        words: Iterable[str],
        bases: list[str],
        why: str,
        *,
        folders: bool = True,
        most: int = MOST_FILES,
    ) -> None:
        """Something is loaded from these, or from files in them."""
        words = [*words]
        files = self._sight.files(words, bases)
        self._take(files)
        for file in sorted(files):
            self._around(file, MOST_FILES)
        for folder in self._sight.folders(words, bases) if folders else ():
            self._hold(folder, why, most)

    def _expect(self, words: Iterable[str], found: Collection[str], why: str) -> None:
        """Scripts that another would run and that are not there."""
        for place in spelled.missing(words, found, self._root):
            if inside(place, self._root):
                name = os.path.relpath(place, self._root)
                self._patterns.setdefault(name, os.path.relpath(why, self._root))

    def _packages(self, text: str, words: Iterable[str], bases: list[str], why: str) -> None:
        """The packages of modules that are run or imported, wherever they may lie."""
        tops = {name.strip(".").partition(".")[0] for name in spelled.modules(text)} - {""}
        below = [*bases, *self._sight.folders(words, bases)]
        for file in sorted(self._sight.files(_modules(text), below)):
            self._around(file, MOST_FILES)
        for folder in self._sight.folders(tops | {f"src/{top}" for top in tops}, below):
            if any(name.endswith(".py") for name in self._sight.names(folder)):
                self._hold(folder, why, MOST_FILES)

    def _hiding(self, text: str, why: str) -> None:
        """Modules in the root that hide those of the language, or those that a text names.

        A Python that is given its code in any other way than as a script looks there first.
        """
        if not _PYTHON.search(text) and not why.endswith(".py"):
            return
        by = os.path.relpath(why, self._root) if why else ""
        self._patterns.setdefault(HIDING, by)
        there = self._sight.names(self._root)
        hiding = [one for name in there & STANDARD for one in spelled.dotted(name)]
        hiding += [name for name in there if HIDES.fullmatch(name)]
        self._take(self._sight.files(hiding, [self._root], endings=False))
        for name in spelled.modules(text):
            top = name.strip(".").partition(".")[0]
            if top and top not in STANDARD and not {top, f"{top}.py"} & there:
                self._patterns = {f"{top}.py": by, f"{top}/__init__.py": by} | self._patterns

    def _around(self, file: str, most: int = 0) -> None:
        """The folder of a script counts, and that of each link to it."""
        for place in places(file):
            folder = os.path.dirname(place)
            if folder == self._root:
                beside = next(names for ends, names in _BESIDE if place.endswith(ends))
                self._patterns |= dict.fromkeys(beside, os.path.relpath(place, self._root))
            else:
                self._hold(folder, place, most)

    def _hold(self, folder: str, why: str, most: int = 0) -> None:
        below = folder[len(self._root) + 1 :] if inside(folder, self._root) else ""
        if not below or not SKIPPED.isdisjoint(below.split("/")):
            return
        if "pyvenv.cfg" in self._sight.names(os.path.dirname(folder)):
            return
        if not most or len(tree(self._root, below, most + 1)) <= most:
            self._folders.setdefault(folder, why)


def _options(words: Iterable[str]) -> set[str]:
    return {word.partition("=")[0] for word in words}


def _near(root: str) -> list[str]:
    """The files in a folder and those of the packages in it."""
    return [*glob("*", root_dir=root), *glob("*/__init__.*", root_dir=root)]


def _modules(text: str) -> list[str]:
    """The modules that a text runs or imports, as the files that they may be."""
    return [file for name in spelled.modules(text) for file in spelled.dotted(name)]


def _is_code(path: str) -> bool:
    """Whether a file may be run; what else a script names is mostly what it looks at."""
    return path.endswith(SCRIPTS) or os.access(path, os.X_OK) or text_of(path).startswith("#!")
