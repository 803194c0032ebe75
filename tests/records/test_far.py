"""The address of a workspace on another machine, and what is none."""

import pytest

from steersman.records.errors import UsageProblem
from steersman.records.far import Far, far


@pytest.mark.parametrize(
    ("address", "host", "path"),
    [
        ("ssh://box/srv/project", "box", "/srv/project"),
        ("ssh://me@box/~/project/", "me@box", "~/project"),
        ("ssh://me@DevBox/srv/a", "me@DevBox", "/srv/a"),  # ssh distinguishes its aliases by case
        ("ssh://[FE80::1]/srv/a", "FE80::1", "/srv/a"),
        ("ssh://box/a#b/c", "box", "/a#b/c"),  # folders may have such names
        ("ssh://box/a?b", "box", "/a?b"),
        ("ssh://box/a%23b%20c", "box", "/a#b c"),
        ("ssh://box/with space", "box", "/with space"),
    ],
)
def test_an_address_means_exactly_what_it_says(address: str, host: str, path: str) -> None:
    assert far(address) == Far(host, None, path)


def test_a_port_is_a_part_of_the_address() -> None:
    assert far("ssh://me@Box:2222/srv") == Far("me@Box", 2222, "/srv")


@pytest.mark.parametrize(
    ("address", "server", "scheme"),
    [
        ("https://box.example.org/srv", "box.example.org", "https"),
        ("https://box:8920/srv", "box:8920", "https"),
        ("https://[2001:db8::1]:8920/srv", "[2001:db8::1]:8920", "https"),
        ("http://localhost:8920/srv", "localhost:8920", "http"),
        ("http://127.0.0.1/srv", "127.0.0.1", "http"),
    ],
)
def test_a_server_may_be_the_way_there(address: str, server: str, scheme: str) -> None:
    place = far(address)
    assert (place.server, place.scheme, place.path) == (server, scheme, "/srv")


@pytest.mark.parametrize(
    "address",
    [
        "ssh:///srv",
        "ssh://-oProxyCommand=id/srv",
        "ssh://me@-oProxyCommand=id/srv",
        "ssh://-lroot@box/srv",
        "ssh://%2doProxyCommand=id/srv",
        "ssh://a box/srv",
        "ssh://a\tbox/srv",
        "ssh://box\n/srv",
        "ssh://me\x1b[2J@box/srv",
        "ssh://me@you@box/srv",
        "ssh://box#x/srv",
        "ssh://box?x/srv",
        "ssh://box/a\nb",
        "ssh://box/a\0b",
        "ssh://box/a%00b",
        "ssh://box/%ff",  # names that are not UTF-8 cannot be written so
        "ssh://box",
        "ssh://box/",
        "ssh://box:many/srv",
        "ssh://box:0/srv",
        "ssh://box:70000/srv",
        "ssh://[box/srv",
        "ssh://me:word@box/srv",
        "https://me@box/srv",
        "https://me:word@box/srv",
        "https://box/srv?token=word",
        "https://box/srv#word",
        "https://box/~/srv",
        "https://box",
        "http://box/srv",
        "http://127.0.0.1.example.org/srv",
        "ftp://box/srv",
    ],
)
def test_what_is_no_address_is_refused_with_what_would_be_one(address: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        far(address)
    assert "cannot be reached" in refused.value.what
    assert refused.value.try_this == "Write it as ssh://HOST/PATH or https://HOST:PORT/PATH."
    assert not any(letter in str(refused.value) for letter in "\x1b\0\t")
    assert "word" not in refused.value.what
