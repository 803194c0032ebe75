import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE.parent
sys.path.insert(0, str(WORK))

from table import render

ROWS = [["tea", 2], ["coffee", 10]]


class Columns(unittest.TestCase):
    def test_as_before(self):
        self.assertEqual(render(ROWS), "tea     2\ncoffee  10")
        self.assertEqual(render([]), "")
        self.assertEqual(render([["a"], ["bb", "c"]]), "a\nbb  c")

    def test_right(self):
        self.assertEqual(render(ROWS, align="lr"), "tea      2\ncoffee  10")

    def test_centred_with_the_odd_space_on_the_right(self):
        self.assertEqual(render([["ab", "|"], ["abcde", "|"]], align="c"), " ab    |\nabcde  |")

    def test_missing_letters_mean_left(self):
        self.assertEqual(render(ROWS, align="r"), "   tea  2\ncoffee  10")

    def test_an_unknown_letter(self):
        with self.assertRaisesRegex(ValueError, "x"):
            render(ROWS, align="lx")

    def test_limit_counts_the_ellipsis(self):
        self.assertEqual(render([["abcdef", "x"]], limit=4), "abc…  x")
        self.assertEqual(render([["abcd", "x"]], limit=4), "abcd  x")
        self.assertEqual(render([["ab"]], limit=1), "…")

    def test_a_limit_below_one(self):
        with self.assertRaises(ValueError):
            render(ROWS, limit=0)

    def test_no_line_ends_in_a_space(self):
        text = render([["a", "b"], ["c", ""]], align="lc")
        self.assertTrue(all(line == line.rstrip() for line in text.splitlines()), repr(text))
