"""Inline code that gives something away: credentials, files, the environment, a shell."""

import re
from typing import TYPE_CHECKING

from steersman.governance.guard.code_patterns import (
    HANDS_OUT,
    LOOKUP,
    NETWORK,
    RUNS_WIRE,
    SERVES,
)
from steersman.governance.guard.code_texts import arguments, strings, tilde
from steersman.governance.guard.marks import globbed, shown, unknown
from steersman.governance.guard.paths import OWN, Zone, absolute, zone
from steersman.governance.guard.places import secret
from steersman.governance.guard.scene import ASK, BLOCK
from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell


_ARCHIVES = pattern(r"make_archive|tarfile|[zZ]ip[fF]ile|Archive::|archiver|Zip::")


def serves(shell: "Shell", text: str) -> None:
    """A server of files written in code: its folder is named in the code, or is where it runs."""
    if not SERVES.search(text) or not HANDS_OUT.search(text):
        return
    named = [tilde(shell, word) for word in strings(text) if word[:1] in ("/", "~")]
    for folder in [*named, shell.cwd]:
        where = zone(absolute(folder, shell.cwd, shell.scene.place.home), shell.scene.place)
        if where in (Zone.ROOT, Zone.TOP, Zone.HOME, Zone.ABOVE):
            shell.scene.note(BLOCK, "exfil.serve", f"Code serves {where.value} over the network.")
    if not re.search(r"localhost|127\.0\.0\.1", text):
        shell.scene.note(ASK, "net.listen", "Code serves files to the whole network.")


def _opened(text: str, word: str) -> bool:
    """True when the code opens this path to read it."""
    return (
        re.search(rf"\bopen\(\s*['\"]{re.escape(word)}['\"]\s*(?:\)|,\s*['\"]r)", text) is not None
    )


def secrets(shell: "Shell", text: str) -> None:
    place = shell.scene.place
    network = NETWORK.search(text)
    for word in strings(text):
        if ("/" not in word and not word.startswith(".")) or len(word) > 300:
            continue
        path = absolute(tilde(shell, word), shell.cwd, place.home)
        if globbed(word) and network and zone(path, place) not in OWN:
            shell.scene.note(BLOCK, "exfil.code", f"Code sends the files at {shown(path)}.")
        if not secret(path, place) or (globbed(word) and not _opened(text, word)):
            continue
        if re.search(r"exists|isfile|access\(|\bstat\b", text) and not re.search(
            r"read|open\(|slurp", text
        ):
            continue
        rule, why = ("exfil.code", "sends") if network else ("secrets.read", "reads")
        shell.scene.note(BLOCK, rule, f"Code {why} credentials from {shown(path)}.")
    if network and _ARCHIVES.search(text) and place.home in strings(text):
        shell.scene.note(BLOCK, "exfil.code", "Code packs the home folder and uses the network.")
    environment = re.search(
        r"os\.environ\b(?!\[|\.get|\.setdefault|\.pop)|process\.env\b(?![.\[])|\bENV\.to_|"
        r"%ENV\b|JSON\.stringify\(process\.env|getenv\(\)|dict\(os\.environ|\$_ENV\b",
        text,
    )
    if environment and network:
        shell.scene.note(BLOCK, "exfil.code", "Code sends the environment over the network.")
    elif (
        network
        and re.search(
            r"(?i)\b(?:exec|eval|system|Function|pickle\.loads|compile|iex|Invoke-Expression|"
            r"loadstring)\b",
            text,
        )
        and not re.search(r"literal_eval", text)
    ) and re.search(
        r"(?i)(?:exec|eval|system|Function|loads|compile|iex|Invoke-Expression|loadstring|"
        r"run|import)\b[^;\n]*(?:urlopen|requests|fetch|get\(|iwr|Invoke-WebRequest|"
        r"DownloadString|httpx|curl|URI\.open|LWP|http)|(?:get|request)\([^\n]*\beval\(|\.then\([^;\n]*eval|(?:urlopen|"
        r"requests|fetch|DownloadString|iwr)[^\n]*(?:exec|eval|iex|Function)",
        text,
    ):
        shell.scene.note(BLOCK, "net.run", "Code runs what it fetches from the network.")
    if (
        network
        and re.search(
            r"dup2|\bsubprocess|/bin/(?:ba|da|z)?sh\b|pty\.spawn|spawn\(['\"]/?\w*/?sh|"
            r"exec\w*\(['\"](?:/bin/)?(?:ba)?sh|cmd\.exe|\bopen\([^)]*>&|powershell",
            text,
        )
        and re.search(r"(?i)socket|connect|fsockopen|TCPClient|net\.dial|/inet/|net\.Socket", text)
    ):
        shell.scene.note(BLOCK, "net.reverse-shell", "Code connects a shell to another machine.")
    elif re.search(r"(?i)socket|/inet/", text) and RUNS_WIRE.search(text):
        shell.scene.note(BLOCK, "net.reverse-shell", "Code runs what another machine sends.")
    if (
        network
        and re.search(
            r"(?i)data=|method:\s*['\"](?:POST|PUT|DELETE|PATCH)|\.post\(|\.put\(|\.delete\(|"
            r"\.patch\(|sendall|\.send\(",
            text,
        )
        and not re.search(r"localhost|127\.0\.0\.1", text)
    ):
        shell.scene.note(ASK, "net.send", "Code sends data over the network.")


def lookups(shell: "Shell", text: str) -> None:
    """Code that looks up a name into which it puts something."""
    for found in LOOKUP.finditer(text):
        inside = arguments(text, found.end())
        built = re.search(r"[\w)\]`]\s*(?:\+|\.\.?)\s*['\"`]", inside) is not None
        for word in strings(inside):
            carries = globbed(word) or unknown(word) or re.search(r"[#$]\{|\$\w", word) is not None
            if re.search(r"\.[a-z]{2,}\Z", word) and (carries or (built and word[:1] == ".")):
                shell.scene.note(BLOCK, "exfil.dns", "Code puts what it finds into a name lookup.")
