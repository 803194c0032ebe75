import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE.parent
sys.path.insert(0, str(WORK))

from hours import merge, show, total


class Hours(unittest.TestCase):
    def test_touching_spans_are_one(self):
        self.assertEqual([tuple(s) for s in merge([(9, 12), (12, 17)])], [(9, 17)])

    def test_a_span_inside_another_does_not_shorten_it(self):
        self.assertEqual([tuple(s) for s in merge([(8, 18), (9, 12)])], [(8, 18)])

    def test_the_order_of_what_is_given_does_not_matter(self):
        self.assertEqual([tuple(s) for s in merge([(14, 18), (8, 12), (11, 13)])], [(8, 13), (14, 18)])

    def test_apart_stays_apart(self):
        self.assertEqual(show([(9, 12), (13, 17)]), "9–12, 13–17")

    def test_hours_are_counted_once(self):
        self.assertEqual(total([(8, 12), (9, 10), (12, 13)]), 5)

    def test_nothing(self):
        self.assertEqual(show([]), "closed")

    def test_what_is_given_is_left_alone(self):
        given = [(14, 18), (8, 12)]
        merge(given)
        self.assertEqual(given, [(14, 18), (8, 12)])
