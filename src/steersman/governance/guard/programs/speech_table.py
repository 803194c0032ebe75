"""Interpreters: by which options each takes code, and what some of their libraries are."""

from typing import NamedTuple

from steersman.governance.guard.options import listed


class Speech(NamedTuple):
    """How an interpreter takes code; `stays` when it reads standard input after all of that."""

    language: str
    inline: str
    valued: str = ""
    single: bool = False
    stays: bool = False


_S = Speech
SPEECHES: dict[str, Speech] = {
    "python": _S("python", "-c", "-m -W -X --check-hash-based-pycs"),
    "perl": _S("perl", "-e -E", "-I -M -m -x -F"),
    "ruby": _S("ruby", "-e", "-r -I -C -E -F"),
    "node": _S(
        "node", "-e --eval -p --print -pe", "-r --require --import --loader --test-name-pattern"
    ),
    "bun": _S("node", "-e --eval -p --print", "-r --preload"),
    "tsx": _S("node", "-e --eval"),
    "ts-node": _S("node", "-e --eval -p", "-r -P -O"),
    "php": _S("php", "-r -B -R -E", "-d -c -z -S -t -f -F"),
    "lua": _S("lua", "-e", "-l"),
    "R": _S("r", "-e", "-f -g --file"),
    "guile": _S("lisp", "-c", "-l -L -s -e"),
    "julia": _S("julia", "-e -E --eval --print", "-L -p -t -J"),
    "gnuplot": _S("gnuplot", "-e", "-c"),
    "osascript": _S("osa", "-e", "-l -s"),
    "cmd": _S("cmd", ""),
    "tclsh": _S("tcl", "-c"),
    "groovy": _S("groovy", "-e", "-cp"),
    "scala": _S("groovy", "-e"),
    "kotlin": _S("groovy", "-e"),
    "jshell": _S("groovy", ""),
    "elixir": _S("elixir", "-e --eval", "-r"),
    "erl": _S("elixir", "-eval -run", "-pa", True, True),
    "iex": _S("elixir", "-e", "-S -r", stays=True),
    "ghc": _S("haskell", "-e"),
    "runghc": _S("haskell", "-e"),
    "sbcl": _S("lisp", "--eval", "--load --script", stays=True),
    "clisp": _S("lisp", "-x"),
    "ecl": _S("lisp", "-eval"),
    "racket": _S("lisp", "-e", "-l"),
    "clojure": _S("lisp", "-e --eval"),
    "clj": _S("lisp", "-e"),
    "bb": _S("lisp", "-e"),
    "chez": _S("lisp", "-e"),
    "csi": _S("lisp", "-e"),
    "gsi": _S("lisp", "-e"),
    "janet": _S("lisp", "-e"),
    "octave": _S("r", "--eval", "-p"),
    "matlab": _S("r", "-r -batch", "", True),
    "maxima": _S("r", "--batch-string"),
    "gp": _S("r", ""),
    "sage": _S("python", "-c"),
    "ocaml": _S("ocaml", "-e"),
    "swift": _S("swift", "-e"),
    "crystal": _S("ruby", "eval"),
    "nim": _S("nim", "--eval"),
    "raku": _S("perl", "-e"),
    "perl6": _S("perl", "-e"),
    "expect": _S("tcl", "-c", "-f"),
    "wish": _S("tcl", ""),
    "jimsh": _S("tcl", "-e"),
    "ghci": _S("haskell", "-e", stays=True),
    "groovysh": _S("groovy", "-e", "-cp"),
    "scheme": _S("lisp", "--eval", "--load --band", stays=True),
    "gosh": _S("lisp", "-e", "-I -l"),
    "fennel": _S("lisp", "-e --eval", "-l --load"),
    "pry": _S("ruby", "-e --exec", "-r --require -I", stays=True),
    "utop": _S("ocaml", "-e", "-I -init", stays=True),
    "csharp": _S("java", "-e", "-r"),
    "fsharpi": _S("java", "", "-r --reference"),
    "swipl": _S("prolog", "-g -t", "-f -s -l", stays=True),
    "qjs": _S("node", "-e --eval", "-I"),
    "m4": _S("m4", "", "-D -I -U"),
    "vimx": _S("editor", "-c"),
    "gdb": _S(
        "gdb",
        "-ex -iex --eval-command --init-eval-command",
        "-x -p --args --command --pid -cd -d",
        True,
        True,
    ),
    "lldb": _S("gdb", "-o -O --one-line -k", "-s -p -n", stays=True),
    "r2": _S("editor", "-c -q"),
}
ALIASES = {
    "python2": "python",
    "python3": "python",
    "pypy": "python",
    "pypy3": "python",
    "ipython": "python",
    "ipython3": "python",
    "bpython": "python",
    "micropython": "python",
    "jython": "python",
    "nodejs": "node",
    "Rscript": "R",
    "r": "R",
    "luajit": "lua",
    "texlua": "lua",
    "luau": "lua",
    "cmd.exe": "cmd",
    "jruby": "ruby",
    "irb": "ruby",
    "php-cgi": "php",
    "guile3": "guile",
    "runhaskell": "runghc",
    "octave-cli": "octave",
    "mit-scheme": "scheme",
    "chezscheme": "scheme",
    "chibi-scheme": "gosh",
    "petite": "scheme",
    "bigloo": "gosh",
    "prolog": "swipl",
    "d8": "qjs",
    "jsc": "qjs",
}
# Programs with a console: its language, and the words after which it reads standard input.
CONSOLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "artisan": ("php", ("tinker",)),
    "bundle": ("ruby", ("console",)),
    "cabal": ("haskell", ("repl",)),
    "django-admin": ("python", ("shell", "shell_plus")),
    "dotnet": ("java", ("fsi",)),
    "flask": ("python", ("shell",)),
    "jupyter": ("python", ("console",)),
    "kotlinc": ("groovy", ("",)),
    "lein": ("lisp", ("repl",)),
    "manage.py": ("python", ("shell", "shell_plus")),
    "nim": ("nim", ("secret",)),
    "rails": ("ruby", ("console", "c")),
    "sbt": ("groovy", ("console",)),
    "stack": ("haskell", ("ghci", "repl")),
    "swift": ("swift", ("repl",)),
    "uv": ("python", ("run -",)),
}
MODULES_SAFE = frozenset(
    listed(
        """pytest unittest json.tool venv compileall py_compile timeit cProfile profile
        pdb doctest black ruff mypy flake8 isort pylint coverage build tox nox sphinx
        mkdocs pre_commit pip_audit bandit pyright pycodestyle pydocstyle ensurepip site
        platform sysconfig ast dis tokenize trace calendar this zipfile tarfile gzip
        base64 uv virtualenv pydoc inspect tabnanny autopep8 yapf pyupgrade
        vulture radon hypothesis jupyter notebook ipykernel flask django uvicorn
        gunicorn streamlit celery idlelib turtle sqlite3 webbrowser
        textwrap"""
    )
)
# Libraries that make a word of code a utility: which, where its name is not the utility's own.
UTILITIES: dict[str, dict[str, str]] = {
    "un": dict.fromkeys(listed("cp ln mv rm mkdir rmdir install chmod touch"), ""),
    "ExtUtils::Command": {
        **dict.fromkeys(listed("cp mv cat touch chmod"), ""),
        "rm_f": "rm -f",
        "rm_rf": "rm -rf",
        "mkpath": "mkdir -p",
    },
}
