"""The last look at a command that its handler let pass: harm in plain sight among its words."""

import re

from steersman.governance.guard.call import Call
from steersman.governance.guard.effects import harmful
from steersman.governance.guard.marks import FILE, literal, shown
from steersman.governance.guard.options import listed
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import secret

_DANGER = re.compile(
    r"\brm\s+-\w*[rRf]|\|\s*(?:ba|z|da)?sh\b|\bmkfs|\bdd\s+if=|>\s*/dev/sd|:\(\)\s*\{|"
    r"\b(?:curl|wget)\s+\S+.*\|"
    r"|/dev/tcp/|\bsystem\s*\(|\bshutdown\b|\bos\.(?:system|remove)|rmtree|chmod\s+-R"
)
_EXECUTES = re.compile(
    r"(?i)exec|cmd|command|run|hook|pager|editor|prog|shell|eval|filter|pre|"
    r"post|handler|action|helper"
    r"|browser|viewer|tool|wrap|launch|script|spell|on-|proxy|ssh|rsh|compress|"
    r"open|callback|trigger"
)
# Programs for which text is only text: it is printed, searched for, stored or sent as a message.
_TEXTUAL = frozenset(
    listed(
        """echo printf grep egrep fgrep rg ripgrep ag ack sed gsed awk gawk mawk git gh glab test [
        [[ export man tldr apropos history jq yq read local declare pytest jest vitest
        mocha cargo go npm pnpm yarn rspec notify-send say figlet cowsay logger wall
        curl wget expr tr cut tee cat date seq basename dirname python python3 node ruby
        perl php bash sh zsh alias set trap commitlint codespell hg svn jj write psql
        mysql sqlite3 docker podman kubectl find fd xargs env sudo timeout ssh tmux
        screen watch bc touch mkdir ls ln cp mv rm less more head tail wc sort uniq diff
        ctest bats shellcheck semgrep ast-grep comby sd fastmod deno bun tsx vim nvim vi
        emacs ex ed make just gdb lldb"""
    )
)
_OUTPUT = re.compile(
    r"-o|-O|--?(?:out|output|outfile|out-file|output-file|outdir|out-dir|output-dir|"
    r"dest|destination|log-file|logfile|report|save|export|target-dir|write)\Z"
)
_LOOKS = frozenset(
    listed(
        """ls stat test [ [[ file du find fd chmod chown ssh scp sftp rsync ssh-add ssh-keygen
        touch mkdir ln cd wc sha256sum md5sum realpath readlink basename dirname which
        git docker podman kubectl rm mv cp cat echo printf curl wget export source . tar
        zip gpg age sops openssl find tree aws gcloud az helm terraform ansible
        ansible-playbook psql mysql pushd diff cmp : < code delete write getfacl lsattr
        du df sudo env cksum shasum namei eza exa lsd stat mount trap alias"""
    )
)


def last_look(call: Call) -> None:
    """Say what no handler has said of words that carry harm."""
    for at, word in enumerate(call.args):
        if len(word) > 5 and (" " in word or "|" in word or "(" in word):
            if call.name not in _TEXTUAL and _DANGER.search(word):
                _script(call, at, literal(word))
        elif word[:1] in "/~." and call.name not in _LOOKS and len(word) > 2:
            _path(call, at, word)


def _script(call: Call, at: int, word: str) -> None:
    flag = word.split("=", 1)[0] if word.startswith("-") else call.args[at - 1] if at else ""
    text = word.split("=", 1)[1] if word.startswith("-") and "=" in word else word.lstrip("+!:")
    if flag.startswith("-") and _EXECUTES.search(flag) and harmful(call.shell, text):
        call.block("flag.run", f"carries a harmful command: {shown(text, 60)}")
    else:
        call.doubt("words.harm", f"carries what looks like a harmful command: {shown(word, 60)}")


def _path(call: Call, at: int, word: str) -> None:
    if at and _OUTPUT.match(call.args[at - 1]):
        if call.zone(word) not in (Zone.INSIDE, Zone.TEMP, Zone.WORKSPACE, Zone.HARMLESS):
            call.write(word, FILE)
        return
    path = call.path(word)
    inside = path.startswith(call.place.workspace + "/")
    if not inside and secret(path, call.place) and shown(path) not in call.reads:
        call.doubt("secrets.named", f"is given credentials: {shown(path)}")
