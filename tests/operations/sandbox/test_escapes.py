"""Ways out of the sandbox, tried for real: as root and as an ordinary user, over a view and not."""

import pytest

from tests.operations.sandbox.attempts import ATTEMPTS, READING, WRITING
from tests.operations.sandbox.kit import EVERYBODY, Ground, World, as_somebody, attack

CASES = [
    *((name, ground) for name in ATTEMPTS for ground in ("view", "copy")),
    *((name, "read") for name in (*WRITING, *READING)),
]


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize(("name", "ground"), CASES)
def test_nobody_gets_out(name: str, who: str, ground: Ground) -> None:
    """Neither the world outside nor, where it is mounted as it is, the workspace is harmed."""

    def do(world: World) -> None:
        attack(world, ATTEMPTS[name], ground)

    as_somebody(who, do)


@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize(
    "name",
    [
        "write outside", "delete outside", "change modes outside", "cat a secret",
        "archive a secret", "rename a secret's folder", "read the host's environment",
        "signal the host", "connect to a unix socket", "connect to an abstract socket",
        "connect by TCP", "send by UDP",
    ],
)  # fmt: skip
def test_without_a_sandbox_they_do(name: str, who: str) -> None:
    """The attempts are real, and so is the proof: outside, the same scripts are noticed."""

    def do(world: World) -> None:
        with pytest.raises(AssertionError):
            attack(world, ATTEMPTS[name], "none")

    as_somebody(who, do)
