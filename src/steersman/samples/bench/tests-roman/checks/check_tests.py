import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE.parent
sys.path.insert(0, str(WORK))

import os
import shutil
import subprocess
import tempfile

MUTANTS = [
    ("<= 3999", "<= 4999"),
    ("if not 1 <= number", "if not 0 <= number"),
    ('(4, "IV"), ', ""),
    ('(900, "CM")', '(900, "CMM")'),
    ("rest = rest[len(sign) :]", "rest = rest[len(sign) :].lstrip()"),
    (" or to_roman(number) != text.upper()", ""),
    ("number, rest = 0, text.upper()", "number, rest = 0, text"),
    ("while number >= value", "while number > value"),
]


def outcome(change=None):
    """What the tests that were written say about the code, changed or not."""
    with tempfile.TemporaryDirectory() as folder:
        text = (WORK / "roman.py").read_text()
        if change:
            assert change[0] in text, change
            text = text.replace(*change)
        Path(folder, "roman.py").write_text(text)
        shutil.copy(WORK / "test_roman.py", folder)
        environ = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
        done = subprocess.run(
            [sys.executable, "-m", "unittest", "test_roman"], cwd=folder, env=environ,
            capture_output=True, text=True, timeout=60,
        )
        return done.returncode, done.stderr


class Tests(unittest.TestCase):
    def test_the_code_was_left_alone(self):
        self.assertIn("only the usual way of writing it is one", (WORK / "roman.py").read_text())

    def test_they_pass_on_the_code_as_it_is(self):
        code, said = outcome()
        self.assertEqual(code, 0, said)
        self.assertNotIn("Ran 0 tests", said)

    def test_they_fail_on_most_of_what_is_broken(self):
        found = [change for change in MUTANTS if outcome(change)[0] != 0]
        self.assertGreaterEqual(len(found), 6, [c for c in MUTANTS if c not in found])
