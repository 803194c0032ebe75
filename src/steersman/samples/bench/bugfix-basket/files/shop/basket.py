"""A customer's basket."""

from shop.money import off


class Basket:
    def __init__(self, articles=[]):
        self.articles = articles
        self.percent = 0

    def add(self, name, price, count=1):
        self.articles.append((name, price, count))

    def empty(self):
        self.percent = 0

    def total(self):
        return sum(off(price, self.percent) * count for _, price, count in self.articles)
