"""Property lists, and machines that are emulated."""

import re

from steersman.governance.guard.call import ProgramCall
from steersman.governance.guard.marks import FILE
from steersman.governance.guard.paths import OWN
from steersman.governance.guard.programs.flags import check_flags


def plist(call: ProgramCall) -> None:
    """`plutil -p`, `PlistBuddy -c Print`: looking is free, changes are judged as writes."""
    options = call.options("-c -o -e -convert -extract -replace -insert -remove")
    if call.name == "PlistBuddy":
        wanted = options.all("-c")
        looks = bool(wanted) and all(re.match(r"(?i)\s*(?:print|help)", text) for text in wanted)
    else:
        verbs = {"-p", "-lint", "-help", "-type"}
        looks = bool(verbs & {*call.args[:1]}) or (
            call.args[:1] in (["-extract"], ["-convert"]) and options.get("-o") == "-"
        )
    for word in [*options.all("-o"), *options.rest[-1:]]:
        if looks:
            call.read(word)
        elif word != "-":
            call.write(word, FILE)


_DEVICE = re.compile(r"(?:.*[=:,])?(/dev/(?!null|zero|kvm|urandom|random|stdin|stdout|pts|tty)\w+)")


def emulator(call: ProgramCall) -> None:
    """`qemu-system-arm`: a machine of files; a real disk, or files elsewhere, are asked about."""
    check_flags(call)
    for word in call.args:
        found = _DEVICE.match(word)
        if found:
            call.doubt("disk.write", f"gives an emulated machine the device {found[1]}")
        image = re.search(r"(?:\A|,)file=([^,]+)", word)
        if image and call.zone(image[1]) not in OWN:
            call.write(image[1], FILE)
    values = call.options("-hda -hdb -cdrom -drive", single=True)
    for name in values.all("-hda", "-hdb"):
        if call.zone(name) not in OWN:
            call.write(name, FILE)
