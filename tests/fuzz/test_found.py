"""What rounds have found, each once more by itself and as small as it gets."""

import pytest

from tests.fuzz.plan import Entry, Plan, Step
from tests.fuzz.playing import wrong_with

PLAIN = Entry(b"plain.txt", "file", b"plain\n")
FOLDER = (Entry(b"d", "folder", mode=0o755), Entry(b"d/inner", "file", b"inner\n"))
GUARDED = (Entry(b"sub/.mcp.json", "file", b"{}\n"), Entry(b"sub/.vscode/x.json", "file", b"{}\n"))
NESTED = (
    Entry(b"nested/.git/config", "file", b"[core]\n"),
    Entry(b"nested/.git/HEAD", "file", b"ref: refs/heads/main\n"),
    Entry(b"nested/.git/notes", "file", b"n\n"),
)


def shell(command):
    return Step("foreground", command)


def beside(command):
    return Step("background", command)


FOUND = {
    "an undo looked through a link that had taken the place of a folder": Plan(
        0, "view", "nobody", (PLAIN, *FOLDER), (shell("mv d e && ln -s e d"),)
    ),
    "a refused deletion stood, because the folder around it was gone too": Plan(
        0, "direct", "deny", (PLAIN, *GUARDED, *NESTED), (shell("rm -rf ./*"),)
    ),
    "in the background, one refused file kept all others of its folder": Plan(
        0, "view", "nobody", (PLAIN, *FOLDER, *GUARDED, *NESTED),
        (beside("echo x >> plain.txt; rm -rf ./*"), shell("chmod 700 d")),
    ),
    "a lost pipe was not named where something else was refused": Plan(
        0, "copy", "nobody", (PLAIN, Entry(b"d/pipe", "pipe"), *GUARDED),
        (beside("rm -rf d; echo evil > sub/.mcp.json"),),
    ),
    "a lost pipe was named by bytes that are no text": Plan(
        0, "view", "nobody", (PLAIN, Entry(b"d/\xff\xfe", "pipe")), (shell("rm -rf d"),)
    ),
    "a pipe made without a view could not be undone": Plan(
        0, "direct", "allow", (PLAIN,), (shell("mkdir new && mkfifo new/pipe pipe"),)
    ),
    "a socket that was moved without a view was not named": Plan(
        0, "direct", "allow", (PLAIN, Entry(b"listen", "socket")), (shell("mv listen moved"),)
    ),
    "a copy of a socket stood in the way of undo": Plan(
        0, "direct", "allow", (PLAIN, Entry(b"listen", "socket")), (shell("cp -a . copied"),)
    ),
    "a file in a new folder could not be written": Plan(
        0, "view", "nobody", (PLAIN,), (Step("edit", "new/deep/made.txt"),)
    ),
    "a file with two names could not be written": Plan(
        0, "view", "nobody", (PLAIN, Entry(b"twin", "twin")), (Step("edit", "twin"),)
    ),
    "a file behind a link with a name that is no text was a defect": Plan(
        0, "view", "allow", (PLAIN, Entry(b"a", "link", b"lib\xe9")), (Step("edit", "a"),)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_it_is_not_found_again(name):
    assert wrong_with(FOUND[name]) == ()
