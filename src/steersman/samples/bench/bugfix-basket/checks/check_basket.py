import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE.parent
sys.path.insert(0, str(WORK))

from decimal import Decimal

from shop.basket import Basket


def basket(*articles, percent=0):
    made = Basket()
    for name, price, count in articles:
        made.add(name, Decimal(price), count)
    made.percent = percent
    return made


class Baskets(unittest.TestCase):
    def test_two_customers_do_not_share(self):
        basket(("tea", "2.00", 1))
        self.assertEqual(Basket().articles, [])

    def test_an_emptied_basket_is_empty(self):
        made = basket(("tea", "2.00", 1), percent=10)
        made.empty()
        self.assertEqual((made.articles, made.percent, made.total()), ([], 0, Decimal(0)))

    def test_a_list_that_was_given_is_not_emptied_for_its_owner(self):
        mine = [("tea", Decimal("2.00"), 1)]
        Basket(mine).empty()
        self.assertEqual(len(mine), 1)

    def test_rounding_is_done_once(self):
        self.assertEqual(basket(("pin", "0.10", 3), percent=50).total(), Decimal("0.15"))
        self.assertEqual(basket(("pin", "0.03", 3), percent=50).total(), Decimal("0.05"))

    def test_half_a_cent_goes_up(self):
        self.assertEqual(basket(("pin", "0.05", 1), percent=50).total(), Decimal("0.03"))

    def test_no_discount(self):
        self.assertEqual(basket(("tea", "2.00", 2), ("cup", "3.50", 1)).total(), Decimal("7.50"))
