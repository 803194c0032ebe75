"""What the index keeps of a file: its definitions and the names it uses."""

from __future__ import annotations

from steersman.operations.code.trees import plain, reading
from steersman.operations.code.trees.definition import Tags
from steersman.operations.code.trees.grammar import grammar
from steersman.operations.code.trees.languages import Language
from steersman.operations.code.trees.outline import definitions
from steersman.operations.code.trees.reading import Unreadable
from steersman.operations.code.trees.words import words


def tags(content: bytes, language: Language) -> Tags:
    """The definitions of a file and its words; a note where it cannot be read."""
    try:
        source = reading.source(content)
        if not language.grammar:
            return Tags(tuple(plain.outline(source, language.name)))
        rules = grammar(language)
    except Unreadable as problem:
        return Tags(note=problem.what)
    found = definitions(rules.parse(source), rules, source)
    return Tags(tuple(found), words(source, language.lexis, (one.name for one in found)))
