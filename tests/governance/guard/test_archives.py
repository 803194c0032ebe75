"""Archives: files land in the current folder, in a named one, or where the archive says."""

import pytest

from tests.governance.guard.kit import said, verdict


@pytest.mark.parametrize(
    "command",
    [
        "cpio -idu --absolute-filenames < overlay.cpio",
        "cpio --extract --absolute-filenames -F overlay.cpio",
        "tar xPf a.tar",
        "bsdtar -xPf a.tar",
        "unzip -: a.zip",
        "7z x -spf a.7z",
        "7zz x -spf2 a.7z",
        "unrar x -ep3 a.rar",
        "pax -r -f a.pax -s ',^,/etc/,'",
    ],
)
def test_an_archive_that_chooses_its_own_places_is_asked_about(command):
    assert verdict(command) != "allow", said(command)


@pytest.mark.parametrize("folder", ["/", "/etc", "~", "~/.config", "..", "../other"])
@pytest.mark.parametrize(
    "command",
    [
        "cpio -id < a.cpio",
        "tar xf a.tar",
        "bsdtar -xf a.tar",
        "unzip -q a.zip",
        "unar a.rar",
        "7z x a.7z",
        "unrar x a.rar",
        "ar x lib.a",
        "jar xf a.jar",
        "pax -r -f a.pax",
    ],
)
def test_unpacking_outside_the_workspace_is_not_let_through(command, folder):
    assert verdict(f"cd {folder} && {command}") != "allow", said(f"cd {folder} && {command}")
    assert verdict(f"mkdir -p out && cd out && {command}") == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "tar xf a.tar -C {}",
        "unzip a.zip -d {}",
        "7z x a.7z -o{}",
        "unrar x a.rar {}/",
        "unar -o {} a.rar",
        "jar --extract --file a.jar --dir {}",
        "jar xf a.jar -C {}",
        "dpkg-deb -x a.deb {}",
        "dpkg-deb --raw-extract a.deb {}",
        "cpio -id -D {} < a.cpio",
        "ar x --output={} lib.a",
    ],
)
def test_a_folder_to_unpack_to_is_judged_as_a_written_path(command):
    assert verdict(command.format("out")) == "allow", said(command.format("out"))
    for folder in ("/etc", "$HOME", "/usr/lib"):
        assert verdict(command.format(folder)) != "allow", said(command.format(folder))


@pytest.mark.parametrize(
    "command",
    [
        "cd .. && tar tf a.tar",
        "cd / && unzip -l ~/project/a.zip",
        "ar t lib.a && ar rcs lib.a a.o",
        "jar tf a.jar && jar cf out.jar -C classes .",
        "dpkg-deb -I a.deb && dpkg-deb --contents a.deb",
        "7z l a.7z",
        "unrar lb a.rar",
        "cpio -t < a.cpio",
        "tmp=$(mktemp -d) && cd $tmp && tar xf ~/project/a.tar",
    ],
)
def test_looking_into_an_archive_and_packing_one_is_let_through(command):
    assert verdict(command) == "allow", said(command)
