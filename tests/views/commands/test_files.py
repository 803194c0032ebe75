"""Commands that people write: where they are found, what they are called, when they are used."""

import os

import pytest

from steersman.views.commands.files import MOST, MOST_TEXT, read_commands
from tests.views.commands.recording import at_desk


def write(path, text="Do it.\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def found(workspace, environ, *, trusted=True):
    written = read_commands(str(workspace), environ, trusted=trusted)
    return {one.name: one for one in written.commands}, written.problems


def test_every_place_is_looked_at_and_subfolders_give_names(workspace, environ, tmp_path):
    write(workspace / ".steersman/commands/ship.md")
    write(workspace / ".claude/commands/db/migrate.md")
    write(tmp_path / "home/.config/steersman/commands/mine.md")
    write(tmp_path / "home/.claude/commands/old.md")
    write(workspace / ".steersman/commands/notes.txt")
    write(workspace / ".steersman/commands/.hidden.md")

    commands, problems = found(workspace, environ)

    assert (sorted(commands), problems) == (["db:migrate", "mine", "old", "ship"], ())


def test_a_folder_that_is_not_trusted_brings_none(workspace, environ, tmp_path):
    write(workspace / ".steersman/commands/ship.md")
    write(tmp_path / "home/.config/steersman/commands/mine.md")

    commands, _ = found(workspace, environ, trusted=False)

    assert sorted(commands) == ["mine"]


def test_the_nearest_of_a_name_counts(workspace, environ, tmp_path):
    near = write(workspace / ".steersman/commands/ship.md", "Near.")
    far = write(tmp_path / "home/.config/steersman/commands/ship.md", "Far.")

    commands, problems = found(workspace, environ)

    assert commands["ship"].source == str(near)
    assert problems == (f"{far} is hidden by {near}.",)


@pytest.mark.parametrize(
    ("text", "about", "usage"),
    [
        ("Fix the issue.\nMore.", "Fix the issue.", ""),
        ("# Fix\n\nMore.", "Fix", ""),
        ("---\ndescription: Mend an issue\n---\nFix $1", "Mend an issue", ""),
        ("---\nargument-hint: '[issue]'\n---\nFix $1", "Fix $1", "[issue]"),
        ("---\nargument-hint: [issue] [who]\n---\nFix $1", "Fix $1", "[issue] [who]"),
        ("---\nallowed-tools: Bash(git:*)\nmodel: x\n---\nFix", "Fix", ""),
    ],
)
def test_the_front_of_a_file_describes_it(workspace, environ, text, about, usage):
    write(workspace / ".claude/commands/fix.md", text)

    commands, _ = found(workspace, environ)

    assert (commands["fix"].about, commands["fix"].usage) == (about, usage)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("empty.md", "---\ndescription: x\n---\n\n", "there is nothing in it"),
        ("two words.md", "x", "names are letters, digits, - and _"),
        ("large.md", "x" * (MOST_TEXT + 1), "it has more than"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(workspace, environ, name, text, why):
    write(workspace / ".claude/commands" / name, text)

    commands, (problem,) = found(workspace, environ)

    assert not commands
    assert why in problem


def test_a_link_out_of_the_folder_is_not_followed(workspace, environ, tmp_path):
    secret = write(tmp_path / "secret.md", "A secret.")
    place = workspace / ".claude/commands"
    place.mkdir(parents=True)
    (place / "leak.md").symlink_to(secret)
    (place / "loop").symlink_to(place)

    commands, (problem,) = found(workspace, environ)

    assert not commands
    assert problem.endswith("is not used: it leads out of the folder.")


def test_bytes_and_pipes_do_no_harm(workspace, environ):
    place = workspace / ".claude/commands"
    place.mkdir(parents=True)
    (place / "bytes.md").write_bytes(b"\xff\xfe words")
    os.mkfifo(place / "pipe.md")

    commands, (problem,) = found(workspace, environ)

    assert list(commands) == ["bytes"]
    assert problem.startswith(f"{place}/pipe.md cannot be read")


def test_there_are_only_so_many(workspace, environ):
    for number in range(MOST + 1):
        write(workspace / f".claude/commands/c{number:04}.md")

    commands, problems = found(workspace, environ)

    assert (len(commands), len(problems)) == (MOST, 1)


def test_a_written_command_says_its_text(workspace, environ, script, tmp_path):
    write(
        tmp_path / "home/.config/steersman/commands/db/fix.md",
        "---\nallowed-tools: Bash\n---\nFix $1 in @calc.py. State: !`git status`",
    )
    model = script({"text": "Fixed."})

    async def scenario(desk):
        happened = await desk.type("/db:fix add")
        return happened, desk.messages("user")[0].body.text, desk.messages("assistant")

    happened, said, answers = at_desk(environ, workspace, scenario, model=model)

    assert said.startswith("Fix add in @calc.py. State: !`git status`\n\n(Where")
    assert len(answers) == 1
    assert happened[:2] == [
        ("tell", "`allowed-tools` is not used: what is allowed is decided by you, not by a file."),
        ("tell", "Not run, only shown to the model: git status."),
    ]


def test_a_written_command_may_name_a_model_for_its_turn(workspace, environ, script, tmp_path):
    other = script({"text": "From the other."}, name="other.json")
    write(
        tmp_path / "home/.config/steersman/commands/deep.md",
        f"---\nmodel: {other}\n---\nThink.",
    )
    model = script({"text": "From the first."})

    async def scenario(desk):
        await desk.type("/deep")
        said = [message.body.text for message in desk.messages("assistant")]
        return said, desk.seat.settings.model

    assert at_desk(environ, workspace, scenario, model=model) == (["From the other."], model)


def test_steersmans_own_commands_win(workspace, environ, tmp_path):
    path = write(tmp_path / "home/.config/steersman/commands/undo.md", "Something else.")

    async def scenario(desk):
        ((_, (_, help_text)),) = await desk.type("/help")
        await desk.type("/undo")
        return help_text, desk.stage.told

    help_text, told = at_desk(environ, workspace, scenario)

    assert told == ["There is no thread yet.\nSend a message first."]
    assert "undo.md is not used: /undo is Steersman's own." in help_text.replace("\\", "")
    assert str(path).split("/")[-1] in help_text.replace("\\", "")


def test_a_folder_is_trusted_by_the_persons_word(workspace, environ):
    write(workspace / ".steersman/commands/ship.md", "Ship it.")

    async def scenario(desk):
        await desk.type("/ship")
        permissions = desk.host.permissions
        folder = str(workspace)
        permissions.trust(folder, permissions.folder(folder), trusted=True)
        await desk.type("/help ship")
        return desk.stage.happened

    refused, shown = at_desk(environ, workspace, scenario)

    assert refused[1].startswith("There is no command “/ship”.")
    assert shown[1][0] == "/ship"
