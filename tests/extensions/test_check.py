"""`steer tools check FILE` says in sentences what is wrong, and shows what the model will see."""

import json

import pytest

from tests.extensions.kit import COUNT, HEAD, own

LATE = "\n    def run(self, args):\n        return 1\n"
GOOD = HEAD + 'class Good(Tool):\n    """Do good."""\n\n    name = "good"\n' + LATE


def checked(steer, path):
    done = steer("tools", "check", str(path))
    return done.returncode, done.stdout


def test_a_good_file_is_shown_as_the_model_will_see_it(steer, tmp_path):
    path = tmp_path / "count.py"
    path.write_text(COUNT)
    code, out = checked(steer, path)
    assert code == 0
    shown, _, told = out.partition("\n}\n")
    assert json.loads(shown + "}") == {
        "name": "count_words",
        "description": "Count the words of a file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"description": "a file of the workspace", "type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    }
    assert "It reads the workspace, reaches no host and takes 60 s at most." in told
    assert f"{path} can be used." in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class Good(\n", ["Line 1 is not valid Python: '(' was never closed."]),
        ("import nothing_like_it\n", ["It cannot be loaded: ModuleNotFoundError: No module named"]),
        ("raise SystemExit(3)\n", ["It cannot be loaded: SystemExit: 3 (line 1)."]),
        (HEAD, ["It has no class that is a Tool: write `class MyTool(Tool):`."]),
        (GOOD + GOOD.replace("Good", "Better"), ["It has several tools (Good, Better)"]),
        (GOOD.replace('name = "good"', ""), ["`name` is missing or cannot be used"]),
        (GOOD.replace('"good"', '"Good Tool"'), ["`name` is missing or cannot be used"]),
        (GOOD.replace('"""Do good."""', "x = 1"), ["The class has no docstring"]),
        (GOOD.replace(LATE, ""), ["It has no `run`: write `def run(self, args):`."]),
        (GOOD.replace(LATE, "    files = 'all'\n" + LATE), ['`files` is neither "read" nor']),
        (GOOD.replace(LATE, "    hosts = 'a.example'\n" + LATE), ["`hosts` is not a list"]),
        (GOOD.replace(LATE, "    timeout = 9999\n" + LATE), ["`timeout` is not a number"]),
        (GOOD.replace(LATE, "    Args = dict\n" + LATE), ["`Args` is not a class of arguments"]),
        (
            GOOD.replace(LATE, "    class Args(Arguments):\n        file: object()\n" + LATE),
            ["`Args` cannot be shown as a schema"],
        ),
        (GOOD.replace('"good"', '"workspace_status"'), ["workspace_status is a tool of Steersman"]),
        (
            HEAD + "class Good(Tool):\n    hosts = 1\n",
            ["`name` is missing", "no docstring", "no `run`", "`hosts` is not"],
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_sentences(steer, tmp_path, text, told):
    path = tmp_path / "tool.py"
    path.write_text(text)
    code, out = checked(steer, path)
    assert code == 1
    assert all(part in out for part in told), out
    assert "Traceback" not in out


def test_another_tool_of_that_name_is_named(environ, steer, tmp_path):
    taken = own(environ, COUNT)
    path = tmp_path / "again.py"
    path.write_text(COUNT)
    assert f"{taken} has a tool count_words already." in checked(steer, path)[1]
    assert checked(steer, taken)[0] == 0


def test_a_file_that_is_not_there_or_no_text_is_said_so(steer, tmp_path):
    assert "There is no file nowhere.py." in steer("tools", "check", "nowhere.py").stderr
    (tmp_path / "odd.py").write_bytes(b"\xff\xfe")
    told = steer("tools", "check", str(tmp_path / "odd.py")).stderr
    assert "It is not text in UTF-8." in told
