"""Processes, power, services and schedules."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.effects import harmful
from steersman.governance.guard.marks import EVERY, FILE, STAR, shown
from steersman.governance.guard.paths import Zone
from steersman.records.patterns import pattern

_INIT = pattern(
    r"(?:systemd|init|launchd|dbus-daemon|sshd|Xorg|gdm|kernel_task|WindowServer|"
    r"kthreadd|NetworkManager)\Z"
)


def kill(call: ProgramCall) -> None:
    """`kill`: -1 is everybody, 1 is init."""
    args = call.args
    if args[:1] and args[0] in ("-l", "-L", "--list", "-0"):
        return
    for word in _targets(args):
        if word in ("-1", "1", "-0", "0"):
            call.breaker(
                "kill.everything",
                "kills every process or init itself",
                "Kill only what you started.",
            )
        elif EVERY in word or STAR in word:
            call.block("kill.everything", "kills every process it can list")
        elif not word.startswith("%"):
            call.ask("kill.process", "stops a process", "Stop only what you started.")


def _targets(args: list[str]) -> list[str]:
    """Process ids; the first word with a dash is a signal when others follow."""
    if "--" in args:
        return args[args.index("--") + 1 :]
    if args[:1] and args[0] in ("-s", "-n", "--signal", "-q"):
        return args[2:]
    return args[1:] if len(args) > 1 and args[0].startswith("-") else list(args)


def pkill(call: ProgramCall) -> None:
    """`pkill`, `killall`: by name or user."""
    options = call.options("-u -U -g -G -P -s -t -F --signal --user --uid --group -z -y --ns")
    words = [word for word in options.rest]
    if options.has("-l", "--list", "-0") and call.name != "xkill":
        return
    user = options.get("-u", "-U", "--user", "--uid")
    everything = any(
        word in ("", ".", ".*", "^", "^.*$", "$", ".+") or word == STAR for word in words
    )
    if (
        call.name == "killall5"
        or everything
        or (call.name == "pkill" and "" in call.args)
        or call.name == "killall5"
    ):
        call.breaker("kill.everything", "kills every process")
    elif user is not None:
        call.block("kill.user", f"kills every process of {shown(user)}")
    elif "-1" in call.args and call.name == "pkill" and not words:
        call.breaker("kill.everything", "kills every process")
    elif any(_INIT.match(word) for word in words):
        call.block("kill.system", "kills a process the machine needs")
    else:
        call.ask("kill.process", "stops processes by name", "Stop only what you started.")


def fuser(call: ProgramCall) -> None:
    """`fuser -k`."""
    options = call.options("-n --namespace")
    if not options.has("-k", "--kill"):
        return
    far = [
        word
        for word in options.rest
        if word.startswith("/") and call.zone(word) in (Zone.ROOT, Zone.TOP, Zone.HOME, Zone.SYSTEM)
    ]
    if (options.has("-m", "-M", "--mount", "-c") and far) or far:
        call.breaker("kill.everything", "kills everything that uses a part of the system")
    else:
        call.ask("kill.process", "kills every process that uses a file or port")


def power(call: ProgramCall) -> None:
    """`shutdown`, `reboot` and the like."""
    if any(word in ("--help", "--version", "-c", "--show") for word in call.args) or (
        call.name in ("init", "telinit") and not call.args
    ):
        return
    if call.name == "shutdown" and "-k" in call.args:
        return
    call.breaker("power.off", "turns the machine off or restarts it")


def systemctl(call: ProgramCall) -> None:
    """`systemctl`, `service`, `launchctl`, `rc-service`: services and power."""
    options = call.options(
        "-H -M -t -p -n -o -s --host --machine --type --property --lines --output "
        "--signal --state --root"
    )
    words = options.rest
    if call.name in ("service", "rc-service") and len(words) > 1:
        words = [words[1], words[0]]
    sub = words[0] if words else "list-units"
    if sub in (
        "poweroff",
        "reboot",
        "halt",
        "kexec",
        "rescue",
        "emergency",
        "suspend",
        "hibernate",
        "soft-reboot",
        "default",
        "isolate",
        "hybrid-sleep",
        "switch-root",
        "exit",
    ):
        call.breaker("power.off", "turns the machine off or restarts it")
    elif sub in (
        "status",
        "show",
        "cat",
        "list-units",
        "list-unit-files",
        "list-timers",
        "list-sockets",
        "list-dependencies",
        "list-jobs",
        "list-sessions",
        "list-users",
        "list-seats",
        "session-status",
        "user-status",
        "is-active",
        "is-enabled",
        "is-failed",
        "is-system-running",
        "get-default",
        "help",
        "show-environment",
        "list",
        "print",
        "blame",
        "--status-all",
        "log",
        "info",
        "version",
    ):
        return
    elif sub in ("terminate-user", "kill-user", "terminate-seat"):
        call.block("kill.user", "ends a user's sessions")
    elif sub in (
        "stop",
        "disable",
        "mask",
        "kill",
        "bootout",
        "remove",
        "unload",
    ) and not options.has("--user"):
        names = " ".join(words[1:])
        if re.search(
            r"sshd?\b|network|systemd-|dbus|firewalld|ufw|auditd|apparmor|selinux|cron|"
            r"rsyslog|fail2ban|docker|kubelet|resolved|falcon|wazuh|clamav|display-manager|"
            r"gdm|polkit",
            names,
        ):
            call.block("service.stop", f"stops a service the machine needs: {shown(names)}")
        else:
            call.ask("service.control", "stops a service")
    elif sub in (
        "enable",
        "link",
        "edit",
        "set-default",
        "import-environment",
        "set-environment",
        "bootstrap",
        "load",
        "submit",
        "add-wants",
    ):
        if any(word.startswith(("/tmp", "/dev/shm")) for word in words[1:]):
            call.block("persist.service", "installs a service from a temporary place")
        else:
            call.ask("persist.service", "makes a service start automatically")
    else:
        call.ask("service.control", "controls a service")


def crontab(call: ProgramCall) -> None:
    """`crontab`: replaces or removes scheduled jobs."""
    options = call.options("-u -s")
    if options.has("-l"):
        call.out = FILE
        return
    if options.has("-r"):
        call.block("persist.cron", "deletes every scheduled job")
        return
    if options.has("-e"):
        call.ask("persist.cron", "edits scheduled jobs")
        return
    if options.get("-u") not in (None, call.place.home.rsplit("/", 1)[-1]):
        call.block("persist.cron", "changes another user's scheduled jobs")
    text = call.stdin
    if options.rest and options.rest != ["-"]:
        text = call.content(options.rest[0])
    jobs = re.sub(r"(?m)^\s*(?:@\w+|(?:[\d*/,-]+\s+){5})", "", text or "")
    if text is not None and (harmful(call.shell, jobs) or re.search(r"/tmp/|/dev/shm/", jobs)):
        call.block("persist.cron", "plants a harmful scheduled job")
    else:
        call.ask("persist.cron", "changes scheduled jobs")


def at(call: ProgramCall) -> None:
    """`at`, `batch`: a script for later."""
    options = call.options("-f -q -t -T")
    if options.has("-l", "-c", "-V") or call.name == "atq":
        return
    if call.name == "atrm" or options.has("-d", "-r"):
        call.ask("persist.at", "removes scheduled jobs")
        return
    text = call.stdin
    if options.get("-f"):
        text = call.content(options.get("-f") or "")
    if text is not None:
        call.script(text)
        call.wrapper = False
    call.ask("persist.at", "schedules a command for later")


def stress(call: ProgramCall) -> None:
    """`stress`, `stress-ng`: load without use; a small load with an end is only asked about."""
    options = call.options(
        "-c -m -i -d -t --cpu --vm --vm-bytes --io --hdd --fork --timeout", single=True
    )
    ends = re.match(r"[1-9]", options.get("-t", "--timeout") or "")
    big = [n for flag in options.flags.values() for n in flag if re.fullmatch(r"\d{2,}|0", n)]
    if ends and not big and not options.has("--vm", "-m", "--vm-bytes", "--fork", "--all"):
        return
    call.block("exhaust.load", "exhausts the machine")
