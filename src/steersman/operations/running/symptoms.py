"""Whether a command failed because of its sandbox, and what to tell whoever ran it."""

import re
from collections.abc import Sequence

from steersman.records.patterns import pattern
from steersman.records.profile import Profile

NO_NETWORK = pattern(
    r"could not resolve (?:host|proxy)|temporary failure in name resolution|EAI_AGAIN|ENOTFOUND"
    r"|network is unreachable|ENETUNREACH|name or service not known|unable to resolve host"
    r"|failed to lookup address|no address associated|dial tcp: lookup",
    re.IGNORECASE,
)
_SLOW = pattern(r"connection timed out", re.IGNORECASE)
_DOOR = pattern(
    r"\b403\b.{0,60}(?:proxy|tunnel|connect)|(?:proxy|tunnel|connect).{0,60}\b(?:403|407)\b",
    re.IGNORECASE,
)
READ_ONLY = pattern(r"read-only file ?system|EROFS|os error 30", re.IGNORECASE)
_REFUSED = pattern(
    r"operation not permitted|EPERM|os error 1\b|address family not supported|EAFNOSUPPORT",
    re.IGNORECASE,
)
HIDDEN = pattern(
    r"permission denied|EACCES|os error 13|can only add regular files|unsupported file type",
    re.IGNORECASE,
)
TAIL = 20_000
SECRETS = "files with secrets are hidden in the sandbox"


def looks_confined(
    exit_code: int,
    output: str,
    profile: Profile,
    refused: Sequence[str] = (),
    *,
    denied: bool = False,
) -> str:
    """What of its sandbox a failed command seems to have run into; nothing when it did not.

    `refused` are hosts that it wanted to reach and could not; `denied` when each was denied.
    """
    if exit_code == 0 or not profile.sandbox:
        return ""
    end = output[-TAIL:]
    found = []
    unreached = refused or _DOOR.search(end) or NO_NETWORK.search(end) or _SLOW.search(end)
    if profile.network != "host" and unreached and not denied:
        found.append(
            "the sandbox has no network"
            if profile.network == "none"
            else "the sandbox reaches the network only through a proxy, which asks about each host"
        )
    if READ_ONLY.search(end):
        where = "everywhere" if profile.files == "read" else "outside the workspace"
        found.append(f"the sandbox is read-only {where}; temporary files go to $TMPDIR")
    if _REFUSED.search(end):
        found.append("the sandbox refuses rarely needed system calls")
    if profile.hidden and HIDDEN.search(end):
        found.append(SECRETS)
    return "; ".join(found)


def worth_letting_out(why: str) -> bool:
    """Whether a person should be asked to let it out; never only to show it what is secret."""
    return why not in ("", SECRETS)
