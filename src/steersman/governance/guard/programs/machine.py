"""The machine's users, walls, kernel, logs and settings, and programs that only tell something."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import EVERY, FILE, OUT, STAR, shown, unknown
from steersman.governance.guard.options import listed, skip_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.flags import check_flags
from steersman.governance.guard.programs.hosts import LOCAL, host_of
from steersman.records.patterns import pattern


def users(call: ProgramCall) -> None:
    """`useradd`, `userdel`, `passwd`, `usermod`, `visudo`: who may use the machine."""
    options = call.options(
        "-u -g -G -p -s -d -c -e -f -k --uid --gid --groups --password --shell --home"
    )
    if (call.name in ("passwd",) and options.has("-S", "--status")) or (
        call.name == "chage" and options.has("-l")
    ):
        return
    if call.name in ("userdel", "deluser", "groupdel", "delgroup"):
        call.breaker("users.delete", "deletes a user or group of the machine")
    elif call.name in ("vipw", "vigr", "visudo") and options.has("-c", "--check"):
        return
    else:
        call.block("users.change", "changes who may use the machine or with what rights")


def firewall(call: ProgramCall) -> None:
    """`iptables`, `nft`, `ufw`, `firewall-cmd`: the machine's walls."""
    text = " ".join(call.args)
    if re.search(
        r"(?:\A|\s)(?:-L|-S|--list\S*|list|status|show|--state|--get-\S+|-C|--version)\b", text
    ) and not re.search(r"-[FXPADI]\b", text):
        return
    if re.search(
        r"(?:\A|\s)(?:-F|--flush|-X|flush|disable|reset|--panic-on|off|-d)\b|-P\s+\w+\s+ACCEPT|"
        r"--policy\s+\w+\s+ACCEPT|delete\s+table|-P\s+\w+\s+DROP|panic",
        text,
    ):
        call.block("system.firewall", "drops the machine's firewall")
    else:
        call.ask("system.firewall", "changes the machine's firewall")


def kernel(call: ProgramCall) -> None:
    """`sysctl`, `modprobe`, `insmod`, `kexec`, `setenforce`: the kernel."""
    text = " ".join(call.args)
    if call.name in (
        "lsmod",
        "modinfo",
        "getenforce",
        "sestatus",
        "aa-status",
        "dmesg",
        "sysctl",
    ) and not re.search(r"(?:\A|\s)(?:-w|--write|-p|--load|-C|--clear|-c)\b|=", text):
        return
    if call.name in (
        "insmod",
        "kexec",
        "grub-install",
        "update-grub",
        "efibootmgr",
        "bootctl",
        "grub-mkconfig",
        "dracut",
        "mkinitcpio",
        "update-initramfs",
        "bcdedit",
        "nvram",
        "csrutil",
        "flashrom",
        "fwupdmgr",
        "lilo",
        "grub2-mkconfig",
        "syslinux",
    ):
        if re.search(r"(?:\A|\s)(?:list|status|-v|get-devices|--version|-p)\b", text) or (
            call.name in ("efibootmgr",) and not text
        ):
            return
        if call.name in (
            "update-grub",
            "grub-mkconfig",
            "update-initramfs",
            "dracut",
            "mkinitcpio",
            "fwupdmgr",
        ):
            call.ask("boot.change", "changes how the machine boots")
            return
        call.breaker("boot.change", "changes how the machine boots or what its kernel runs")
    elif (
        call.name in ("modprobe", "rmmod") and re.search(r"(?:\A|\s)-r\b", text)
    ) or call.name == "rmmod":
        call.block("system.kernel", "removes a part of the running kernel")
    elif call.name == "sysctl" and re.search(
        r"kernel\.(?:panic|sysrq|core_pattern|modprobe|hotplug|poweroff_cmd|modules_disabled)", text
    ):
        call.block("system.kernel", "changes a setting of the kernel that others rely on")
    else:
        call.ask("system.kernel", "changes a setting of the kernel")


def package_root(call: ProgramCall) -> None:
    """`update-alternatives`, `dpkg-divert`, `ldconfig`: what a system program's name means."""
    text = " ".join(call.args)
    if re.search(r"--(?:display|list|query|get-selections|version|config\b)", text):
        if "--config" in text:
            call.ask("system.alternatives", "changes what a program's name means")
        return
    call.block("system.alternatives", "changes what a system program's name means")


def logs(call: ProgramCall) -> None:
    """`journalctl`: reads; vacuuming erases."""
    if any(word.startswith(("--vacuum", "--rotate", "--flush")) for word in call.args):
        call.block("logs.erase", "erases the machine's logs") if any(
            re.search(r"vacuum-(?:time|size)=(?:0|1s|1\b|1[KM]?\Z)", word) for word in call.args
        ) else call.ask("logs.erase", "trims the machine's logs")
    call.out = FILE


def setting(call: ProgramCall) -> None:
    """Programs that change a setting of the machine."""
    tells = listed("--version --help -h -V list status show info version read find domains get")
    verbs = [word for word in call.args if word not in ("-currentHost", "-g")]
    if verbs and verbs[0] in tells:
        return
    if call.name == "ifconfig" and len(call.args) < 2:
        return
    call.ask("system.change", "changes a setting of the machine")


def harmless(call: ProgramCall) -> None:
    """Programs that only tell something."""
    check_flags(call)
    call.out = OUT
    if call.name in ("ps", "pgrep", "pidof"):
        call.out = (
            EVERY
            if call.name == "ps" or any(word in (".", "", STAR) for word in call.args)
            else OUT
        )
    if call.name == "ps" and any(
        re.fullmatch(r"[a-zA-Z]*e[a-zA-Z]*", word) for word in call.args[:1]
    ):
        call.doubt("secrets.environment", "prints the environment of other processes")


_WINDOWS_LOOKS = pattern(
    r"(?i)(?:/?query|list|/\?|\w+ (?:get|list)|path \w+ (?:get|list)|fsinfo|volume diskfree)"
    r"(?:\s|\Z)"
)


def windows(call: ProgramCall) -> None:
    """Windows programs that change rights, the registry, shadow copies or boot."""
    text = " ".join(call.args)
    wide = re.search(
        r"(?i)[a-z]:\\?(?:\s|\Z|\*|windows|users)|/grant\s+everyone|delete\s+shadows|"
        r"HKLM|/f\b.*\bdelete|delete\b",
        text,
    )
    if _WINDOWS_LOOKS.match(text):
        return
    if wide or call.name.lower().startswith(
        ("vssadmin", "wbadmin", "bcdedit", "diskpart", "cipher")
    ):
        call.block("windows.system", "changes rights, registry or backups of a Windows system")
    else:
        call.ask("program.unknown", "runs a Windows program")


def script_words(call: ProgramCall) -> None:
    """`logrotate -f conf`, `run-parts dir`: run what lies somewhere."""
    rest = skip_options(call.args, "-s -l --state --log")
    for word in rest:
        if call.zone(word) is not Zone.INSIDE:
            call.doubt("code.unknown", f"runs what is in {shown(word)}")


def xdg_open(call: ProgramCall) -> None:
    """`open`, `xdg-open`: starts whatever handles a file or address."""
    if any(unknown(word) for word in call.args):
        call.doubt("program.hidden", "opens something that is not known")
    elif any("\ue003" in word for word in call.args):
        call.block("exfil.url", "puts credentials into an address")
    elif not all(_opens_calmly(call, word) for word in call.args) or not call.args:
        call.ask("program.opens", "starts another program for a file or address")


_SHOWN = pattern(
    r"(?i)\.(?:html?|pdf|png|jpe?g|gif|svg|webp|md|txt|log|json|csv|xml|ya?ml|mp4|mp3)\Z"
)


def _opens_calmly(call: ProgramCall, word: str) -> bool:
    """A page, picture or text of the workspace, its folder, or a page of this machine."""
    if "://" in word:
        return word.startswith("http") and LOCAL.match(host_of(word)) is not None
    where = call.zone(word)
    return where is Zone.WORKSPACE or (where is Zone.INSIDE and _SHOWN.search(word) is not None)
