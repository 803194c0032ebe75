"""What lies around the scripts of a hook that can say no is not changed unasked, however loaded."""

import importlib.util
import json
import py_compile
import sys
from pathlib import Path

import pytest

from steersman.records.message import ConfirmRequest, ConfirmResponse, ToolResult, TurnEnd
from tests.cli.kit import DONE, READ, shell
from tests.hooks.kit import bodies, hook, opened, play, runs, worked
from tests.world import call

PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
NO = "exit 2\n"
YES = "exit 0\n"
LOADED = "exit 1\n"  # of a file that cannot be run by its name
# How a hook comes to what it runs: files, its command, what the agent writes.
SPELLINGS = {
    "a path that is joined": (
        {
            "scripts/guard.py": 'NAME = "rules"\nHERE = os.path.dirname(__file__)\n'
            'runpy.run_path(os.path.join(HERE, "lib", NAME + ".py"))\n',
            "scripts/lib/rules.py": NO,
        },
        "python scripts/guard.py",
        "scripts/lib/rules.py",
    ),
    "a path that is joined, of another folder": (
        {
            "scripts/guard.py": 'ROOT = os.environ["CLAUDE_PROJECT_DIR"]\n'
            'subprocess.run(["sh", os.path.join(ROOT, "lib", NAME)], check=True)\n',
            "lib/rules": NO,
        },
        "python scripts/guard.py",
        "lib/rules",
    ),
    "a variable in a path": (
        {"scripts/guard.sh": '. "$(dirname "$0")/lib/$x.sh"\n', "scripts/lib/rules.sh": NO},
        "x=rules sh scripts/guard.sh",
        "scripts/lib/rules.sh",
    ),
    "a variable in a path of another folder": (
        {"scripts/guard.sh": '. "$(dirname "$0")/../lib/$x.sh"\n', "lib/rules.sh": NO},
        "x=rules sh scripts/guard.sh",
        "lib/rules.sh",
    ),
    "an f-string": (
        {
            "scripts/guard.py": 'subprocess.run(["sh", f"{ROOT}/lib/{name}.sh"])\n',
            "lib/rules.sh": NO,
        },
        "python scripts/guard.py",
        "lib/rules.sh",
    ),
    "a path of pathlib": (
        {
            "scripts/guard.py": "HERE = Path(__file__).parent.parent\n"
            'os.execv("/bin/sh", ["sh", HERE / "lib" / name])\n',
            "lib/rules": NO,
        },
        "python scripts/guard.py",
        "lib/rules",
    ),
    "an import over several lines": (
        {"scripts/guard.py": "from rules import (\n    first,\n    last,\n)\n",
         "rules/last.py": NO},
        "PYTHONPATH=. python scripts/guard.py",
        "rules/last.py",
    ),
    "importlib": (
        {"scripts/guard.py": 'importlib.import_module("rules." + name)\n', "rules/last.py": NO},
        "PYTHONPATH=. python scripts/guard.py",
        "rules/last.py",
    ),
    "__import__": (
        {"scripts/guard.py": '__import__("rules").check()\n', "rules.py": NO},
        "PYTHONPATH=. python scripts/guard.py",
        "rules.py",
    ),
    "a folder as a program": (
        {"tools/guard/__main__.py": "from rules import all\n", "tools/guard/rules.py": NO},
        "python tools/guard",
        "tools/guard/rules.py",
    ),
    "a module beside the one that is run": (
        {"rules/__init__.py": "", "rules/guard.py": "from . import (\nlast)\n",
         "rules/last.py": NO},
        "python -m rules.guard",
        "rules/last.py",
    ),
    "a package in its own file": (
        {"rules/__init__.py": "", "rules/guard.py": ""},
        "python -m rules.guard",
        "rules/__init__.py",
    ),
    "include in a Makefile": (
        {"Makefile": "include mk/*.mk\n", "mk/guard.mk": "check:\n\texit 2\n"},
        "make check",
        "mk/guard.mk",
    ),
    "make -f": (
        {"mk/guard.mk": "include $(dir)/rules.mk\n", "mk/rules.mk": "check:\n\texit 2\n"},
        "make -f mk/guard.mk check",
        "mk/rules.mk",
    ),
    "just": (
        {"justfile": "import 'recipes/guard.just'\n", "recipes/guard.just": "check:\n  exit 2\n"},
        "just check",
        "recipes/guard.just",
    ),
    "npm run": (
        {"package.json": json.dumps({"scripts": {"check": "node tools/guard.js"}}),
         "tools/guard.js": "require(`./${name}`)\n", "tools/rules.js": NO},
        "npm run check",
        "tools/rules.js",
    ),
    "a module that hides another": (
        {"scripts/guard.py": "import json\n"},
        "python scripts/guard.py",
        "scripts/json.py",
    ),
    "a package that hides a module, in the root": (
        {"guard.py": "import json\n"},
        "python guard.py",
        "json/__init__.py",
    ),
    "a module that hides another, in the root": (
        {"guard.py": "import json\n"},
        "python guard.py",
        "re.py",
    ),
    "a module that hides the one that is run": (
        {"src/app.py": ""},
        "python -m pytest src",
        "pytest.py",
    ),
    "node -r": (
        {"pre/first.js": "require(`./${name}`)\n", "pre/rules.js": NO},
        "node -r ./pre/first -e 0",
        "pre/rules.js",
    ),
    "NODE_PATH": (
        {"scripts/guard.js": 'require("rules")\n', "lib/rules.js": NO},
        "NODE_PATH=lib node scripts/guard.js",
        "lib/rules.js",
    ),
    "PYTHONPATH": (
        {"scripts/guard.py": "import json\n", "lib/other.py": NO},
        "PYTHONPATH=lib python scripts/guard.py",
        "lib/json.py",
    ),
    "BASH_ENV": (
        {"env/start": ". $(dirname $BASH_ENV)/rules\n", "env/rules": NO},
        "BASH_ENV=env/start bash -c true",
        "env/rules",
    ),
    "every file of a folder": (
        {"scripts/guard.sh": 'for f in hooks.d/*.sh; do . "$f"; done\n', "hooks.d/one.sh": YES},
        "sh scripts/guard.sh",
        "hooks.d/two.sh",
    ),
    "every file of a folder, in the command": (
        {"hooks.d/one.sh": YES},
        'for f in hooks.d/*; do sh "$f"; done',
        "hooks.d/two.sh",
    ),
    "run-parts": ({"hooks.d/one": YES}, "run-parts hooks.d", "hooks.d/two"),
    "a pipe into a shell": ({"hooks.d/one": YES}, "cat hooks.d/* | sh", "hooks.d/two"),
    "find -exec": (
        {"hooks.d/one": YES},
        "find hooks.d -type f -exec sh {} ';'",
        "hooks.d/two",
    ),
    "cd": ({"tools/y": ". ./$x\n", "tools/rules": NO}, "cd tools && ./y", "tools/rules"),
    "exec": ({"tools/y": ". ./$x\n", "tools/rules": NO}, "exec sh tools/y", "tools/rules"),
    "env -S": (
        {"tools/y.sh": ". ./$x\n", "tools/rules": NO},
        "env -S 'sh tools/y.sh'",
        "tools/rules",
    ),
    "a link to a script": (
        {"hook": "-> tools/y.py", "tools/y.py": "import json\n"},
        "python hook",
        "tools/json.py",
    ),
    "a link to a script, beside the link": (
        {"bin/hook": "-> ../tools/y.sh", "tools/y.sh": '. "$(dirname "$0")/$x"\n', "bin/rules": NO},
        "sh bin/hook",
        "bin/rules",
    ),
    "a shell in the words of another program": (
        {"tools/y": ". ./$x\n", "tools/rules": NO},
        "nice -n 5 timeout 9 sh tools/y",
        "tools/rules",
    ),
    "an option with a value": (
        {"tools/guard/__main__.py": "", "tools/guard/rules.py": NO},
        "python -X dev tools/guard",
        "tools/guard/rules.py",
    ),
    "a command in a word": (
        {"hooks.d/one": YES},
        "bash -c 'for f in hooks.d/*; do . $f; done'",
        "hooks.d/two",
    ),
    "files of a folder in Node": (
        {"scripts/guard.js": 'for (const f of fs.readdirSync("x")) require("../rules/" + f)\n',
         "rules/one.js": YES},
        "node scripts/guard.js",
        "rules/two.js",
    ),
    "an import of Node": (
        {"scripts/guard.mjs": 'import {\n  a\n} from "../lib/a.mjs"\n', "lib/a.mjs": ""},
        "node scripts/guard.mjs",
        "lib/b.mjs",
    ),
    "files of a folder in Python": (
        {"scripts/guard.py": 'for f in (ROOT / "rules").iterdir():\n    subprocess.run([f])\n',
         "rules/one": YES},
        "python scripts/guard.py",
        "rules/two",
    ),
    "sys.path": (
        {"scripts/guard.py": 'sys.path.insert(0, "lib")\nimport json\n', "lib/other.py": ""},
        "python scripts/guard.py",
        "lib/json.py",
    ),
    "a script that says its language": (
        {"scripts/guard": "#!/usr/bin/env python3\nsubprocess.run([os.path.join(R, 'lib', n)])\n",
         "lib/rules": NO},
        "scripts/guard",
        "lib/rules",
    ),
    "include of a variable": (
        {"Makefile": "include $(D)/guard.mk\nD = mk\n", "mk/guard.mk": NO},
        "make check",
        "mk/guard.mk",
    ),
    "a module of just": (
        {"justfile": "mod guard\n", "guard.just": NO},
        "just guard check",
        "guard.just",
    ),
    "ruby": (
        {"scripts/guard.rb": 'require_relative "../lib/a"\n', "lib/a.rb": "", "lib/b.rb": NO},
        "ruby scripts/guard.rb",
        "lib/b.rb",
    ),
    "perl -I": (
        {"scripts/guard.pl": "use Rules;\n", "lib/Rules.pm": NO},
        "perl -Ilib scripts/guard.pl",
        "lib/Rules.pm",
    ),
    "go run": (
        {"tools/guard/main.go": "", "tools/guard/rules.go": NO},
        "go run ./tools/guard",
        "tools/guard/rules.go",
    ),
    "a program that comes first": (
        {"bin/other": YES},
        "PATH=$PWD/bin:$PATH judge",
        "bin/judge",
    ),
    "a script of a project": (
        {"pyproject.toml": '[project.scripts]\nguard = "rules.main:go"\n',
         "rules/main.py": "", "rules/all.py": NO},
        "uv run guard",
        "rules/all.py",
    ),
    "a module that hides another, of code on a command line": (
        {"scripts/guard.sh": "python3 -c 'import json; json.loads(input())'\n"},
        "sh scripts/guard.sh",
        "re.py",
    ),
    "a package that hides a module, of code on a command line": (
        {".claude/hooks/guard.sh": 'P=python3\n"$P" -c "import json"\n'},
        "sh .claude/hooks/guard.sh",
        "re/__init__.py",
    ),
    "a module that hides another, of code in a script": (
        {"scripts/guard.sh": "python3 - <<E\nimport json\nE\n"},
        "sh scripts/guard.sh",
        "re.py",
    ),
    "a module that hides another, of code that is read": (
        {"scripts/guard.sh": "python3 < scripts/guard.txt\n", "scripts/guard.txt": ""},
        "sh scripts/guard.sh",
        "re.py",
    ),
    "a module of another's, of code in a script": (
        {"scripts/guard.sh": "python3 - <<E\nimport yaml\nE\n"},
        "sh scripts/guard.sh",
        "yaml.py",
    ),
    "a module where a script says": (
        {"scripts/guard.sh": "export PYTHONPATH=$PWD\nexec judge\n"},
        "sh scripts/guard.sh",
        "sitecustomize.py",
    ),
    "a module that hides another, of a Makefile": (
        {"Makefile": "check:\n\t@python3 -m tools.guard\n", "tools/guard.py": "import json\n"},
        "make check",
        "re.py",
    ),
    "a module that hides another, of a command": ({}, "python3 -c 'import json'", "re.py"),
    "what says how Node reads a script": (
        {"scripts/guard.js": "process.exit(2)\n"},
        "node scripts/guard.js",
        "package.json",
    ),
    "what says how Node reads a script, where it is": (
        {".claude/hooks/guard.js": "", "package.json": "{}"},
        "node .claude/hooks/guard.js",
        "package.json",
    ),
    "what says how Node reads a script, between": (
        {"a/b/c/guard": ""},
        "node a/b/c/guard",
        "a/package.json",
    ),
    "what says how Node reads what a script loads": (
        {"scripts/guard.mjs": 'import "../lib/deep/a.js"\n', "lib/deep/a.js": ""},
        "node scripts/guard.mjs",
        "lib/package.json",
    ),
    "a name of a package for its own file": (
        {"scripts/guard.mjs": 'import "#rules"\n', "lib/rules.mjs": "",
         "package.json": json.dumps({"imports": {"#rules": {"node": "./lib/rules.mjs"}}})},
        "node scripts/guard.mjs",
        "lib/rules.mjs",
    ),
    "the main file of a folder": (
        {"scripts/guard.js": 'require("../rules")\n', "rules/lib/first.js": "",
         "rules/package.json": json.dumps({"main": "lib/first.js"})},
        "node scripts/guard.js",
        "rules/lib/first.js",
    ),
    "what says how tsx reads a script": (
        {"scripts/guard.ts": ""},
        "npx tsx scripts/guard.ts",
        "tsconfig.json",
    ),
    "a pattern of make": (
        {"Makefile": "check: check-all\ncheck-%:\n\tsh rules/guard $*\n", "rules/guard": NO},
        "make check",
        "rules/guard",
    ),
    "a folder by a pattern of make": (
        {"Makefile": "check-%:\n\tsh rules/$*\n", "rules/guard": NO},
        "make check-guard",
        "rules/guard",
    ),
    "$(shell) in a Makefile": (
        {"Makefile": "R := $(shell sh rules/guard)\ncheck:\n\texit $(R)\n", "rules/guard": NO},
        "make check",
        "rules/guard",
    ),
    "define in a Makefile": (
        {"Makefile": "define guard\n\tsh rules/guard\nendef\ncheck:\n\t$(guard)\n",
         "rules/guard": NO},
        "make check",
        "rules/guard",
    ),
    "a variable of one target": (
        {"Makefile": "G = true\ncheck: G=rules/guard\ncheck:\n\tsh $(G)\n", "rules/guard": NO},
        "make check",
        "rules/guard",
    ),
    "a target by a variable": (
        {"Makefile": "all:\n\ttrue\nT = check\n$(T):\n\tsh rules/guard\n", "rules/guard": NO},
        "make check",
        "rules/guard",
    ),
    "PATH in a Makefile": (
        {"Makefile": "export PATH := $(CURDIR)/rules:$(PATH)\ncheck:\n\tguard\n",
         "rules/guard": NO},
        "make check",
        "rules/guard",
    ),
    "a program that comes first in a Makefile": (
        {"Makefile": "export PATH := $(CURDIR)/rules:$(PATH)\ncheck:\n\tjudge\n",
         "rules/guard": NO},
        "make check",
        "rules/judge",
    ),
    "what a target needs": (
        {"Makefile": "check: rules/guard\n\tsh $<\n", "rules/guard": NO},
        "make check",
        "rules/guard",
    ),
    "a shell of a Makefile": (
        {"Makefile": "SHELL = rules/guard\ncheck:\n\ttrue\n", "rules/guard": NO},
        "make check",
        "rules/guard",
    ),
    "a call in a Makefile": (
        {"Makefile": "run = sh $(1)/$(2)\ncheck:\n\t$(call run,rules,guard)\n",
         "rules/guard": NO},
        "make check",
        "rules/guard",
    ),
    "a package of a workspace": (
        {"package.json": '{"workspaces": ["packages/*"]}', "packages/a/check.sh": NO,
         "packages/a/package.json": json.dumps({"name": "@x/b", "scripts": {"c": "sh check.sh"}})},
        "npm run c -w @x/b",
        "packages/a/check.sh",
    ),
    "what a package of a workspace says": (
        {"package.json": '{"workspaces": ["packages/*"]}',
         "packages/a/package.json": json.dumps({"name": "@x/b", "scripts": {"c": "exit 2"}})},
        "npm run c --workspace=@x/b",
        "packages/a/package.json",
    ),
    "jq -L": ({"rules/a.jq": NO}, "jq -L rules 'import \"a\" as a; .'", "rules/b.jq"),
    "sed -f": (
        {"scripts/guard.sh": "sed -nf rules/a.sed\n", "rules/a.sed": LOADED},
        "sh scripts/guard.sh",
        "rules/a.sed",
    ),
    "awk -f": (
        {"scripts/guard.sh": "awk -v x=1 -f rules/guard\n", "rules/guard": LOADED},
        "sh scripts/guard.sh",
        "rules/guard",
    ),
    "do of Perl": (
        {"scripts/guard.pl": 'do "$FindBin::Bin/../rules/r.inc";\n', "rules/r.inc": LOADED},
        "perl scripts/guard.pl",
        "rules/r.inc",
    ),
    "perl -I.": ({"scripts/guard.pl": "use Rules;\n"}, "perl -I. scripts/guard.pl", "Rules.pm"),
    "NODE_PATH of the root": (
        {"scripts/guard.sh": "export NODE_PATH=$PWD\nnode -e 'require(\"rules\")'\n"},
        "sh scripts/guard.sh",
        "rules.js",
    ),
    "an interpreter of the project": (
        {"scripts/guard": "#!tools/run\n", "tools/run": NO},
        "scripts/guard",
        "tools/run",
    ),
    "a byte that is no text": (
        {"scripts/guard.sh": ". rules/guard\n: \0\n", "rules/guard": NO},
        "sh scripts/guard.sh",
        "rules/guard",
    ),
    "a long script": (
        {"scripts/guard.sh": ": nothing\n" * 40_000 + ". rules/guard\n", "rules/guard": NO},
        "sh scripts/guard.sh",
        "rules/guard",
    ),
    "a script that is too long": (
        {"scripts/guard.sh": ": nothing\n" * 60_000 + ". ./last.sh\n", "last.sh": NO},
        "sh scripts/guard.sh",
        "last.sh",
    ),
    "a comment of another language": (
        {"scripts/guard.sh": "//bin/sh rules/guard\n", "rules/guard": NO},
        "sh scripts/guard.sh",
        "rules/guard",
    ),
}  # fmt: skip


def made(root: Path, files: dict[str, str]) -> None:
    """Write files, or links where a text says so."""
    for name, text in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("-> "):
            place.symlink_to(text.removeprefix("-> "))
        else:
            place.write_text(text)
            place.chmod(0o644 if text == LOADED else 0o755)


WAYS = {
    "edit": lambda path: call("workspace_write_file", path=path, content=YES),
    "command": lambda path: shell(f'mkdir -p "$(dirname {path})"; echo exit 0 > {path}'),
}


def result_of(environ, workspace, script, hooks, change):
    """What comes of a call where nobody is asked."""
    model = script({"tool_calls": [change]}, DONE)

    async def scenario(host):
        thread = await worked(host, workspace, model, hooks=hooks)
        (result,) = bodies(host, thread, ToolResult)
        return result

    return play(environ, scenario)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_what_a_hook_loads_is_not_changed_unasked(environ, workspace, script, spelling, way):
    files, command, target = SPELLINGS[spelling]
    made(workspace, files)
    before = {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
    result = result_of(environ, workspace, script, hook("PreCompact", command), WAYS[way](target))
    assert result.status == "denied", result
    assert "hook" in result.message
    assert {path: path.read_bytes() for path in workspace.rglob("*") if path.is_file()} == before


GUARD = 'case "$1" in src/*) exit 2;; esac\nruff check src tests\n'
PYTHON_GUARD = (
    'import json, subprocess, sys\nALLOWED = ["src", "tests"]\n'
    'if not path.startswith(("src/", "tests/")):\n'
    '    sys.exit(2)\nsubprocess.run(["ruff", "check", "src", "tests"])\n'
)
USUAL = {
    "a checker": ({}, "ruff check src tests"),
    "tests": ({}, "python -m pytest -q tests"),
    "a runner of tests": ({"Makefile": "test:\n\tpytest tests\n\tmypy src\n"}, "make test"),
    "a larger Makefile": (
        {
            "Makefile": "SRC := $(wildcard src/*.py)\nV := $(shell git describe)\nexport V\n"
            "%.html: %.md\n\tpandoc $< -o $@\ntest: $(SRC)\n\t@pytest -q tests $(SRC)\n"
            "test: V=1\n$(B):\n\tmkdir -p $@\nrun:\n\tpython -m src.app\n"
        },
        "make test",
    ),
    "a package's tests": (
        {"package.json": json.dumps({"scripts": {"test": "jest src"}})},
        "npm test",
    ),
    "a guard": ({".claude/hooks/guard.sh": GUARD}, "sh .claude/hooks/guard.sh"),
    "a guard elsewhere": ({"scripts/guard.sh": GUARD}, "sh scripts/guard.sh"),
    "a guard in Python": ({"scripts/guard.py": PYTHON_GUARD}, "python scripts/guard.py"),
    "a guard by a variable": (
        {"scripts/guard.sh": 'PY=${PYTHON:-python3}\n"$PY" -m mypy src\n'},
        '"$CLAUDE_PROJECT_DIR"/scripts/guard.sh',
    ),
    "files that git lists": ({}, "git ls-files src tests | xargs ruff check"),
    "tests of a package": ({}, "PYTHONPATH=src python -m pytest tests"),
    "a guard in Node": (
        {"scripts/guard.js": 'if (/^src/.exec(p) || p.startsWith("tests/")) process.exit(2)\n'},
        "node scripts/guard.js",
    ),
    "a virtual environment": (
        {".venv/bin/python": "", ".venv/pyvenv.cfg": ""},
        ".venv/bin/python -m pytest tests",
    ),
}


@pytest.mark.parametrize("usual", USUAL)
def test_what_a_hook_looks_at_is_changed_as_ever(environ, workspace, script, usual):
    files, command = USUAL[usual]
    made(workspace, {"src/app.py": "", "tests/test_app.py": "", **files})
    for target in ("src/app.py", "src/new.py", "tests/test_app.py"):
        result = result_of(
            environ, workspace, script, hook("PreCompact", command), WAYS["command"](target)
        )
        assert result.status == "ok", (target, result.message)


@pytest.mark.parametrize("event", ["PostToolUse", "Notification", "SessionStart"])
def test_the_folder_of_a_hook_that_only_tells_something_is_free(environ, workspace, script, event):
    made(workspace, {"scripts/format.sh": YES, "scripts/build.py": ""})
    own = hook(event, "sh scripts/format.sh")
    result = result_of(environ, workspace, script, own, WAYS["edit"]("scripts/build.py"))
    assert result.status == "ok", result.message


LATER = {
    "beside the script": ({"bin/x.py": "import json\n"}, "python3 bin/x.py", "bin/json.py"),
    "beside a script in the root": ({"x.py": "import json\n"}, "python3 x.py", "json/__init__.py"),
    "in the root": ({}, "python3 -c 'import json'", "json.py"),
    "where a variable says": (
        {"scripts/guard.py": "import json\n", "lib/other.py": ""},
        "PYTHONPATH=lib python3 scripts/guard.py",
        "lib/json.py",
    ),
    "in a folder that is gone through": (
        {"scripts/guard.sh": 'for f in hooks.d/*; do . "$f"; done\n', "hooks.d/one": ""},
        "sh scripts/guard.sh",
        "hooks.d/two",
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", LATER)
def test_a_hook_is_not_run_unasked_with_what_is_new_there(environ, workspace, script, place):
    """Whoever wrote it, and in whatever way: where nobody is asked, the call is denied."""
    files, command, new = LATER[place]
    made(workspace, {"a.txt": "", **files})
    model = script({"tool_calls": [READ]}, DONE, {"tool_calls": [READ]}, DONE)

    async def scenario(host):
        thread = await worked(host, workspace, model, hooks=hook("PreToolUse", command))
        made(workspace, {new: ""})
        await thread.send("again")
        await thread.wait()
        assert [one.decision for one in runs(host, thread)] == ["", "ask"]
        return bodies(host, thread, ToolResult)[-1].message

    assert f"{new} changed, which this hook runs" in play(environ, scenario)


def test_a_hook_leaves_no_compiled_modules_in_its_folder(environ, workspace, script):
    """They would be new there before the next run."""
    made(workspace, {"scripts/guard.py": "import rules\n", "scripts/rules.py": ""})
    model = script({"tool_calls": [READ]}, {"tool_calls": [READ]}, DONE)
    own = hook("PreToolUse", "python3 scripts/guard.py")

    async def scenario(host):
        thread = await worked(host, workspace, model, hooks=own)
        return [(one.decision, one.problem, one.changes) for one in runs(host, thread)]

    assert play(environ, scenario) == [("", "", ())] * 2
    assert sorted(path.name for path in (workspace / "scripts").iterdir()) == [
        "guard.py",
        "rules.py",
    ]


def build(number):
    """Edits of files beside the script of a hook, in one call."""
    edits = [{"search": f"version {number}", "replace": f"version {number + 1}"}]
    files = [{"path": f"scripts/{name}.py", "edits": edits} for name in ("build", "deploy")]
    return {"tool_calls": [call("workspace_edit_files", files=files)]}


def answered(environ, workspace, model, answer):
    """What a user is asked who gives one answer, and whether each call was carried out."""
    made(
        workspace,
        {
            "scripts/guard.sh": YES,
            "scripts/build.py": "version 0",
            "scripts/deploy.py": "version 0",
        },
    )
    asked = []

    async def scenario(host):
        own = hook("PreToolUse", "sh scripts/guard.sh")
        thread = await opened(
            host, workspace, model, hooks=own, approvals="on-failure", attended=True
        )
        await thread.send("go")
        async for message in thread.events(0):
            if isinstance(message.body, ConfirmRequest):
                asked.append(message.body)
                await thread.answer(message.corr, answer)
            if isinstance(message.body, TurnEnd):
                break
        await thread.wait()
        return [one.status for one in bodies(host, thread, ToolResult)]

    return asked, play(environ, scenario)


def test_who_approves_a_change_beside_a_hook_is_asked_once(environ, workspace, script):
    """One question for all files of a call, and none when the hook is run with them."""
    model = script(build(0), {"tool_calls": [READ]}, DONE)
    asked, statuses = answered(environ, workspace, model, ConfirmResponse("allow"))
    assert [one.reason for one in asked] == [
        "a hook runs scripts/guard.sh, which may load any file in scripts"
    ]
    assert statuses == ["ok", "ok"]


def test_the_answer_can_hold_for_the_thread(environ, workspace, script):
    model = script(*map(build, range(3)), DONE)
    always = ConfirmResponse("allow", scope="thread", lasting="same")
    asked, statuses = answered(environ, workspace, model, always)
    ((lasting,),) = [one.lasting for one in asked]
    assert (lasting.name, lasting.scopes) == ("same", ("thread",))
    assert statuses == ["ok"] * 3


def test_an_answer_about_any_edit_does_not_hold_for_what_a_hook_loads(environ, workspace, script):
    model = script(*map(build, range(2)), DONE)
    edits = ConfirmResponse("allow", scope="thread", lasting="edits")
    asked, statuses = answered(environ, workspace, model, edits)
    assert (len(asked), statuses) == (2, ["ok", "ok"])


NEW = {
    "another file of the runner": ({"Makefile": "check:\n"}, "make check", "GNUmakefile"),
    "a compiled package": ({"guard.py": "import json\n"}, "python guard.py", "json/__init__.pyc"),
    "a script that may be there": (
        {"scripts/guard.sh": "[ ! -f lib/more.sh ] || . lib/more.sh\n"},
        "sh scripts/guard.sh",
        "lib/more.sh",
    ),
    "one of many": (
        {f"hooks.d/{at}": YES for at in range(70)},
        'for f in hooks.d/*; do sh "$f"; done',
        "hooks.d/new",
    ),
}


@pytest.mark.parametrize("new", NEW)
def test_what_a_hook_would_load_is_not_created_unasked(environ, workspace, script, new):
    files, command, target = NEW[new]
    made(workspace, files)
    own = hook("PreCompact", command)
    result = result_of(environ, workspace, script, own, WAYS["command"](target))
    assert (result.status, (workspace / target).exists()) == ("denied", False)


def test_a_hook_does_not_load_modules_that_others_compiled(environ, workspace, script):
    """They may say something else than their source."""
    made(workspace, {"guard.py": "import rules\n", "rules.py": "raise SystemExit(0)\n"})
    compiled = importlib.util.cache_from_source(str(workspace / "rules.py"))
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(workspace / "rules.py"), compiled, invalidation_mode=mode)
    (workspace / "rules.py").write_text("raise SystemExit(2)\n")
    model = script({"tool_calls": [READ]}, DONE)
    own = hook("PreToolUse", f"{PYTHON} guard.py")

    async def scenario(host):
        thread = await worked(host, workspace, model, hooks=own)
        return [one.decision for one in runs(host, thread)]

    assert play(environ, scenario) == ["deny"]
