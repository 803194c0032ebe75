"""Inline code that gives something away: credentials, files, the environment, a shell."""

import re
from typing import TYPE_CHECKING

from steersman.governance.guard.code_patterns import (
    HANDS_OUT,
    LOOKUP,
    NETWORK,
    RUNS_WIRE,
    SERVES,
    STRING,
)
from steersman.governance.guard.code_texts import arguments, strings, tilde
from steersman.governance.guard.marks import globbed, shown, unknown
from steersman.governance.guard.paths import OWN, Zone, absolute, zone
from steersman.governance.guard.places import secret
from steersman.governance.guard.scene import ASK, BLOCK
from steersman.records.patterns import pattern

if TYPE_CHECKING:
    from steersman.governance.guard.shell import Shell


_FETCHED = "Code runs what it fetches from the network."
_NAMES_EVAL = pattern(
    r"(?i)\A(?!.*literal_eval).*\b(?:exec|eval|system|Function|pickle\.loads|compile|iex|"
    r"Invoke-Expression|loadstring)\b",
    re.DOTALL,
)
_EVALS_FETCHED = pattern(
    r"(?i)(?:exec|eval|system|Function|loads|compile|iex|Invoke-Expression|loadstring|"
    r"run|import)\b[^;\n]*(?:urlopen|requests|fetch|get\(|iwr|Invoke-WebRequest|"
    r"DownloadString|httpx|curl|URI\.open|LWP|http)|(?:get|request)\([^\n]*\beval\(|\.then\([^;\n]*eval|(?:urlopen|"
    r"requests|fetch|DownloadString|iwr)[^\n]*(?:exec|eval|iex|Function)"
)
_ADDRESS = r"(?:https?|ftp)://(?!localhost\b|127\.|\[::1\]|0\.0\.0\.0)"
# Loaded from an address: `source("https://…")`. Evaluated in one statement with one.
_RUNS_ADDRESS = pattern(
    r"(?<![.\w$-])(?:include|require|include_once|require_once|source|so|load|load-file|import|"
    rf"importScripts|dofile)\b[\s(]*['\"]?{_ADDRESS}|\bimport\b[^;\n]{{0,400}}?"
    rf"\bfrom\s*['\"]{_ADDRESS}"
    r"|(?:(?<![.\w$-])(?:eval|evaluate|exec|instance_eval|class_eval|module_eval)\b|"
    r"\.(?:instance|class|module)_eval\b|\bCode\.eval_\w+|\bvm\.run\w+|"
    r"(?<![.\w$-])(?:load|loadstring|include|compile|Function)\s*\()[^;\n]{0,400}?" + _ADDRESS
)
_SAVES = pattern(
    r"\b(?:getstore|urlretrieve|download\.file|download_file|URI\.download)\b|\bdownload\("
)
_RUNS_FILE = pattern(
    r"\brun_path\b|\bdofile\b|\bexecfile\b|\bexec\(\s*open\(|\bdo\s+['\"$/]|"
    r"(?<![.\w$-])(?:source|include|load|require)\s*\(?\s*['\"][/~.]"
)
_INSTALLS = pattern(
    r"\binstall\.packages\s*\(|\b(?:remotes|devtools|BiocManager)::install|\bpak::p\w+\s*\(|"
    r"\bPkg\.(?:add|develop|clone|update)\b|\bMix\.install\b|\bGem\.install\b|@Grab\b|"
    r"\bpkg install\b|\brequire\s*\(?['\"]bundler/inline|\buse CPAN\b|\bCPAN::Shell\b|"
    r"\bpip\.(?:main|_internal)\b|\bfrom\s*['\"](?:npm|jsr):|\bimport\s*\(?\s*['\"](?:npm|jsr):"
)
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
    elif network and _NAMES_EVAL.search(text) and _EVALS_FETCHED.search(text):
        shell.scene.note(BLOCK, "net.run", _FETCHED)
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


def fetched(shell: "Shell", text: str, *, quoted: bool) -> None:
    """Code that runs what an address gives; `quoted` when a word in quotes is only text."""
    spans = [found.span() for found in STRING.finditer(text)] if quoted else []
    for found in _RUNS_ADDRESS.finditer(text):
        if not any(start < found.start() < end for start, end in spans):
            shell.scene.note(BLOCK, "net.run", _FETCHED)
    if _RUNS_FILE.search(text):
        if _SAVES.search(text):
            shell.scene.note(BLOCK, "net.run", _FETCHED)
        elif NETWORK.search(text):
            shell.scene.note(ASK, "net.run", "Code uses the network and then runs a file.")
    for found in _INSTALLS.finditer(text):
        if not any(start < found.start() < end for start, end in spans):
            shell.scene.note(ASK, "pkg.install", "Code installs packages, which may run scripts.")


def lookups(shell: "Shell", text: str) -> None:
    """Code that looks up a name into which it puts something."""
    for found in LOOKUP.finditer(text):
        inside = arguments(text, found.end())
        built = re.search(r"[\w)\]`]\s*(?:\+|\.\.?)\s*['\"`]", inside) is not None
        for word in strings(inside):
            carries = globbed(word) or unknown(word) or re.search(r"[#$]\{|\$\w", word) is not None
            if re.search(r"\.[a-z]{2,}\Z", word) and (carries or (built and word[:1] == ".")):
                shell.scene.note(BLOCK, "exfil.dns", "Code puts what it finds into a name lookup.")
