"""The machine itself: processes, power, disks, users, services, network, schedules."""

import re

from steersman.governance.guard.call import Call
from steersman.governance.guard.effects import harmful
from steersman.governance.guard.marks import EVERY, FILE, OUT, STAR, shown, unknown
from steersman.governance.guard.options import listed, skip_options
from steersman.governance.guard.paths import Zone
from steersman.governance.guard.programs.flags import check_flags

_INIT = re.compile(
    r"(?:systemd|init|launchd|dbus-daemon|sshd|Xorg|gdm|kernel_task|WindowServer|"
    r"kthreadd|NetworkManager)\Z"
)


def kill(call: Call) -> None:
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


def pkill(call: Call) -> None:
    """`pkill`, `killall`: by name or user."""
    options = call.options(
        "-u -U -g -G -P -s -t -F -n_ --signal --user --uid --group -z -y -o_ -c_ --ns"
    )
    words = [word for word in options.rest]
    if options.has("-l", "--list", "-0"):
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


def fuser(call: Call) -> None:
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
        call.ask("kill.process", "kills whoever uses a file or port")


def power(call: Call) -> None:
    """`shutdown`, `reboot` and the like."""
    if any(word in ("--help", "--version", "-c", "--show") for word in call.args) or (
        call.name in ("init", "telinit") and not call.args
    ):
        return
    if call.name == "shutdown" and "-k" in call.args:
        return
    call.breaker("power.off", "turns the machine off or restarts it")


def systemctl(call: Call) -> None:
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
            call.ask("persist.service", "makes a service start by itself")
    else:
        call.ask("service.control", "controls a service")


def crontab(call: Call) -> None:
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
    text = call.stdin
    if options.rest and options.rest != ["-"]:
        text = call.content(options.rest[0])
    jobs = re.sub(r"(?m)^\s*(?:@\w+|(?:[\d*/,-]+\s+){5})", "", text or "")
    if text is not None and (harmful(call.shell, jobs) or re.search(r"/tmp/|/dev/shm/", jobs)):
        call.block("persist.cron", "plants a harmful scheduled job")
    else:
        call.ask("persist.cron", "changes scheduled jobs")


def at(call: Call) -> None:
    """`at`, `batch`: a script for later."""
    options = call.options("-f -q -t -T -m_")
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


def disk(call: Call) -> None:
    """Programs that format, partition or wipe disks."""
    words = [word for word in call.args if not word.startswith("-")]
    reading = any(
        word
        in (
            "-l",
            "--list",
            "-V",
            "--version",
            "--help",
            "-h",
            "print",
            "-n",
            "--no-act",
            "-p",
            "--info",
            "-I",
            "-i",
            "--dump",
            "-d",
            "info",
            "list",
            "status",
            "luksDump",
            "isLuks",
            "get",
        )
        for word in call.args
    )
    name = call.name.split(".")[0]
    if name in (
        "fdisk",
        "sfdisk",
        "gdisk",
        "sgdisk",
        "parted",
        "cfdisk",
        "blkdiscard",
        "hdparm",
        "nvme",
        "tune2fs",
        "e2fsck",
        "fsck",
        "smartctl",
        "badblocks",
        "diskutil",
        "xfs_repair",
        "resize2fs",
        "swapoff",
        "swapon",
        "losetup",
        "dmsetup",
        "partprobe",
        "xfs_admin",
        "debugfs",
        "testdisk",
        "dumpe2fs",
        "cryptsetup",
        "mdadm",
    ):
        harmless = reading and not re.search(
            r"erase|secure|sanitize|format|zap|\brm\b|mklabel|mkpart|delete|luksFormat|"
            r"luksErase|--zero-superblock|--stop",
            " ".join(call.args),
        )
        if harmless or name in ("smartctl", "dumpe2fs", "partprobe") or not call.args:
            return
        if name in (
            "e2fsck",
            "fsck",
            "tune2fs",
            "resize2fs",
            "swapoff",
            "swapon",
            "losetup",
            "xfs_repair",
            "diskutil",
            "mdadm",
            "cryptsetup",
            "hdparm",
            "nvme",
        ) and not re.search(
            r"(?i)erase|secure|sanitize|format|luksFormat|luksErase|luksKillSlot|luksRemoveKey|"
            r"zero|partitionDisk|reformat|deleteVolume|deleteContainer|--create|--stop|"
            r"--write|--trim|make-bad",
            " ".join(call.args),
        ):
            call.ask("disk.change", "changes a disk or volume")
            return
    if call.name == "diskutil":
        call.breaker("disk.format", "erases or repartitions a disk")
        return
    if call.name == "format" and any(re.match(r"(?i)[a-z]:", word) for word in call.args):
        call.breaker("disk.format", "formats a disk")
        return
    inside = [word for word in words if call.zone(word) in (Zone.INSIDE, Zone.TEMP)]
    devices = [word for word in words if word.startswith("/dev/") or unknown(word)]
    if inside and not devices:
        call.allow()
        return
    call.breaker("disk.format", "formats, repartitions or wipes a disk")


def volumes(call: Call) -> None:
    """`zpool`, `zfs`, `btrfs`, `lvremove`, `vgremove`: storage by name."""
    text = " ".join(call.args)
    if re.match(r"(?:lv|vg|pv)(?:remove|reduce|create)", call.name) or re.search(
        r"\b(?:destroy|labelclear|subvolume\s+delete|subvol\s+delete|sub\s+del\w*|"
        r"device\s+(?:delete|remove)|rollback|replace|offline|wipe)\b",
        text,
    ):
        if re.search(r"(?:\A|\s)-n\b|--dry-run|--test|-t\b", text) and call.name != "zpool":
            return
        call.breaker("disk.volume", "destroys a storage volume")
    elif not re.search(
        r"\b(?:list|status|get|show|df|usage|iostat|history|filesystem|diff)\b|\A\Z", text
    ) and not re.match(r"(?:lv|vg|pv)(?:s|display|scan)\Z", call.name):
        call.ask("disk.change", "changes storage volumes")


def mount(call: Call) -> None:
    """`mount`, `umount`."""
    options = call.options("-t -o -O -L -U --types --options --source --target -T")
    if (not options.rest and not options.has("-a", "--all")) or (
        options.has("-l", "--version", "-V", "--help") and not options.rest
    ):
        return
    zones = {call.zone(word) for word in options.rest if word.startswith(("/", "~", "."))}
    wide = {Zone.ROOT, Zone.TOP, Zone.HOME, Zone.SYSTEM} & zones
    if ("remount" in (options.get("-o", "--options") or "") and Zone.ROOT in zones) or (
        call.name == "umount"
        and (options.has("-a", "--all") or wide & {Zone.ROOT, Zone.TOP, Zone.HOME})
    ):
        mnt = all(re.match(r"/(?:mnt|media|Volumes)", word) for word in options.rest)
        if not mnt or not options.rest:
            call.breaker("system.mount", "takes file systems away from the running system")
            return
    if (
        call.name == "mount"
        and options.has("--bind", "-B")
        and len(options.rest) == 2
        and call.zone(options.rest[1]) in (Zone.SYSTEM, Zone.TOP)
    ):
        call.block("system.mount", "puts something else over a system path")
        return
    call.ask("system.mount", "mounts or unmounts a file system")


def users(call: Call) -> None:
    """`useradd`, `userdel`, `passwd`, `usermod`, `visudo`: who may use the machine."""
    options = call.options(
        "-u -g -G -p -s -d -c -e -f -k -L_ --uid --gid --groups --password --shell --home"
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


def firewall(call: Call) -> None:
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


def kernel(call: Call) -> None:
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


def package_root(call: Call) -> None:
    """`update-alternatives`, `dpkg-divert`, `ldconfig`: what a system program's name means."""
    text = " ".join(call.args)
    if re.search(r"--(?:display|list|query|get-selections|version|config\b)", text):
        if "--config" in text:
            call.ask("system.alternatives", "changes what a program's name means")
        return
    call.block("system.alternatives", "changes what a system program's name means")


def logs(call: Call) -> None:
    """`journalctl`: reads; vacuuming erases."""
    if any(word.startswith(("--vacuum", "--rotate", "--flush")) for word in call.args):
        call.block("logs.erase", "erases the machine's logs") if any(
            re.search(r"vacuum-(?:time|size)=(?:0|1s|1\b|1[KM]?\Z)", word) for word in call.args
        ) else call.ask("logs.erase", "trims the machine's logs")
    call.out = FILE


def asks(rule: str, why: str):  # type: ignore[no-untyped-def]
    """A handler that only asks."""

    def handler(call: Call) -> None:
        if call.args and call.args[0] in (
            "--version",
            "--help",
            "-h",
            "-V",
            "list",
            "status",
            "show",
            "info",
            "version",
        ):
            return
        call.ask(rule, why)

    return handler


def stress(call: Call) -> None:
    """`stress`, `stress-ng`: load without use; a small load with an end is only asked about."""
    options = call.options(
        "-c -m -i -d -t --cpu --vm --vm-bytes --io --hdd --fork --timeout", single=True
    )
    ends = re.match(r"[1-9]", options.get("-t", "--timeout") or "")
    big = [n for flag in options.flags.values() for n in flag if re.fullmatch(r"\d{2,}|0", n)]
    if ends and not big and not options.has("--vm", "-m", "--vm-bytes", "--fork", "--all"):
        return
    call.block("exhaust.load", "uses up the machine")


def harmless(call: Call) -> None:
    """Programs that only tell something."""
    check_flags(call)
    call.out = OUT
    if call.name in ("ps", "pgrep", "pidof"):
        call.out = (
            EVERY
            if call.name == "ps" or any(word in (".", "", STAR) for word in call.args)
            else OUT
        )
    if call.name == "lsof":
        call.out = OUT


def windows(call: Call) -> None:
    """Windows programs that change rights, the registry, shadow copies or boot."""
    text = " ".join(call.args)
    wide = re.search(
        r"(?i)[a-z]:\\?(?:\s|\Z|\*|windows|users)|/grant\s+everyone|delete\s+shadows|"
        r"HKLM|/f\b.*\bdelete|delete\b",
        text,
    )
    if re.search(r"(?i)\b(?:query|list|/\?)", text):
        call.ask("program.unknown", "runs a Windows program")
    elif wide or call.name.lower().startswith(
        ("vssadmin", "wbadmin", "bcdedit", "diskpart", "cipher")
    ):
        call.block("windows.system", "changes rights, registry or backups of a Windows system")
    else:
        call.ask("program.unknown", "runs a Windows program")


def script_words(call: Call) -> None:
    """`logrotate -f conf`, `run-parts dir`: run what lies somewhere."""
    rest = skip_options(call.args, "-s -l --state --log")
    for word in rest:
        if call.zone(word) is not Zone.INSIDE:
            call.doubt("code.unknown", f"runs what lies in {shown(word)}")


def xdg_open(call: Call) -> None:
    """`open`, `xdg-open`: starts whatever handles a file or address."""
    if any(unknown(word) for word in call.args):
        call.doubt("program.hidden", "opens something that is not known")
    elif any("\ue003" in word for word in call.args):
        call.block("exfil.url", "puts credentials into an address")
    else:
        call.ask("program.opens", "starts another program for a file or address")


def clipboard(call: Call) -> None:
    """`pbcopy`, `xclip`: the clipboard."""
    if call.stdin and "\ue003" in call.stdin:
        call.ask("secrets.clipboard", "puts credentials into the clipboard")


def secrets_tool(call: Call) -> None:
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


def ssh_keys(call: Call) -> None:
    """`ssh-keygen`, `ssh-copy-id`, `ssh-add`: keys and access."""
    options = call.options("-f -t -b -C -N -P -i -p -o -I -s -V -n -z -D -Y -O -R -F -l_")
    if call.name == "ssh-copy-id":
        call.ask("access.grant", "lets this machine's key into another machine")
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


HANDLERS = {
    "kill": kill,
    "skill": pkill,
    "pkill": pkill,
    "killall": pkill,
    "killall5": pkill,
    "xkill": pkill,
    "slay": pkill,
    "fuser": fuser,
    **{name: power for name in listed("shutdown reboot poweroff halt init telinit pm-suspend")},
    **{
        name: systemctl
        for name in listed(
            "systemctl service launchctl rc-service initctl sv supervisorctl rc-update "
            "s6-svc loginctl brew-services"
        )
    },
    "crontab": crontab,
    **{name: at for name in listed("at batch atrm atq")},
    **{
        name: disk
        for name in listed(
            "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat "
            "mkfs.ntfs mkfs.exfat mkfs.f2fs mkfs.minix mke2fs mkntfs mkdosfs mkswap "
            "newfs newfs_apfs newfs_msdos fdisk sfdisk gdisk sgdisk parted cfdisk wipefs "
            "blkdiscard hdparm nvme tune2fs e2fsck fsck fsck.ext4 smartctl badblocks "
            "diskutil xfs_repair resize2fs swapoff swapon losetup dmsetup partprobe "
            "cryptsetup mdadm format debugfs dumpe2fs scrub nwipe sg_format partclone "
            "ntfsresize"
        )
    },
    **{
        name: volumes
        for name in listed(
            "zpool zfs btrfs lvremove vgremove pvremove lvcreate vgcreate pvcreate "
            "lvreduce vgreduce lvs vgs pvs lvdisplay vgdisplay pvdisplay lvextend bcachefs "
            "stratis"
        )
    },
    **{
        name: mount
        for name in listed("mount umount mount.nfs sshfs fusermount pivot_root swapoff_")
    },
    **{
        name: users
        for name in listed(
            "useradd userdel usermod adduser deluser groupadd groupdel groupmod addgroup "
            "delgroup passwd chpasswd chsh chfn vipw vigr visudo gpasswd chage newusers "
            "pwconv dscl sysadminctl net"
        )
    },
    **{
        name: firewall
        for name in listed(
            "iptables ip6tables nft ufw firewall-cmd ebtables arptables iptables-restore "
            "ipfw pfctl nmcli_"
        )
    },
    **{
        name: kernel
        for name in listed(
            "sysctl modprobe insmod rmmod kexec setenforce lsmod modinfo getenforce "
            "sestatus dmesg grub-install update-grub efibootmgr bootctl grub-mkconfig "
            "grub2-mkconfig dracut mkinitcpio update-initramfs bcdedit nvram csrutil "
            "flashrom fwupdmgr setsebool aa-status aa-disable aa-teardown auditctl "
            "spctl lilo"
        )
    },
    **{name: package_root for name in listed("update-alternatives dpkg-divert alternatives")},
    "journalctl": logs,
    "logrotate": script_words,
    "run-parts": script_words,
    **{
        name: asks("system.change", "changes a setting of the machine")
        for name in listed(
            "hostnamectl hostname_ timedatectl localectl hwclock swapon_ ifconfig route "
            "nmcli ethtool tc brctl ovs-vsctl iw rfkill ldconfig depmod chcon restorecon "
            "semanage renice ionice_ schedtool_ xrandr gsettings dconf defaults scutil "
            "networksetup systemsetup pmset tccutil wpa_cli bluetoothctl amixer pactl "
            "loadkeys setxkbmap stty_ chvt locale-gen dpkg-reconfigure debconf-set-selections "
            "netplan tuned-adm cpupower authselect pam-auth-update realm kinit ntpdate "
            "chronyc tmutil hdiutil sgpio usbreset ipcrm"
        )
        if not name.endswith("_")
    },
    "xdg-open": xdg_open,
    "open": xdg_open,
    "start": xdg_open,
    "gio": xdg_open,
    "wslview": xdg_open,
    **{
        name: clipboard
        for name in listed("pbcopy pbpaste xclip xsel wl-copy wl-paste clip clip.exe")
    },
    **{
        name: secrets_tool
        for name in listed(
            "security secret-tool pass gopass vault bw lpass keyring gpg gpg2 ansible-vault "
            "age keepassxc-cli credstash berglas kwallet-query git-credential git-credential-store "
            "docker-credential-desktop mimikatz"
        )
    },
    **{name: ssh_keys for name in listed("ssh-keygen ssh-copy-id ssh-add ssh-keyscan")},
    **{
        name: windows
        for name in listed(
            "icacls takeown attrib reg vssadmin wbadmin diskpart cipher schtasks wmic "
            "fsutil cacls subinacl rd del erase"
        )
    },
    **{name: stress for name in listed("stress stress-ng")},
    **{
        name: harmless
        for name in listed(
            "ps pgrep pidof top htop btop atop free uptime w who id groups users last "
            "lastlog uname arch_ hostname nproc lscpu lsusb lspci lshw_ lsmem vmstat "
            "iostat mpstat sar iotop pstree lsof ss netstat arp locale tty stty tput "
            "clear reset sleep usleep man info apropos whatis help tldr cheat getconf "
            "lsb_release sw_vers system_profiler neofetch fastfetch screenfetch cal "
            "nproc tload watch_ dircolors lsipc lsns lslocks lslogins ipcs numfmt getopt "
            "fortune cowsay true false test isatty uuidgen uuid pwgen_ sha256 xdpyinfo "
            "xwininfo glxinfo vainfo nvidia-smi rocm-smi sensors acpi upower inxi hwinfo "
            "dmidecode_ vm_stat sysdiagnose_ jobs time_ notify-send say beep printf_ "
            "banner asciinema_ script_ ttyrec_ zenity_ dialog whiptail fzf gum sk peco "
            "rofi_ entr_ pv_"
        )
        if not name.endswith("_")
    },
}
