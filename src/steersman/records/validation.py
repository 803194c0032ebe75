"""What is wrong with data, in plain words instead of those of the library that read it. Pure."""

import re

from steersman.records.patterns import pattern

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_PLACE = pattern(r" - at (?:the key|`(?:key in )?\$?\.?(?P<place>[^`]*)`).*$")
_FORMS = (
    (r"Expected `(?P<kind>[^`]+)`, got `(?P<got>[^`]+)`", "{it} must be {kind}, not {got}"),
    (r"Expected `\w+` >= (?P<n>\S+)", "{it} must be at least {n}"),
    (r"Expected `\w+` > (?P<n>\S+)", "{it} must be more than {n}"),
    (r"Expected `\w+` <= (?P<n>\S+)", "{it} must be at most {n}"),
    (r"Expected `\w+` < (?P<n>\S+)", "{it} must be less than {n}"),
    (r"Expected `str` of length >= 1", "{it} must not be empty"),
    (r"Expected `\w+` of length >= (?P<n>\d+)", "{it} must have a length of at least {n}"),
    (r"Expected `\w+` of length <= (?P<n>\d+)", "{it} must have a length of at most {n}"),
    (r"Expected `str` matching regex '(?P<form>.+)'", "{it} must match {form}"),
    (r"Object missing required field `(?P<name>[^`]+)`", "`{within}{name}` is missing"),
    (r"Object contains unknown field `(?P<name>[^`]+)`", "there is no `{within}{name}`"),
    (r"Invalid (?:enum )?value (?P<got>.+)", "{it} cannot be {got}"),
    (r"JSON is malformed: (?P<why>.+) \(byte (?P<n>\d+)\)", "at byte {n}: {why}"),
    (r"Input data was truncated", "the JSON is cut off"),
)


def in_words(error: Exception) -> str:
    """A validation error as half a sentence: which field, and what it must be."""
    said = str(error).strip().rstrip(".")
    at = _PLACE.search(said)
    place = (at["place"] or "") if at else ""
    said = said[: at.start()] if at else said
    for form, words in _FORMS:
        found = re.fullmatch(form, said)
        if found is not None:
            parts = {name: _kind(text) for name, text in found.groupdict().items()}
            it = f"`{place}`" if place else "it"
            return words.format(it=it, within=f"{place}." if place else "", **parts)
    return said[:1].lower() + said[1:]


def sentence(error: Exception) -> str:
    """The same as a whole sentence."""
    said = in_words(error)
    return f"{said[:1].upper()}{said[1:]}."


def _kind(text: str) -> str:
    """A type of the library as people call it; any other text as it is."""
    names = text.split(" | ")
    if all(name in _KINDS for name in names):
        return " or ".join(_KINDS[name] for name in names)
    return text
