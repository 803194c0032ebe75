"""Words for the numbers by which the protocol names kinds of symbols and severities. Pure."""

from steersman.operations.code.records import Severity

_KINDS = {
    1: "module", 2: "module", 3: "module", 4: "module", 5: "class", 6: "method", 7: "property",
    8: "field", 9: "constructor", 10: "enum", 11: "interface", 12: "function", 13: "variable",
    14: "constant", 15: "variable", 16: "variable", 17: "variable", 18: "variable",
    19: "variable", 20: "key", 21: "variable", 22: "constant", 23: "struct", 24: "field",
    25: "function", 26: "type",
}  # fmt: skip
_SEVERITIES: dict[int | None, Severity] = {1: "error", 2: "warning", 3: "info", 4: "hint"}
EVERY = tuple(_KINDS)


def kind_of(number: int, path: str = "") -> str:
    """The word for a kind; some languages have their own for the same number."""
    word = _KINDS.get(number, "variable")
    if path.endswith(".rs") and word == "interface":
        return "trait"
    return word


def severity_of(number: int | None) -> Severity:
    """The word for a severity; what says none is an error, as the protocol lets clients decide."""
    return _SEVERITIES.get(number, "error")
