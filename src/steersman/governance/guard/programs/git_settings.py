"""git's settings: the many that decide what it runs."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.effects import harmful
from steersman.governance.guard.marks import shown, unknown
from steersman.governance.guard.paths import Zone
from steersman.records.patterns import pattern

RUNS = pattern(
    r"(?i)(?:core\.(?:pager|editor|fsmonitor|sshcommand|askpass|hookspath|gitproxy|"
    r"alternaterefscommand)|pager\.\w+|diff\.external|diff\.[\w-]+\.(?:command|"
    r"textconv)|merge\.[\w-]+\.driver|mergetool\.[\w-]+\.(?:cmd|path)|difftool\.[\w-]+\.(?:cmd|"
    r"path)|alias\.[\w-]+|credential\.(?:[^=]*\.)?helper|filter\.[\w-]+\.(?:clean|"
    r"smudge|process)|gpg\.(?:\w+\.)?program|sequence\.editor|interactive\.difffilter|"
    r"init\.templatedir|include\.path|includeif\..*\.path|uploadpack\.packobjectshook|"
    r"remote\.[\w-]+\.(?:uploadpack|receivepack|vcs|proxy)|receive\.\w*hook|"
    r"protocol\.(?:ext\.)?allow|browser\.[\w-]+\.cmd|man\.[\w-]+\.cmd|trailer\.[\w-]+\.(?:command|"
    r"cmd)|submodule\.[\w-]+\.update|url\..*\.(?:push)?insteadof|http\.proxy|"
    r"http\.sslverify|tar\.[\w.]+\.command|guitool\.\w+\.cmd|instaweb\.\w+|sendemail\.\w+|"
    r"web\.browser|safe\.directory|blame\.\w+cmd)\Z"
)


_SOURCE = pattern(r"(?i)sslverify|proxy|insteadof|safe\.directory|protocol\.")
BELOW = (Zone.INSIDE, Zone.TEMP)


def set_option(call: ProgramCall, text: str, *, lasting: bool, value: str | None = None) -> None:
    name, _, given = text.partition("=")
    given = value if value is not None else given
    if not RUNS.match(name):
        return
    if re.search(r"(?i)core\.pager|core\.editor|pager\.|sequence\.editor", name) and re.fullmatch(
        r"(?:cat|less|more|delta|vim?|nvim|nano|code|true|false|bat|:|diff-so-fancy)?(?:\s-{1,"
        r"2}[\w=-]+)*(?:\s--wait)?",
        given,
    ):
        return
    if (
        re.search(r"(?i)credential\..*helper|credential\.helper", name)
        and re.fullmatch(
            r"(?:cache|store|osxkeychain|manager|libsecret|manager-core|gh auth git-credential)?.*",
            given,
        )
        and "!" not in given
        and "/" not in given
    ):
        call.ask("git.setting", f"sets {name}")
        return
    what = "where git gets code from" if _SOURCE.search(name) else "what git runs"
    call.doubt("git.setting", f"sets {name}, which decides {what}", "Run the program directly.")
    if unknown(given):
        return
    if name.lower().startswith("alias."):
        call.shell.aliases["git " + name[6:]] = given
        if given.startswith("!"):
            call.shell.copy().script(given[1:])
        return
    if re.search(
        r"(?i)hookspath|templatedir|include|insteadof|proxy|sslverify|safe\.directory|"
        r"allow",
        name,
    ):
        if re.search(r"(?i)hookspath|templatedir", name):
            _hooks(call, call.path(given) + ("/hooks" if "emplate" in name else ""))
        return
    call.shell.copy().script(given.lstrip("!"))


def _hooks(call: ProgramCall, folder: str) -> None:
    """From now on files in this folder are hooks; so are those written before."""
    call.scene.hook_dirs.append(folder)
    for path, text in list(call.scene.files.items()):
        if path.startswith(folder + "/") and harmful(call.shell, text):
            call.block("hook.write", f"makes git run the harmful {shown(path)}")


def run_through(call: ProgramCall, text: str, what: str) -> None:
    call.doubt("git.runs", f"runs `{shown(text, 50)}` through {what}")
    if not unknown(text):
        call.script(text)
        call.wrapper = False
