"""The last look at a command that its handler let pass: harm in plain sight among its words."""

from itertools import pairwise

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.effects import blocked, harmful, payload
from steersman.governance.guard.marks import FILE, literal, shown
from steersman.governance.guard.options import listed
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.places import secret
from steersman.governance.guard.programs.flags import READS
from steersman.governance.guard.programs.hosts import host_of, tells
from steersman.governance.guard.programs.names import OWNERS
from steersman.records.patterns import pattern

_DANGER = pattern(
    r"\brm\s+-\w*[rRf]|\|\s*(?:ba|z|da)?sh\b|\bmkfs|\bdd\s+if=|>\s*/dev/sd|:\(\)\s*\{|"
    r"\b(?:curl|wget)\s+\S+.*\|"
    r"|/dev/tcp/|\bsystem\s*\(|\bshutdown\b|\bos\.(?:system|remove)|rmtree|chmod\s+-R"
)
# Options whose value is prose.
_PROSE = pattern(
    r"(?i)--?(?:m|message|title|body|description|desc|text|comment|subject|reason|notes?|name|"
    r"label|summary|grep|pattern|regexp?|query|search|match|filter|k|e|annotate|tag|author)\Z"
)
# A command that begins with one of these may be what another program is asked to start.
_STARTS = frozenset(
    listed(
        """rm shred dd mkfs mkfs.ext4 wipefs bash sh zsh dash ksh ash python python3 perl ruby node
        php find chmod chown mv cp kill pkill killall curl wget nc ncat socat sudo busybox
        rmdir unlink truncate tee cat shutdown reboot poweroff halt env xargs eval source
        scp rsync ssh tar git docker userdel crontab iptables"""
    )
)
# Programs for which text is only text: it is printed, searched for, stored or sent as a message.
_TEXTUAL = frozenset(OWNERS["interpreters.interpreter"].split()) | frozenset(
    listed(
        """: true false exit return echo printf grep egrep fgrep rg ripgrep ag
        ack sed gsed awk gawk mawk git gh glab test [
        [[ export man tldr apropos history jq yq read local declare pytest jest vitest
        mocha cargo go npm pnpm yarn rspec notify-send say figlet cowsay logger wall
        curl wget expr tr cut tee cat date seq basename dirname bash sh zsh alias
        set trap commitlint codespell hg svn jj write psql
        mysql sqlite3 docker podman kubectl find fd xargs env sudo timeout ssh tmux
        screen watch bc touch mkdir ls ln cp mv rm less more head tail wc sort uniq diff
        ctest bats shellcheck semgrep ast-grep comby sd fastmod deno bun vim nvim vi
        emacs ex ed make just"""
    )
)
# Programs whose words are hosts even without a scheme.
_REACHES = frozenset(listed("curl wget nc ncat netcat telnet ssh"))
_INTERPRETS = frozenset(listed("python python3 node ruby perl php bash sh zsh go"))
# Of these, programs that may start what follows.
_RUNNERS = frozenset(listed("npm pnpm yarn bun deno cargo go just kubectl"))
_OUTPUT = pattern(
    r"-o|-O|--?(?:out|output|outfile|out-file|output-file|outdir|out-dir|output-dir|"
    r"dest|destination|log-file|logfile|report|save|export|target-dir|write|"
    r"[\w-]*(?:out|output|dump|save|export|log|result|report|trace|dest)(?:-?(?:file|path|dir|to))?|"
    r"to|into|junitxml|junit-xml|coverprofile|cpuprofile|memprofile)\Z"
)
# Subcommands after which the next word is a file that is made.
_CREATES = frozenset(listed("create export save dump write generate backup snapshot"))
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


_MINERS = pattern(
    r"(?i)(?:\A|.*/)(?:xmrig|xmr-stak|minerd|cpuminer|cgminer|bfgminer|ethminer|nbminer|ccminer|"
    r"lolminer|t-rex|phoenixminer|gminer|teamredminer|nanominer|nicehash|cryptonight|verusminer)"
    r"[\w.:-]*\Z"
)
_STRATUM = pattern(r"(?i)(?:--?[\w-]+=)?(?:stratum|ethproxy)[\w+]*://")
_POOL = pattern(
    r"(?i)(?:-o|-P|-S|--url|--pool|--server)=(?:[\w-]+\.)*(?:[\w-]*pool|minergate|nicehash|2miners|"
    r"moneroocean|supportxmr)\.[\w.-]+:\d+"
)
_CARRIES = frozenset(
    listed("docker podman nerdctl kubectl tmux screen npm pnpm yarn bun deno cargo")
)


def _mines(call: ProgramCall) -> None:
    """Programs that mine coins, by name or by the pool they are given."""
    if call.name in _TEXTUAL - _CARRIES - _INTERPRETS or not call.args:
        return
    words = [literal(word) for word in call.words]
    if any(_STRATUM.match(word) for word in words) or any(
        _POOL.match(f"{flag}={word}") or _POOL.match(word) for flag, word in pairwise(words)
    ):
        call.block("abuse.mining", "mines coins for a pool")
    elif any(_MINERS.match(word) for word in (words if call.name in _CARRIES else words[:1])) and (
        not {"--version", "--help", "-h", "-V"} & set(words)
    ):
        call.doubt("abuse.mining", "starts a program that mines coins")


def last_look(call: ProgramCall) -> None:
    """Say what no handler has said of words that carry harm."""
    if call.inert:
        return
    _mines(call)
    flags = READS.get(call.name)
    if flags is not None:
        for name in call.options(flags).all(*flags.split()):
            if secret(call.path(name), call.place):
                call.read(name)
    textual = call.name in _TEXTUAL
    hosts = [host_of(word) for word in call.args if "://" in word or call.name in _REACHES]
    if any(tells(host, call.scene.printed) for host in hosts):
        call.doubt("exfil.dns", "puts what a command prints into the name of a host")
    starts = not call.scene.prose and (not textual or call.name in _RUNNERS)
    for at, word in enumerate(call.args):
        if len(word) > 5 and (" " in word or "|" in word or "(" in word):
            if not textual and (_DANGER.search(word) or payload(word)):
                _script(call, at, literal(word))
        elif word[:1] in "/~.-" and call.name not in _LOOKS and len(word) > 2:
            _path(call, at, word)
        if starts and word.rsplit("/", 1)[-1] in _STARTS:
            _tail(call, call.args[at:])


def _script(call: ProgramCall, at: int, word: str) -> None:
    """A word that may be a script: blocked when it is one, or when an option other than prose
    carries a well-known attack."""
    flag = word.split("=", 1)[0] if word.startswith("-") else call.args[at - 1] if at else ""
    text = word.split("=", 1)[1] if word.startswith("-") and "=" in word else word.lstrip("+!:@ ")
    told = flag.startswith("-") and not _PROSE.match(flag)
    if blocked(call.shell, text, prose=True) or (told and harmful(call.shell, text)):
        call.block("flag.run", f"carries a harmful command: {shown(text, 60)}")
    else:
        call.doubt("words.harm", f"carries what looks like a harmful command: {shown(word, 60)}")


def _tail(call: ProgramCall, words: list[str]) -> None:
    """The end of the words may be a command the program starts."""
    if len(words) > 1 and blocked(call.shell, words):
        call.block("words.run", f"is given a harmful command: {shown(' '.join(words), 60)}")


def _path(call: ProgramCall, at: int, word: str) -> None:
    if word[0] == "-":
        flag, equals, word = word.partition("=")
        if not equals or not _OUTPUT.match(flag) or word[:1] not in ("/", "~", "."):
            return
        _written(call, word)
        return
    if at and (_OUTPUT.match(call.args[at - 1]) or call.args[at - 1] in _CREATES):
        _written(call, word)
        return
    path = call.path(word)
    made = call.content(word)
    if made is not None and payload(made):
        call.block("flag.content", f"is given {shown(path)}, which carries a well-known attack")
    inside = path.startswith(call.place.workspace + "/")
    if not inside and secret(path, call.place) and shown(path) not in call.reads:
        call.doubt("secrets.named", f"is given credentials: {shown(path)}")


def _written(call: ProgramCall, word: str) -> None:
    if call.zone(word) not in (Zone.INSIDE, Zone.TEMP, Zone.WORKSPACE, Zone.HARMLESS):
        call.write(word, FILE)
