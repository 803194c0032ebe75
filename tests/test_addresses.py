"""Hosts have one spelling, and addresses that lead inside are known in every form."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.records.addresses import canonical_host, forbidden_address, literal

LOOPBACK = [
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1",
    "0X7F.0x0.0.01", "127.0.0.1.", "::ffff:127.0.0.1", "[::ffff:7f00:1]",
]  # fmt: skip


@pytest.mark.parametrize("text", LOOPBACK)
def test_an_address_has_one_spelling(text):
    assert canonical_host(text) == "127.0.0.1"


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("ｅｘａｍｐｌｅ。org", "example.org"),
        ("_dmarc.example.org", "_dmarc.example.org"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("", ""),
        (".", ""),
        ("a..b", ""),
        ("-a.example", ""),
        ("a b", ""),
        ("a\0b", ""),
        ("a/b", ""),
        ("℀.example", ""),
        ("*.example.org", ""),
        ("user@example.org", ""),
        ("1.2.3.4.5", ""),
        ("256.1.1.1", ""),
        ("example.0x10", ""),
        ("08.1.1.1", ""),
        (f"{'a' * 64}.example", ""),
        ("a." * 127 + "example", ""),
        ("1:2:3", ""),
    ],
)
def test_a_host_has_one_spelling_or_none(text, host):
    assert canonical_host(text) == host


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "{:#x}", "0{:o}", "::ffff:0:0"]))
def test_every_number_is_an_address(number, form):
    if form.startswith("::"):
        text = str(ipaddress.IPv6Address((0xFFFF << 32) | number))
    else:
        text = form.format(number)
    assert literal(text) == ipaddress.IPv4Address(number)


@given(st.text(max_size=20))
def test_any_text_is_read_and_a_spelling_stays_itself(text):
    host = canonical_host(text)
    assert canonical_host(host) == host


@pytest.mark.parametrize(
    ("addresses", "why"),
    [
        ("127.0.0.1 127.255.0.1 ::1", "a loopback address"),
        ("0.0.0.0 0.1.2.3 ::", "an unspecified address"),
        ("10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fdff::1", "a private address"),
        ("169.254.1.1 fe80::1 fe80::1%lo", "a link-local address"),
        ("169.254.169.254 fd00:ec2::254 100.100.100.200 168.63.129.16 fd20:ce::254 169.254.170.2",
         "the address of a cloud's metadata service"),
        ("100.64.0.1 100.127.255.255", "an address shared behind a carrier"),
        ("224.0.0.1 239.1.1.1 ff02::1", "a multicast address"),
        ("192.0.2.1 198.51.100.7 203.0.113.9 2001:db8::1 3fff::1", "an address for documentation"),
        ("240.0.0.1 255.255.255.255 198.18.0.1 192.0.0.8 64:ff9b:1::1 100::1 2001::1 ::7f00:1"
         " 4000::1 fc::1", "a reserved address"),
        ("64:ff9b::7f00:1 2002:7f00:1:: ::ffff:0:127.0.0.1", "a loopback address in another form"),
        ("64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1",
         "the address of a cloud's metadata service in another form"),
        ("::ffff:10.0.0.1", "a private address"),
        ("8.8.8.8 1.1.1.1 172.32.0.1 100.128.0.1 2606:4700::1 64:ff9b::808:808 ::ffff:8.8.8.8", ""),
        ("example.org", "not an address"),
    ],
)  # fmt: skip
def test_addresses_that_lead_inside_are_out_of_bounds(addresses, why):
    assert {forbidden_address(address) for address in addresses.split()} == {why}


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_what_python_calls_private_is_out_of_bounds(address):
    # What carries an IPv4 address is judged by that; older Pythons call all of it private.
    carrier = getattr(address, "sixtofour", None) or getattr(address, "teredo", None)
    if carrier is None and (
        address.is_private or address.is_multicast or address.is_link_local or address.is_loopback
    ):
        assert forbidden_address(address)
