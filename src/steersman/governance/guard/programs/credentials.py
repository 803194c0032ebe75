"""Programs that keep or show credentials, and the clipboard."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import FILE, OUT
from steersman.governance.guard.paths import Zone


def clipboard(call: ProgramCall) -> None:
    """`pbcopy`, `xclip`: the clipboard."""
    if call.stdin and "\ue003" in call.stdin:
        call.ask("secrets.clipboard", "puts credentials into the clipboard")


def secrets_tool(call: ProgramCall) -> None:
    """Programs whose purpose is to show credentials."""
    text = " ".join(call.args)
    shows = {
        "security": r"find-\w+-password|dump-keychain|export|find-certificate",
        "secret-tool": r"lookup|search",
        "pass": r"(?:\A|\s)(?:show|-c|[\w-]+/)|\A[\w-]+\Z",
        "gopass": r"show|\A[\w/-]+\Z",
        "vault": r"\b(?:kv\s+get|read|login|token\s+(?:create|lookup)|print)\b",
        "op": r"\b(?:read|item\s+get|document\s+get|inject|get)\b",
        "bw": r"\b(?:get|list|export|unlock)\b",
        "lpass": r"\b(?:show|export)\b",
        "keyring": r"\bget\b",
        "gpg": r"--export-secret|--export-ownertrust|--decrypt|-d\b",
        "gpg2": r"--export-secret|--decrypt|-d\b",
        "sops": r"(?:\A|\s)(?:-d|--decrypt|decrypt|exec-env)\b",
        "ansible-vault": r"\b(?:view|decrypt)\b",
        "age": r"(?:\A|\s)-d\b",
        "chamber": r"\b(?:read|export|env)\b",
        "doppler": r"\bsecrets\b(?!.*--only-names)",
        "infisical": r"\b(?:secrets|export)\b",
        "ssh-add": r"(?:\A|\s)-L\b(?=never)",
        "kwallet-query": r"-r",
        "git-credential": r"fill",
        "docker-credential-desktop": r"get",
        "git-credential-store": r"get",
        "aws-vault": r"export",
        "ssh-keygen": r"-y\b(?=never)",
        "lastpass": r"show",
        "keepassxc-cli": r"show|export|clip",
        "credstash": r"get",
        "berglas": r"access",
        "teller": r"env|show",
        "mimikatz": r".*",
    }
    if call.name in ("gpg", "gpg2", "age", "sops"):
        for name in call.options("-o --output").all("-o", "--output"):
            if name != "-":
                call.write(name, FILE)
    pattern = shows.get(call.name)
    call.out = OUT
    if pattern and re.search(pattern, text):
        call.out = "\ue003"
        if (
            call.name in ("gpg", "gpg2", "sops", "age", "ansible-vault")
            and "export-secret" not in text
        ):
            call.ask("secrets.decrypt", "decrypts something")
            return
        call.block(
            "secrets.print", "prints stored credentials", "Ask the user; never print credentials."
        )
        return
    if call.name == "vault" and re.search(
        r"\b(?:kv\s+(?:put|delete|destroy|metadata\s+delete)|delete|secrets\s+disable|"
        r"auth\s+disable|operator|lease\s+revoke)\b",
        text,
    ):
        if re.search(r"delete|destroy|disable|seal|revoke", text):
            call.block("remote.delete", "deletes stored credentials")
        else:
            call.ask("remote.change", "changes stored credentials")
    elif call.name == "security" and re.search(r"delete-|add-trusted-cert|authorizationdb", text):
        call.block("secrets.change", "changes the key chain")
    elif re.search(r"--delete-secret|--delete-key|delete|rm\b|remove|import|--recv-keys", text) or (
        call.name in ("gpg", "gpg2") and re.search(r"--gen|--quick|--edit", text)
    ):
        call.ask("secrets.change", "changes stored keys")


def ssh_keys(call: ProgramCall) -> None:
    """`ssh-keygen`, `ssh-copy-id`, `ssh-add`: keys and access."""
    options = call.options("-f -t -b -C -N -P -i -p -o -I -s -V -n -z -D -Y -O -R -F")
    if call.name == "ssh-copy-id":
        call.ask("access.grant", "installs this machine's key on another machine")
    elif call.name == "ssh-keygen":
        name = options.get("-f")
        if options.has("-l", "-F", "-B", "-Y", "-e", "-H_") or "-l" in call.args:
            return
        if options.has("-R"):
            call.ask("access.known-hosts", "forgets a known host")
        elif name is None or call.zone(name) not in (Zone.INSIDE, Zone.TEMP):
            call.ask("access.key", "makes or changes a key outside the workspace")
    elif options.has("-D", "-d") or (call.name == "ssh-add" and not options.has("-l", "-L")):
        call.ask("access.agent", "changes the keys the agent holds")
