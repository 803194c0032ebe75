"""Roman numerals from 1 to 3999."""

SIGNS = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]


def to_roman(number):
    """The numeral of a number."""
    if not 1 <= number <= 3999:
        raise ValueError(f"no numeral for {number}")
    text = ""
    for value, sign in SIGNS:
        while number >= value:
            text += sign
            number -= value
    return text


def from_roman(text):
    """The number of a numeral; only the usual way of writing it is one."""
    number, rest = 0, text.upper()
    for value, sign in SIGNS:
        while rest.startswith(sign):
            number += value
            rest = rest[len(sign) :]
    if rest or not text or to_roman(number) != text.upper():
        raise ValueError(f"not a numeral: {text}")
    return number
