import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE.parent
sys.path.insert(0, str(WORK))



class Answer(unittest.TestCase):
    def test_the_last_line_is_the_number(self):
        lines = (HERE / "answer.txt").read_text().strip().splitlines()
        self.assertEqual(lines[-1].strip(" *`.s"), "12")  # 3 tries of 3 s, pauses of 1 s and 2 s

    def test_nothing_was_changed(self):
        text = (WORK / "client" / "settings.py").read_text()
        self.assertIn("RETRIES = 4", text)
        self.assertIn("timeout = 3", (WORK / "client" / "defaults.ini").read_text())
