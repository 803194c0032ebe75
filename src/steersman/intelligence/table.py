"""What is known about models: how much they read and write, what they cost, what they can.

The facts are data in `models.json`, read when someone asks: sizes in tokens, prices in dollars per
million tokens, from the makers' pages, or tables that cite them, on the day they were checked;
promotional prices end without notice. What the user's `config.toml` says about a model counts more.
Nothing here opens a model.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from steersman.records.patterns import pattern

Dollars = Annotated[float, Meta(ge=0)]
Size = Annotated[int, Meta(ge=1)]
CONTEXT = 128_000

# A name that ends in a date or a state of the release is the same model.
_RELEASE = pattern(r"(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest|-preview(-\d{2}-\d{2,4})?|-\d{3}|@\d+)$")


class Rates(Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars for a million tokens; `cached` and `written` are as `input` where nothing is said."""

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    written: Dollars | None = None


class Price(Rates, frozen=True, forbid_unknown_fields=True):
    """What a model costs; a prompt of more than `above` tokens costs `long` as a whole."""

    above: Size | None = None
    long: Rates | None = None


class Facts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known about one model; None where nobody knows.

    `structured`: it can be held to a JSON Schema. `tokenizer`: how its tokens are counted.
    """

    context: int = CONTEXT
    max_output: int | None = None
    price: Price | None = None
    images: bool | None = None
    reasoning: bool | None = None
    parallel_tools: bool | None = None
    structured: bool = False
    tokenizer: str = ""
    known: bool = False


class _Common(Struct, frozen=True, forbid_unknown_fields=True):
    """What the models of one maker have in common; None where they differ."""

    providers: tuple[str, ...]
    images: bool | None = None
    reasoning: bool | None = None
    parallel_tools: bool | None = None
    structured: bool = False
    tokenizer: str = ""


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    """One model as the file shows it; a `family` covers every size and tag of the name."""

    maker: str
    context: Size
    max_output: Size | None = None
    price: Price | None = None
    family: bool = False
    images: bool | None = None
    reasoning: bool | None = None
    parallel_tools: bool | None = None
    structured: bool | None = None
    tokenizer: str | None = None


class _Default(Struct, frozen=True, forbid_unknown_fields=True):
    context: Size


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file; `checked` is the day its facts were true.

    `recommended` is offered when a key is found and no model was chosen. The maker `open` has
    weights that anyone may serve: what they cost, and often how much they can read, is up to them.
    """

    checked: str
    default: _Default
    recommended: dict[str, str]
    makers: dict[str, _Common]
    models: dict[str, _Row]

    def facts(self, provider: str, name: str) -> Facts:
        """What is known of a model; the price only where its maker sends the bill."""
        row = self._row(name)
        if row is None:
            return Facts(context=self.default.context)
        common = self.makers[row.maker]
        fields: dict[str, Any] = {
            field: getattr(row if getattr(row, field) is not None else common, field)
            for field in ("images", "reasoning", "parallel_tools", "structured", "tokenizer")
        }
        return Facts(
            context=row.context,
            max_output=row.max_output,
            price=row.price if provider in common.providers else None,
            known=True,
            **fields,
        )

    def provider_of(self, name: str) -> str:
        """The provider of a model that was named without one; empty when nobody can tell."""
        row = self._row(name)
        return next(iter(self.makers[row.maker].providers), "") if row is not None else ""

    def _row(self, name: str) -> _Row | None:
        plain = name.rpartition("/")[2].lower()
        while plain not in self.models:
            shorter = _RELEASE.sub("", plain)
            if shorter == plain:
                return self._family(plain)
            plain = shorter
        return self.models[plain]

    def _family(self, name: str) -> _Row | None:
        """The longest family name that the name begins with."""
        found = [
            family
            for family, row in self.models.items()
            if row.family and name.startswith(family) and not name[len(family) :][:1].isalnum()
        ]
        return self.models[max(found, key=len)] if found else None


@cache
def table() -> Table:
    """The file in the package."""
    return msgspec.json.decode(Path(__file__).with_name("models.json").read_bytes(), type=Table)


def corrected(facts: Facts, given: Mapping[str, Any]) -> Facts:
    """The facts with what a person says about the model."""
    fields = Facts.__struct_fields__
    said = {name: value for name, value in given.items() if name in fields and value is not None}
    return msgspec.structs.replace(facts, **said) if said else facts
