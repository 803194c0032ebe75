import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE.parent
sys.path.insert(0, str(WORK))

import ast

import readers


class Readers(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(readers.read_numbers("# a\n1\n\n 2.5 \n"), [1.0, 2.5])
        with self.assertRaisesRegex(ValueError, r"^line 2: not a number: x$"):
            readers.read_numbers("1\nx")

    def test_pairs(self):
        self.assertEqual(readers.read_pairs("a = 1\n#\nb=x=y\na = 2"), {"a": "2", "b": "x=y"})
        with self.assertRaisesRegex(ValueError, r"^line 1: not a pair: x$"):
            readers.read_pairs("x")

    def test_points(self):
        self.assertEqual(readers.read_points("1, 2\n"), [(1.0, 2.0)])
        for wrong in ("1", "1,2,3", "a,b"):
            with self.assertRaisesRegex(ValueError, f"^line 1: not a point: {wrong}$"):
                readers.read_points(wrong)

    def test_the_lines_are_gone_through_in_one_place(self):
        text = (WORK / "readers.py").read_text()
        self.assertEqual(text.count("splitlines"), 1)
        names = {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
        self.assertLessEqual({"read_numbers", "read_pairs", "read_points"}, names)
