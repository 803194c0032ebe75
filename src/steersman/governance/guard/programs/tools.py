"""Developer tools that work on the project: allowed, once their risky options were looked at."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import FILE
from steersman.governance.guard.options import skip_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.flags import check_flags
from steersman.governance.guard.programs.hosts import LOCAL, host_of
from steersman.governance.guard.programs.serving import SERVERS, serve


def tool(call: ProgramCall) -> None:
    """A tool of the project."""
    check_flags(call)
    call.unknown_code = call.name in (
        "pytest",
        "jest",
        "vitest",
        "mocha",
        "tox",
        "nox",
        "rspec",
        "phpunit",
        "pre-commit",
    )
    if (
        call.name == "pre-commit"
        and call.args[:1]
        and call.args[0] in ("install", "init-templatedir", "autoupdate", "try-repo")
    ):
        call.ask("hook.install", "installs or changes hooks that run later")
    elif call.name in ("svn", "hg", "jj", "fossil", "bzr", "cvs", "darcs") and any(
        word in ("push", "commit", "ci", "delete", "strip", "revert", "purge")
        for word in call.args[:2]
    ):
        call.ask("vcs.change", "changes a repository")
    elif call.name in ("tcpdump", "tshark") and not {"-r", "-D", "--version"} & set(call.args):
        call.doubt("privacy.record", "records what others send over the network")
    elif call.name == "patch":
        _patch(call)
    elif call.name in ("latex", "pdflatex", "xelatex", "lualatex") and any(
        "shell-escape" in word or "enable-write18" in word for word in call.args
    ):
        call.doubt("flag.run", "lets the document run commands")
        for word in call.args:
            for text in re.findall(r"\\write18\{([^}]*)\}", word):
                call.script(text)
    elif _publishes(call):
        call.ask("pkg.publish", "publishes something")
    _outputs(call)


_PUBLISHES = ("deploy", "publish", "gh-deploy", "upload", "submit", "gh-pages", "publish-release")


def _publishes(call: ProgramCall) -> bool:
    """`gleam publish`, `dub upload`: a tool whose first word sends the project out."""
    dry = {"--dry-run", "--dryrun", "--check", "--help"} & {*call.args}
    word = next((word for word in call.args if not word.startswith("-")), "")
    return word in _PUBLISHES and not dry


def _outputs(call: ProgramCall) -> None:
    """Files and folders a tool is made to write."""
    for word in call.args:
        found = re.match(
            r"(?:--?(?:o|output|out|outfile|output-file|outdir|out-dir|output-dir|dest|"
            r"destination|junitxml|log-file|report))=(.+)",
            word,
        )
        if found and call.zone(found[1]) not in (
            Zone.INSIDE,
            Zone.TEMP,
            Zone.WORKSPACE,
            Zone.HARMLESS,
        ):
            call.write(found[1], FILE)


def _patch(call: ProgramCall) -> None:
    options = call.options("-d -i -o -r -p -F -B -D --directory --input --output")
    folder = options.get("-d", "--directory")
    if folder and call.zone(folder) not in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMP):
        call.write(folder + "/patched", FILE)
    if call.stdin and "\ue004" in call.stdin:
        call.ask("net.apply", "applies a patch fetched from the network")
    for word in options.rest[:1]:
        if call.zone(word) not in (Zone.INSIDE, Zone.TEMP):
            call.write(word, FILE)


_CAPTURES = (
    "x11grab",
    "kmsgrab",
    "avfoundation",
    "v4l2",
    "video4linux2",
    "alsa",
    "pulse",
    "gdigrab",
)


def media(call: ProgramCall) -> None:
    """Pictures, sound and films; `mogrify` writes every file it is given, or to a folder."""
    check_flags(call)
    if any(word in _CAPTURES for word in call.args):
        call.doubt("privacy.record", "records the screen, the camera or the microphone")
    words = [word for word in call.args if not word.startswith("-")]
    if call.name == "mogrify":
        folder = call.options("-path -format -resize -quality", single=True).get("-path")
        for word in [folder] if folder else words:
            if "/" in word and call.zone(word) not in (Zone.INSIDE, Zone.TEMP):
                call.write(word, FILE)
    elif (
        words
        and call.zone(words[-1]) not in (Zone.INSIDE, Zone.TEMP, Zone.HARMLESS)
        and words[-1] != "-"
    ):
        call.write(words[-1], FILE)


_ADDRESS = re.compile(r"(?:--?[\w-]+=)?(?:https?|wss?|grpcs?|tcp)://\S+", re.IGNORECASE)


def load(call: ProgramCall) -> None:
    """`ab`, `wrk`, `k6`: load on this machine is a test, on another one it may be an attack."""
    check_flags(call)
    text = " ".join([*call.args, call.stdin or ""])
    hosts = [host_of(found[0].split("=", 1)[-1]) for found in _ADDRESS.finditer(text)]
    if any(not LOCAL.match(host) for host in hosts):
        call.ask("net.flood", "puts load on another machine", "Test a server on this machine.")


def process_manager(call: ProgramCall) -> None:
    """`pm2`, `forever`: long-running programs."""
    if call.args[:1] and call.args[0] in (
        "list",
        "ls",
        "logs",
        "status",
        "show",
        "describe",
        "monit",
        "info",
    ):
        return
    call.ask("process.manager", "starts or stops programs that outlive the session")


def servers(call: ProgramCall) -> None:
    """Servers of the machine."""
    looks = (
        "-t",
        "-T",
        "configtest",
        "-v",
        "-V",
        "--version",
        "validate",
        "version",
        "fmt",
        "adapt",
    )
    if any(word in looks for word in call.args) or (call.name == "haproxy" and "-c" in call.args):
        return
    if call.name in SERVERS:
        serve(call, call.name, call.args)
    call.ask("service.control", "starts or controls a server")


def ansible(call: ProgramCall) -> None:
    """`ansible HOSTS -m shell -a CMD`: runs on every host."""
    options = call.options(
        "-m -a -i -u -e -l -f --module-name --args --inventory --limit --extra-vars"
    )
    module = options.get("-m", "--module-name") or "command"
    text = options.get("-a", "--args") or ""
    if options.has("--check", "-C", "--list-hosts", "--version"):
        return
    if module.rsplit(".", 1)[-1] in ("reboot", "shutdown", "win_reboot"):
        call.block("power.off", "restarts every host")
    if module.rsplit(".", 1)[-1] in ("shell", "command", "raw", "script") and text:
        call.script(text)
        call.wrapper = False
    elif re.search(r"state=absent", text):
        path = re.search(r"path=(\S+)", text)
        if path:
            call.delete(path[1])
        call.block("remote.delete", "deletes something on every host")
    if module.rsplit(".", 1)[-1] not in ("ping", "setup", "debug"):
        call.ask("iac.change", "changes other machines")


def many_hosts(call: ProgramCall) -> None:
    """`pssh`, `pdsh`, `clush`: the last words run on many machines."""
    rest = skip_options(
        call.args, "-h -H -w -l -p -t -o -e -O -x -g -f -u --hosts --host --user --timeout"
    )
    if rest:
        call.script(" ".join(rest))
        call.wrapper = False
    call.ask("iac.change", "runs a command on many machines")


def openssl_like(call: ProgramCall) -> None:
    """Encrypts in place: `ccrypt`, `mcrypt`, `7z -p`, `gpg -c`."""
    for word in call.args:
        if not word.startswith("-") and call.zone(word) not in (Zone.INSIDE, Zone.TEMP):
            call.block("fs.encrypt", "encrypts files outside the workspace")


def salt(call: ProgramCall) -> None:
    """`salt HOSTS cmd.run SCRIPT`: runs on every host."""
    words = [word for word in call.args if not word.startswith("-")]
    for at, word in enumerate(words[:-1]):
        if word in ("cmd.run", "cmd.shell", "cmd.run_all", "cmd.script"):
            call.script(words[at + 1])
            call.wrapper = False
        elif word in ("system.reboot", "system.shutdown", "file.remove"):
            call.block("remote.delete", "stops or deletes something on every host")
    if not any(word in ("test.ping", "grains.items") for word in words):
        call.ask("iac.change", "changes other machines")


def calculator(call: ProgramCall) -> None:
    """`dc -e`: a calculator with a shell escape."""
    from steersman.governance.guard.code import scan

    for text in [
        *call.options("-e -f --expression --file").all("-e", "--expression"),
        call.stdin or "",
    ]:
        scan(call.shell, text, "editor")
