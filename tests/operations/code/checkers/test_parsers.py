"""What real checkers print, and what we read from it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.operations.code.checkers.parsers import PARSERS, Unreadable
from steersman.operations.code.checkers.table import known
from steersman.operations.code.records import Diagnostic

RUFF = """[
  {
    "cell": null,
    "code": "F401",
    "end_location": {"column": 10, "row": 3},
    "filename": "/ws/src/broken.py",
    "fix": {"applicability": "safe", "edits": [], "message": "Remove unused import: `os`"},
    "location": {"column": 8, "row": 3},
    "message": "`os` imported but unused",
    "name": "unused-import",
    "noqa_row": 3,
    "severity": "error",
    "url": "https://docs.astral.sh/ruff/rules/unused-import"
  }
]"""

TY = """\
src/broken.py:10:12: error[invalid-return-type] Return type does not match: expected `str`
src/broken.py:15:12: warning[possibly-missing] Object of type `Ship` may have no `lenght`
Found 2 diagnostics
"""

MYPY = """\
{"file": "src/broken.py", "line": 10, "column": 11, "end_line": 10, "end_column": 20, "message": "Incompatible return value type (got \\"int\\", expected \\"str\\")", "hint": null, "code": "return-value", "severity": "error"}
{"file": "src/a.py", "line": -1, "column": -1, "end_line": -1, "end_column": 0, "message": "Source file found twice", "hint": "add an __init__.py", "code": null, "severity": "error"}
"""  # noqa: E501

PYRIGHT = """{
    "version": "1.1.414",
    "time": "1794753694898",
    "generalDiagnostics": [
        {
            "file": "/ws/src/broken.py",
            "severity": "error",
            "message": "Type \\"int\\" is not assignable to return type \\"str\\"",
            "range": {
                "start": {"line": 9, "character": 11},
                "end": {"line": 11, "character": 20}
            },
            "rule": "reportReturnType"
        },
        {
            "file": "/ws/src/broken.py",
            "severity": "information",
            "message": "whole file"
        }
    ],
    "summary": {"filesAnalyzed": 1, "errorCount": 1}
}"""

TSC = """\
src/broken.ts(4,3): error TS2322: Type 'number' is not assignable to type 'string'.
src/broken.ts(8,15): error TS2551: Property 'lenght' does not exist on type 'Ship'.
  Did you mean 'length'?
"""

ESLINT = """[{"filePath":"/ws/a.js","messages":[{"ruleId":"no-unused-vars","severity":1,"message":"'größe' is assigned a value but never used.","line":1,"column":7,"nodeType":"Identifier","messageId":"unusedVar","endLine":1,"endColumn":12}],"suppressedMessages":[],"errorCount":0},{"filePath":"/ws/b.js","messages":[{"ruleId":null,"nodeType":null,"fatal":true,"severity":2,"message":"Parsing error: Unexpected token ;","line":1,"column":9}],"errorCount":1}]"""  # noqa: E501

CARGO = """\
{"reason":"compiler-message","manifest_path":"/ws/Cargo.toml","message":{"rendered":"…","children":[],"level":"error","message":"mismatched types","spans":[{"column_start":16,"file_name":"src/main.rs","is_primary":false,"label":"expected due to this","line_end":5,"line_start":5},{"column_start":22,"file_name":"src/main.rs","is_primary":true,"label":"expected `i32`, found `&str`","line_end":5,"line_start":5}],"code":{"code":"E0308","explanation":"…"}}}
{"reason":"compiler-message","message":{"level":"failure-note","message":"For more information about this error, try `rustc --explain E0308`.","spans":[],"code":null}}
{"reason":"build-finished","success":false}
"""  # noqa: E501

GO = """\
# harbour
{
	"harbour": {
		"printf": [
			{
				"posn": "/ws/main.go:6:14",
				"end": "/ws/main.go:6:16",
				"message": "fmt.Printf format %d has arg \\"x\\" of wrong type string"
			}
		]
	}
}
# harbour/sub
# [harbour/sub]
vet: ./sub/a.go:4:7: undefined: undefined
"""

SHELLCHECK = """{"comments":[{"file":"s.sh","line":2,"endLine":2,"column":6,"endColumn":8,"level":"info","code":2086,"message":"Double quote to prevent globbing and word splitting.","fix":null},{"file":"s.sh","line":3,"endLine":4,"column":1,"endColumn":7,"level":"style","code":2164,"message":"Use cd","fix":null}]}"""  # noqa: E501

NODE = """\
/ws/b.js:1
let x = ;
        ^

SyntaxError: Unexpected token ';'
    at checkSyntax (node:internal/main/check_syntax:74:5)

Node.js v20.20.2
"""

BASH = "/ws/u.sh: line 2: unexpected EOF while looking for matching `\"'\n"

PHP = """
Parse error: syntax error, unexpected variable "$x", expecting "," or ";" in /ws/a.php on line 3
Errors parsing /ws/a.php
"""

CASES = {
    "ruff": (
        RUFF,
        [Diagnostic("/ws/src/broken.py", 3, 8, "error", "`os` imported but unused", "F401")],
    ),
    "flake8": (
        "src/a.py:1:80: E501 line too long\n1     E501 line too long\n",
        [Diagnostic("src/a.py", 1, 80, "error", "line too long", "E501")],
    ),
    "ty": (
        TY,
        [
            Diagnostic(
                "src/broken.py", 10, 12, "error",
                "Return type does not match: expected `str`", "invalid-return-type",
            ),
            Diagnostic(
                "src/broken.py", 15, 12, "warning",
                "Object of type `Ship` may have no `lenght`", "possibly-missing",
            ),
        ],
    ),
    "mypy": (
        MYPY,
        [
            Diagnostic(
                "src/broken.py", 10, 12, "error",
                'Incompatible return value type (got "int", expected "str")', "return-value",
            ),
            Diagnostic(
                "src/a.py", 1, 1, "error", "Source file found twice\nadd an __init__.py"
            ),
        ],
    ),
    "pyright": (
        PYRIGHT,
        [
            Diagnostic(
                "/ws/src/broken.py", 10, 12, "error",
                'Type "int" is not assignable to return type "str"', "reportReturnType",
                end_line=12,
            ),
            Diagnostic("/ws/src/broken.py", 1, 1, "info", "whole file"),
        ],
    ),
    "tsc": (
        TSC,
        [
            Diagnostic(
                "src/broken.ts", 4, 3, "error",
                "Type 'number' is not assignable to type 'string'.", "TS2322",
            ),
            Diagnostic(
                "src/broken.ts", 8, 15, "error",
                "Property 'lenght' does not exist on type 'Ship'.", "TS2551",
            ),
        ],
    ),
    "eslint": (
        ESLINT,
        [
            Diagnostic(
                "/ws/a.js", 1, 7, "warning", "'größe' is assigned a value but never used.",
                "no-unused-vars",
            ),
            Diagnostic("/ws/b.js", 1, 9, "error", "Parsing error: Unexpected token ;"),
        ],
    ),
    "cargo": (
        CARGO,
        [
            Diagnostic(
                "src/main.rs", 5, 22, "error",
                "mismatched types: expected `i32`, found `&str`", "E0308",
            )
        ],
    ),
    "go": (
        GO,
        [
            Diagnostic(
                "/ws/main.go", 6, 14, "warning",
                'fmt.Printf format %d has arg "x" of wrong type string', "printf",
            ),
            Diagnostic("./sub/a.go", 4, 7, "error", "undefined: undefined"),
        ],
    ),
    "shellcheck": (
        SHELLCHECK,
        [
            Diagnostic(
                "s.sh", 2, 6, "info",
                "Double quote to prevent globbing and word splitting.", "SC2086",
            ),
            Diagnostic("s.sh", 3, 1, "hint", "Use cd", "SC2164", end_line=4),
        ],
    ),
    "node": (NODE, [Diagnostic("/ws/b.js", 1, 9, "error", "Unexpected token ';'", "SyntaxError")]),
    "bash": (
        BASH,
        [Diagnostic("/ws/u.sh", 2, 1, "error", "unexpected EOF while looking for matching `\"'")],
    ),
    "php": (
        PHP,
        [
            Diagnostic(
                "/ws/a.php", 3, 1, "error",
                'syntax error, unexpected variable "$x", expecting "," or ";"', "Parse",
            )
        ],
    ),
    "ruby": (
        "ruby: /ws/a.rb:2: syntax error, unexpected end-of-input (SyntaxError)\n",
        [Diagnostic("/ws/a.rb", 2, 1, "error",
                    "syntax error, unexpected end-of-input (SyntaxError)")],
    ),
    "yamllint": (
        "a.yml:2:1: [warning] missing document start (document-start)\n",
        [Diagnostic("a.yml", 2, 1, "warning", "missing document start", "document-start")],
    ),
}  # fmt: skip
BY_NAME = {checker.name: checker for checker in known()}


@pytest.mark.parametrize("name", CASES)
def test_what_a_checker_prints_is_understood(name):
    printed, expected = CASES[name]
    assert BY_NAME[name].parser()(printed) == expected


def test_every_checker_of_the_table_has_such_a_case():
    assert set(BY_NAME) - {"basedpyright"} == set(CASES)  # it prints what pyright prints


@pytest.mark.parametrize("name", BY_NAME)
def test_nothing_printed_is_nothing_found(name):
    assert BY_NAME[name].parser()("") == []


@pytest.mark.parametrize("name", ["ruff", "pyright", "eslint", "shellcheck"])
def test_what_is_no_json_is_no_answer(name):
    with pytest.raises(Unreadable):
        PARSERS[name]("error: cannot read settings")


@given(st.sampled_from(sorted(PARSERS)), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["message", "location", "range", "start", "line", "file", "spans",
                         "reason", "comments", "generalDiagnostics", "messages"]), inner,
        max_size=4), max_leaves=12))  # fmt: skip
def test_odd_json_is_read_without_a_word(name, value):
    assert isinstance(PARSERS[name](json.dumps(value)), list)
