"""How a symbol is asked for."""

import pytest

from steersman.operations.code.naming import last_part, matches


@pytest.mark.parametrize(
    ("wanted", "path", "substring", "fits"),
    [
        ("send", "send", False, True),
        ("send", "Client/send", False, True),
        ("send", "Client/sender", False, False),
        ("Client/send", "a/Client/send", False, True),
        ("Client/send", "MyClient/send", False, False),
        ("/send", "Client/send", False, False),
        ("/Client/send", "Client/send", False, True),
        ("/Client/send", "a/Client/send", False, False),
        ("end", "Client/send", True, True),
        ("Client/end", "Client/send", True, True),
        ("lient/send", "Client/send", True, False),
        ("Client", "Client/send", True, False),
        ("send[1]", "Client/send", False, True),
        ("a/b/c", "b/c", False, False),
        ("", "send", False, False),
        ("/", "send", True, False),
    ],
)
def test_matching(wanted: str, path: str, substring: bool, fits: bool) -> None:
    assert matches(wanted, path, substring) is fits


@pytest.mark.parametrize(
    ("wanted", "name"), [("send", "send"), ("/A/b", "b"), ("A/b[2]", "b"), ("[1]", "[1]"), ("", "")]
)
def test_the_name_itself(wanted: str, name: str) -> None:
    assert last_part(wanted) == name
