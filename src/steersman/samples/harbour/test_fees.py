import unittest
from datetime import date

from fees import berth_fee, nights


class Nights(unittest.TestCase):
    def test_same_day_is_no_night(self):
        self.assertEqual(nights(date(2026, 6, 1), date(2026, 6, 1)), 0)

    def test_over_the_end_of_a_month(self):
        self.assertEqual(nights(date(2026, 6, 29), date(2026, 7, 2)), 3)


class Fees(unittest.TestCase):
    def test_two_nights(self):
        self.assertEqual(berth_fee(10, date(2026, 6, 1), date(2026, 6, 3)), 50.0)

    def test_six_nights_are_not_a_long_stay(self):
        self.assertEqual(berth_fee(10, date(2026, 6, 1), date(2026, 6, 7)), 150.0)

    def test_a_week_is(self):
        self.assertEqual(berth_fee(10, date(2026, 6, 1), date(2026, 6, 8)), 140.0)


if __name__ == "__main__":
    unittest.main()
