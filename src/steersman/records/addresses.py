"""Names and addresses of hosts, pure: how a host is spelled, and which addresses are out of bounds.

A name has one spelling here: lower case, no dot at its end, punycode for other scripts. An address
has one too, whatever was written: `0x7f.1`, `2130706433` and `127.0.0.1` are the same host.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from steersman.records.patterns import pattern

Address = IPv4Address | IPv6Address

_LABEL = pattern(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = pattern(r"0x[0-9a-f]*|[0-9]+")
_LONGEST = 253

# The special-purpose registries of IANA, and what clouds answer on besides. First match wins.
_BOUNDS = {
    "the address of a cloud's metadata service": (
        "169.254.169.254/32", "169.254.170.2/32", "168.63.129.16/32", "100.100.100.200/32",
        "192.0.0.192/32", "fd00:ec2::/32", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128",
    ),
    "a loopback address": ("127.0.0.0/8", "::1/128"),
    "an unspecified address": ("0.0.0.0/8", "::/128"),
    "a link-local address": ("169.254.0.0/16", "fe80::/10"),
    "a private address": (
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10",
    ),
    "an address shared behind a carrier": ("100.64.0.0/10",),
    "a multicast address": ("224.0.0.0/4", "ff00::/8"),
    "an address for documentation": (
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20",
    ),
    "a reserved address": (
        "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4",
        "64:ff9b:1::/48", "100::/32", "2001::/23", "5f00::/16",
    ),
}  # fmt: skip
_NETWORKS = [(ip_network(text), why) for why, texts in _BOUNDS.items() for text in texts]
_GLOBAL = (ip_network("2000::/3"), ip_network("64:ff9b::/96"))
# Networks whose addresses carry one of the old kind, and where in them it stands (bits from right).
_CARRIERS = (
    (ip_network("::ffff:0:0/96"), 0),
    (ip_network("::ffff:0:0:0/96"), 0),
    (ip_network("64:ff9b::/96"), 0),
    (ip_network("2002::/16"), 80),
)


def canonical_host(text: str) -> str:
    """The one spelling of a host's name or address; empty when it cannot be a host."""
    if address := literal(text):
        return str(address)
    if not text.isascii():
        try:
            text = text.encode("idna").decode()
        except UnicodeError:
            return ""
    name = text.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > _LONGEST or _NUMBER.fullmatch(labels[-1]):
        return ""
    return name if all(map(_LABEL.fullmatch, labels)) else ""


def literal(text: str) -> Address | None:
    """The address that a text spells in any of the ways a resolver takes; None for a name."""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if ":" in text:
        try:
            address = IPv6Address(text.partition("%")[0])
        except ValueError:
            return None
        return address.ipv4_mapped or address
    return _old_literal(text.lower().removesuffix("."))


def _old_literal(text: str) -> IPv4Address | None:
    """An address of one to four numbers, decimal, octal or hexadecimal; the last fills the rest."""
    parts = text.split(".")
    if len(parts) > 4 or not all(map(_NUMBER.fullmatch, parts)) or len(text) > 64:
        return None
    try:
        *first, last = map(_number, parts)
    except ValueError:
        return None
    room = 8 * (4 - len(first))
    if any(number > 255 for number in first) or last >> room:
        return None
    for place, number in enumerate(first):
        last |= number << (24 - 8 * place)
    return IPv4Address(last)


def _number(text: str) -> int:
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") else 10)


def out_of_bounds(host: str) -> str:
    """What a host is that by its very name may not be reached; empty for any other."""
    name = canonical_host(host)
    if name == "localhost" or name.endswith(".localhost"):
        return "this machine"
    address = literal(name)
    return forbidden_address(address) if address else ""


def forbidden_address(ip: str | Address) -> str:
    """Why nothing may be sent to an address, as in “a private address”; empty when it may."""
    address = literal(ip) if isinstance(ip, str) else ip
    if address is None:
        return "not an address"
    for network, why in _NETWORKS:
        if address in network:
            return why
    if isinstance(address, IPv4Address):
        return ""
    for network, place in _CARRIERS:
        if address in network:
            carried = IPv4Address(int(address) >> place & 0xFFFFFFFF)
            why = forbidden_address(carried)
            return f"{why} in another form" if why else ""
    return "" if any(address in network for network in _GLOBAL) else "a reserved address"


def is_near(name: str) -> bool:
    """Whether `host:port` is this machine or its network, by an address and not by a name."""
    host = canonical_host(name.rpartition(":")[0])
    address = literal(host) if host else None
    if address is None:
        return host == "localhost"
    return (address.is_private or address.is_loopback) and not (
        address.is_link_local or address.is_unspecified or address.is_multicast
    )


def is_here(host: str) -> bool:
    """Whether a name or address is this machine's own."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
