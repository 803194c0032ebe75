"""Which language a file is written in, and whether there is a grammar for it here.

A grammar is a wheel of its own, loaded when the first file of its language is read. One that is
missing is not an error: files of that language have no outline, and a note says what to install.
"""

from __future__ import annotations

import os
import re
from functools import cache
from importlib.util import find_spec

from msgspec import Struct


class Language(Struct, frozen=True):
    """A language: its grammar (`package:function`, empty when read without one), what its files
    are called, and how comments and strings look (a name in `words`)."""

    name: str
    grammar: str = ""
    endings: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    lexis: str = "c"


LANGUAGES = (
    Language("python", "python", (".py", ".pyi", ".pyw"), ("SConstruct", "SConscript"),
             ("python", "python3", "python2"), "python"),
    Language("javascript", "javascript", (".js", ".jsx", ".mjs", ".cjs"), (), ("node",), "script"),
    Language("typescript", "typescript:language_typescript", (".ts", ".mts", ".cts"),
             (), ("deno", "ts-node"), "script"),
    Language("tsx", "typescript:language_tsx", (".tsx",), lexis="script"),
    Language("go", "go", (".go",)),
    Language("rust", "rust", (".rs",), lexis="rust"),
    Language("java", "java", (".java",)),
    Language("c", "c", (".c", ".h")),
    Language("cpp", "cpp", (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".ipp", ".tpp")),
    Language("c-sharp", "c_sharp", (".cs",)),
    Language("ruby", "ruby", (".rb", ".rake", ".gemspec"), ("Rakefile", "Gemfile"),
             ("ruby",), "hash"),
    Language("php", "php:language_php", (".php",), (), ("php",), "php"),
    Language("kotlin", "kotlin", (".kt", ".kts")),
    Language("swift", "swift", (".swift",)),
    Language("bash", "bash", (".sh", ".bash"), (".bashrc", ".bash_profile", ".profile"),
             ("bash", "sh", "dash", "ksh"), "shell"),
    Language("markdown", "", (".md", ".markdown"), lexis="none"),
    Language("toml", "", (".toml",), ("Cargo.lock", "poetry.lock", "uv.lock"), lexis="none"),
    Language("yaml", "", (".yaml", ".yml"), lexis="none"),
    Language("json", "", (".json",), lexis="none"),
)  # fmt: skip

BY_NAME = {language.name: language for language in LANGUAGES}
_BY_ENDING = {ending: language for language in LANGUAGES for ending in language.endings}
_BY_FILE = {name: language for language in LANGUAGES for name in language.names}
_BY_PROGRAM = {program: language for language in LANGUAGES for program in language.programs}
_SHEBANG = re.compile(
    rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*(?:\w+=\S*\s+)*)?(?:\S*/)?([A-Za-z-]+\d?)"
)


def of_path(path: str) -> Language | None:
    """The language that a file's name shows."""
    name = os.path.basename(path)
    found = _BY_FILE.get(name)
    if found is None:
        stem, ending = os.path.splitext(name)
        found = _BY_ENDING.get(ending) or _BY_ENDING.get(ending.lower()) if stem else None
    return found


def of_first_line(head: bytes) -> Language | None:
    """The language of a script, by its first line."""
    match = _SHEBANG.match(head[:200])
    return _BY_PROGRAM.get(match[1].decode()) if match else None


def may_be_script(path: str) -> bool:
    """Whether only its first line can tell what a file is: its name has no ending."""
    return "." not in os.path.basename(path)


@cache
def is_known(language: Language) -> bool:
    """Whether files of a language can be read here."""
    return not language.grammar or find_spec(_package(language)) is not None


def missing(language: Language) -> str:
    """What to say when there is no grammar."""
    wheel = _package(language).replace("_", "-")
    return f"there is no grammar for {language.name} here; `pip install {wheel}` provides it"


def _package(language: Language) -> str:
    return "tree_sitter_" + language.grammar.partition(":")[0]
