"""Programs that connect, look up, log in elsewhere, copy files to others or send mail."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.effects import harmful, tainted
from steersman.governance.guard.marks import (
    FILE,
    NET,
    SECRET,
    SHELL,
    shown,
    unknown,
)
from steersman.governance.guard.options import Options, read_options, skip_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import holds_secrets, secret
from steersman.governance.guard.programs.hosts import LOCAL, at_home, host_of, tells
from steersman.records.patterns import pattern


def netcat(call: ProgramCall) -> None:
    """`nc`, `socat`, `telnet`: raw connections."""
    options = call.options(
        "-e -c -p -s -w -i -X -x -q -g -G -O -P -T --exec --sh-exec --source-port --wait --proxy"
    )
    text = " ".join(call.args)
    call.out = NET
    hosts = [
        word for word in options.rest if not word.isdigit() and not re.fullmatch(r"\d+-\d+", word)
    ]
    local = bool(hosts) and all(LOCAL.match(host_of(host)) for host in hosts)
    ports = [word for word in options.rest if word.isdigit()]
    call.network += [f"{shown(host)}:{port}" for host in hosts for port in ports[:1]] or [
        *(shown(host) for host in hosts),
        *(() if hosts else ("*",)),
    ]
    if (
        options.has("-e", "-c", "--exec", "--sh-exec")
        and call.name in ("nc", "ncat", "netcat", "nc.traditional", "nc.openbsd")
    ) or re.search(r"(?i)\b(?:EXEC|SYSTEM):", text):
        call.block("net.reverse-shell", "gives a shell to whoever connects")
        return
    if options.has("-z", "-h", "--help", "--version"):
        if not local:
            call.ask("net.probe", "probes ports of another machine")
        return
    for word in call.args if call.name == "socat" else ():
        found = re.match(r"(?i)(?:FILE|OPEN|GOPEN|CREATE):([^,]+)", word)
        if found and secret(call.path(found[1]), call.place):
            call.block("exfil.socket", f"sends credentials from {shown(found[1])}")
    if call.stdin is not None and SHELL in call.stdin:
        call.block("net.reverse-shell", "connects a shell to another machine")
    if tainted(call.stdin):
        call.block(
            "exfil.socket", f"sends credentials to {shown(hosts[0]) if hosts else 'the network'}"
        )
    elif options.has("-l", "--listen") or re.search(r"(?i)LISTEN", text):
        call.ask("net.listen", "waits for connections from the network")
        if call.stdin is not None and "\ue001" in call.stdin and "sh" in call.shell.via:
            call.block("net.reverse-shell", "connects a shell to the network")
    elif not local:
        if call.stdin is not None and FILE in call.stdin:
            call.ask("net.send", "sends a file over a raw connection")
        else:
            call.ask("net.socket", "opens a raw connection")


def over_wire(call: ProgramCall, host: str) -> None:
    """A client that sends its input to a host and prints the answer; no input is harmless."""
    call.network.append(shown(host))
    call.out = NET
    text = call.stdin or ""
    if SHELL in text:
        call.block("net.reverse-shell", "connects a shell to another machine")
    elif tainted(text):
        call.block("exfil.socket", f"sends credentials to {shown(host)}")
    elif unknown(text) and not LOCAL.match(host_of(host)):
        call.ask("net.send", f"sends data to {shown(host)}")


def lookup(call: ProgramCall) -> None:
    """`dig`, `ping`, `whois`: names and reachability; names can carry secrets."""
    words = [word for word in call.args if not word.startswith(("-", "+", "@"))]
    if call.name == "getent":
        if words[:1] and words[0] in ("shadow", "gshadow"):
            call.out = SECRET
            call.block("secrets.read", "prints the machine's password hashes")
        if words[:1] and not words[0].startswith(("hosts", "ahosts")):
            return
    call.network += [shown(word) for word in words[:2]]
    if any(tainted(word) for word in call.args) or tainted(call.stdin):
        call.block("exfil.dns", "puts credentials into a name lookup")
    elif any(tells(word, call.scene.printed) for word in words):
        call.block(
            "exfil.dns",
            "sends what a command prints to whoever owns the domain",
            "Look up a name that is written out.",
        )
    elif any(unknown(word) and "." in word and not at_home(word) for word in words):
        call.doubt("exfil.dns", "looks up a name made of unknown text")
    if call.name == "ping" and "-f" in call.args:
        call.ask("net.flood", "floods the network")


# Forges give the user `git` no shell: a login without a command only says who you are.
_FORGES = pattern(
    r"(?:ssh\.|altssh\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|dev\.azure\.com|git\.sr\.ht)\Z"
)
_SSH_VALUED = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"


def ssh(call: ProgramCall) -> None:
    """`ssh host command`: the command runs elsewhere; options may run some here."""
    rest = skip_options(call.args, _SSH_VALUED)
    head = call.args[: len(call.args) - len(rest)]
    options = read_options(head, _SSH_VALUED)
    _ssh_options(call, options)
    if options.has("-V", "-Q", "-G"):
        return
    if not rest:
        return
    host = host_of(rest[0])
    call.network.append(shown(host))
    command = rest[1:]
    later = skip_options(command, _SSH_VALUED)
    if len(later) != len(command):
        _ssh_options(call, read_options(command[: len(command) - len(later)], _SSH_VALUED))
        command = later
    text = call.stdin or ""
    if tainted(text) or any(tainted(word) for word in command):
        call.block("exfil.socket", f"sends credentials to {shown(host)}")
    call.remote = f"logs in to {shown(host)}"
    known = " ".join(command)
    if command:
        call.script(known, stdin=call.stdin)
        call.wrapper = False
        call.ask("remote.login", f"runs a command on {shown(host)}")
    elif text and not unknown(text):
        call.script(text)
        call.wrapper = False
        call.ask("remote.login", f"runs a script on {shown(host)}")
    elif text:
        call.ask("remote.login", f"runs an unknown script on {shown(host)}")
    elif not (rest[0].startswith("git@") and _FORGES.match(host)):
        call.ask("remote.login", f"logs in to {shown(host)}")
    if options.has("-R", "-D", "-L", "-w"):
        call.ask("net.tunnel", "opens a tunnel")
    call.out = NET


def _ssh_options(call: ProgramCall, options: Options) -> None:
    for text in options.all("-o"):
        found = re.match(
            r"(?i)\s*(ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand|Match\s+exec|"
            r"PKCS11Provider|SecurityKeyProvider)\s*[= ]\s*(.*)",
            text,
            re.DOTALL,
        )
        if found:
            call.doubt("flag.run", f"runs `{shown(found[2], 50)}`")
            call.script(found[2])
            call.wrapper = False
    for name in options.all("-S", "-F", "-I", "-D"):
        if (
            name
            and call.name in ("scp", "sftp")
            and name.startswith("/")
            and call.zone(name) is not Zone.INSIDE
        ):
            call.doubt("flag.helper", f"runs or loads {shown(name)}")
    for name in options.all("-F"):
        made = call.content(name)
        if made is not None and harmful(call.shell, made):
            call.block("flag.run", "takes harmful settings from a file")
    for name in options.all("-F") if call.name == "ssh" else ():
        if call.zone(name) not in (Zone.INSIDE, Zone.OUTSIDE):
            call.doubt("flag.helper", f"takes its settings from {shown(name)}")


def scp(call: ProgramCall) -> None:
    """`scp`, `sftp`, `ftp`: files to and from another machine."""
    options = call.options("-c -F -i -J -l -o -P -S -D -b -B -R -s -X")
    _ssh_options(call, options)
    words = options.rest
    for name in re.findall(r"(?m)^\s*m?put\s+(\S+)", call.stdin or ""):
        if secret(call.path(name), call.place):
            call.block("exfil.copy", f"sends credentials from {shown(name)}")
    if not words:
        return
    target, sources = words[-1], words[:-1]
    if re.match(r"(?:[\w.-]+@)?[\w.-]+:|s?cp://", target) and not target.startswith("/"):
        host = shown(host_of(target))
        call.network.append(host)
        call.remote = f"copies files to {host}"
        if any(
            holds_secrets(call.path(word), call.place)
            or tainted(call.content(word))
            or call.zone(word) in (Zone.HOME,)
            for word in sources
        ):
            call.block("exfil.copy", f"copies credentials to {host}")
        elif call.name == "scp":
            call.ask("remote.copy", f"copies files to {host}")
    else:
        for word in sources:
            call.network.append(shown(host_of(word)))
            name = word.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
            where = (
                target.rstrip("/") + "/" + name
                if target in (".", "./") or target.endswith("/")
                else target
            )
            call.write(where, NET)
            call.scene.files[call.path(where)] = NET
        call.ask("remote.copy", "copies files from another machine")
    if call.name != "scp":
        call.ask("remote.copy", "transfers files to or from another machine")


def expose(call: ProgramCall) -> None:
    """`ngrok` and other tunnels."""
    if call.args[:1] and call.args[0] in ("version", "--version", "help", "--help", "config"):
        return
    call.ask("net.expose", "makes a local port reachable from the internet")


def mail(call: ProgramCall) -> None:
    """`mail`, `sendmail`: text to other people."""
    options = call.options("-a -A -s -c -b -r -S -t -f --attach")
    files = options.all("-a", "-A", "--attach")
    if (
        tainted(call.stdin)
        or any(secret(call.path(name), call.place) for name in files)
        or any(tainted(word) for word in call.args)
    ):
        call.block("exfil.mail", "mails credentials")
    else:
        call.ask("net.send", "sends mail")


def scan_hosts(call: ProgramCall) -> None:
    """`nmap` and other probes; scripts may be given."""
    for word in call.args:
        found = re.match(r"--script=(.*)", word)
        if found is None and word.startswith("/") and "--script" in call.args:
            found = re.match(r"(.*)", word)
            made = call.content(word)
            if made:
                from steersman.governance.guard.code import scan

                scan(call.shell, made, "lua")
        if found and "/" in found[1]:
            call.doubt("flag.helper", f"runs the script {shown(found[1])}")
    words = [word for word in call.args if not word.startswith("-")]
    if not words or not LOCAL.match(words[-1]):
        call.ask("net.probe", "probes other machines")


def remote_run(call: ProgramCall) -> None:
    """Windows programs that fetch and run."""
    if (
        any(re.match(r"(?i)https?://", word) for word in call.args)
        or "iwr" in " ".join(call.args).lower()
    ):
        call.block("net.run", "runs code fetched from the network")
    else:
        call.ask("program.unknown", "runs a Windows program")


def gsutil_like(call: ProgramCall) -> None:
    """`croc`, `wormhole`, `transfer`: send files to others."""
    if tainted(call.stdin) or any(secret(call.path(word), call.place) for word in call.args):
        call.block("exfil.copy", "sends credentials to someone")
    else:
        call.ask("net.send", "sends files to someone")
