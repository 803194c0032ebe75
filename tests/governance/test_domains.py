"""Lists of hosts: what a pattern names, what it does not, and what is no pattern."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.governance.domains import Domains, check_pattern
from steersman.records.errors import UsageProblem

ALLOWED = (
    "example.org", "*.ok.test", "ports.test:8080", "bücher.example", "8.8.8.8", "[2001:db8::1]:443",
    "localhost:3000", "*.both.test", "both.test", "127.0.0.1:9000",
)  # fmt: skip
DENIED = ("bad.ok.test", "*.evil.test", "port.ok.test:443")


@pytest.mark.parametrize(
    ("word", "host", "port"),
    [
        ("allow", "example.org", 443),
        ("allow", "EXAMPLE.org.", 80),
        ("unknown", "example.org", 22),
        ("unknown", "www.example.org", 443),
        ("unknown", "xexample.org", 443),
        ("unknown", "example.org.evil.com", 443),
        ("allow", "a.ok.test", 443),
        ("allow", "a.b.ok.test", 443),
        ("unknown", "ok.test", 443),
        ("unknown", "xok.test", 443),
        ("unknown", "a.ok.test.evil.com", 443),
        ("allow", "both.test", 443),
        ("allow", "a.both.test", 443),
        ("allow", "ports.test", 8080),
        ("unknown", "ports.test", 443),
        ("allow", "xn--bcher-kva.example", 443),
        ("allow", "Bücher.example", 443),
        ("allow", "8.8.8.8", 443),
        ("allow", "0x8.8.8.8", 443),
        ("allow", "134744072", 443),
        ("allow", "::ffff:8.8.8.8", 443),
        ("allow", "2001:DB8:0::1", 443),
        ("unknown", "2001:db8::1", 80),
        ("deny", "bad.ok.test", 443),
        ("deny", "bad.ok.test", 22),
        ("deny", "a.evil.test", 443),
        ("unknown", "evil.test", 443),
        ("deny", "port.ok.test", 443),
        ("allow", "port.ok.test", 80),
        ("deny", "not a host", 443),
        ("deny", "", 443),
    ],
)
def test_what_the_lists_say(word, host, port):
    assert Domains(ALLOWED, DENIED).verdict(host, port) == word


@pytest.mark.parametrize(
    ("local", "host", "port"),
    [
        (True, "localhost", 3000),
        (False, "localhost", 80),
        (True, "127.0.0.1", 9000),
        (True, "0x7f.1", 9000),
        (False, "127.0.0.1", 80),
        (True, "8.8.8.8", 80),
        (False, "example.org", 443),
        (False, "a.ok.test", 443),
    ],
)
def test_only_an_address_or_localhost_opens_the_way_inside(local, host, port):
    assert Domains(ALLOWED).local(host, port) is local


def test_a_denied_address_is_not_local():
    assert not Domains(["127.0.0.1"], ["127.1"]).local("127.0.0.1", 80)


@given(st.text(max_size=12), st.integers(0, 65536))
def test_an_empty_list_allows_nothing(host, port):
    assert Domains([]).verdict(host, port) != "allow"


@pytest.mark.parametrize("text", [*ALLOWED, *DENIED, "::1", "[::1]", "a-b.c_d.example:65535"])
def test_good_patterns(text):
    assert check_pattern(text) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("*", "would allow every host"),
        ("*.org", "a whole top-level domain"),
        ("*.*.org", "only allowed at the beginning"),
        ("ex*mple.org", "only allowed at the beginning"),
        ("*example.org", "only allowed at the beginning"),
        ("*.8.8.8.8", "no hosts below it"),
        ("https://example.org", "not a scheme"),
        ("example.org/path", "not a scheme or a path"),
        ("example.org:", "is not a port"),
        ("example.org:0", "is not a port"),
        ("example.org:65536", "is not a port"),
        ("example.org:²", "is not a port"),
        ("[::1]:", "is not a port"),
        ("[::1]x", "cannot be the name"),
        ("exam ple.org", "cannot be the name"),
        ("", "cannot be the name"),
        ("1.2.3.4.5", "cannot be the name"),
    ],
)
def test_bad_patterns_are_told_in_a_sentence(text, why):
    said = check_pattern(text)
    assert why in said
    assert said.endswith(".")
    with pytest.raises(UsageProblem, match="is not a host pattern"):
        Domains([text])


def test_what_is_denied_may_be_wide():
    assert check_pattern("*.org", denied=True) == ""
    assert Domains(["example.org"], ["*.org"]).verdict("example.org", 443) == "deny"


@given(st.text(max_size=15))
def test_any_text_is_a_pattern_or_has_a_complaint(text):
    if not check_pattern(text):
        Domains([text])
