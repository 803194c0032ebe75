"""What models were paid for, summed up. Counting it is `monitoring`'s."""

from typing import Literal

from msgspec import Struct

Grouping = Literal["thread", "day", "model", "agent"]


class Bill(Struct, frozen=True):
    """A sum of requests. `unpriced` counts those whose price nobody knew."""

    name: str
    requests: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "Bill") -> "Bill":
        numbers = {
            field: getattr(self, field) + getattr(other, field)
            for field in self.__struct_fields__
            if field != "name"
        }
        return Bill(self.name, **numbers)
