"""Disks, volumes and mounts."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.links import link_all
from steersman.governance.guard.marks import unknown
from steersman.governance.guard.paths import Zone


def disk(call: ProgramCall) -> None:
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
        return
    call.breaker("disk.format", "formats, repartitions or wipes a disk")


def volumes(call: ProgramCall) -> None:
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


def mount(call: ProgramCall) -> None:
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
            call.breaker("system.mount", "unmounts file systems of the running system")
            return
    if call.name == "mount" and len(options.rest) == 2:
        link_all(call, options.rest[:1], options.rest[1], symbolic=False)
    if (
        call.name == "mount"
        and options.has("--bind", "-B")
        and len(options.rest) == 2
        and call.zone(options.rest[1]) in (Zone.SYSTEM, Zone.TOP)
    ):
        call.block("system.mount", "puts something else over a system path")
        return
    call.ask("system.mount", "mounts or unmounts a file system")
