"""Names of environment variables, and what they tell."""

from steersman.records.patterns import pattern

_SECRET = pattern(
    r"(?i)(?:SECRET|TOKEN|PASSW(?:OR)?D|API_?KEY|PRIVATE_?KEY|CREDENTIAL|_KEY\Z|ACCESS_KEY|_PAT\Z"
    r"|_PW\Z)"
)


def secret_name(name: str) -> bool:
    """True for the name of a variable that holds a credential."""
    return _SECRET.search(name) is not None
