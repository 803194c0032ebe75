"""What a turn destroys: many small losses are one, and nothing ordinary is taken for one."""

import shutil

import pytest

from steersman.records.action import ChangeMany
from tests.cli.kit import DONE, shell
from tests.operations.workshop import Workshop
from tests.world import call

NEVER = ("--approvals", "never")
TEXT = "Every word of this note was written by hand and is nowhere else: "


@pytest.fixture
def repository(workspace, git):
    git("init", "-q", "-b", "main")
    git("config", "user.name", "n")
    git("config", "user.email", "e@example.org")
    git("add", ".")
    git("commit", "-qm", "first")
    return workspace


@pytest.fixture
def notes(repository):
    """Sixty files that only this folder has."""
    for number in range(60):
        (repository / f"note{number}.txt").write_text(f"{TEXT}{number}\n")
    return repository


def worked(steer, script, *calls, flags=NEVER):
    """The messages of a turn with these calls, one after the other."""
    model = script(*({"tool_calls": [one]} for one in calls), DONE)
    return steer.messages("run", "go", "--model", model, *flags)


def told(messages):
    """What each call came to: nothing, or why it was refused."""
    results = [message["body"] for message in messages if message["kind"] == "tool_result"]
    return [body.get("message", "") for body in results]


def some(first, count):
    return " ".join(f"note{number}.txt" for number in range(first, first + count))


def test_the_first_file_that_only_this_folder_has_is_asked_about_by_name(steer, script, notes):
    patch = "*** Begin Patch\n*** Delete File: note1.txt\n*** End Patch\n"
    over = call("workspace_write_file", path="note2.txt", content="Nothing of it is left.\n")
    calls = (shell("rm note0.txt"), call("workspace_apply_patch", patch=patch), over,
             shell("rm note2.txt"))  # fmt: skip
    removed, deleted, written, later = told(worked(steer, script, *calls))
    assert "deleting 1 untracked file (note0.txt) needs approval" in removed
    assert "deleting 1 untracked file (note1.txt) needs approval" in deleted
    assert written == ""  # an edit, which undo brings back
    assert "note2.txt" in later
    assert len(list(notes.glob("note*.txt"))) == 60
    asked = worked(steer, script, calls[1], flags=("--approvals", "on-request", "--yes"))
    requests = [m["body"]["actions"] for m in asked if m["kind"] == "confirm_request"]
    assert [actions[0]["action"] for actions in requests] == ["delete"]  # once, and not again


def test_a_file_that_git_tracks_is_not_called_untracked(steer, script, repository, git):
    (repository / "d").mkdir()
    for number in (1, 2, 3):
        (repository / f"d/{number}.txt").write_text(f"{TEXT}{number}\n")
    git("add", ".")
    git("commit", "-qm", "three files")
    for number in (1, 2):
        (repository / f"d/{number}.txt").write_text(f"{TEXT}{number}, and a line more\n")
    (repository / "d/new.txt").write_text(f"{TEXT}new\n")
    edited, both = told(worked(steer, script, shell("rm d/[123].txt"), shell("rm -rf d")))
    assert "deleting 2 files with uncommitted changes (d/1.txt, d/2.txt) needs" in edited
    assert "deleting 1 untracked file and 2 files with uncommitted changes (d/" in both


def test_what_is_ignored_or_made_by_the_thread_is_not_missed(steer, script, notes, git):
    (notes / ".gitignore").write_text("dist/\n*.log\n*.sqlite\n/mine.txt\n")
    git("add", ".gitignore")
    git("commit", "-qm", "rules")
    (notes / "dist").mkdir()
    for number in range(60):
        (notes / "dist" / f"{number}.js").write_text(f"{TEXT}{number}")
    for name in ("debug.log", "app.sqlite", "mine.txt"):
        (notes / name).write_text(TEXT)
    begin = ("rm -r dist debug.log; echo made > made.txt", "mkdir old; mv note9.txt old",
             "echo worked >> calc.py")  # fmt: skip
    first = worked(steer, script, *map(shell, begin))
    assert not any(told(first))
    steps = ("rm made.txt", "git checkout -q calc.py", "rm app.sqlite", "rm mine.txt",
             "rm -r old", "echo note0.txt >> .gitignore", "rm note0.txt")  # fmt: skip
    model = script(*({"tool_calls": [shell(step)]} for step in steps), DONE)
    results = told(steer.messages("resume", first[0]["thread"], "go on", "--model", model, *NEVER))
    assert [bool(result) for result in results] == [False, False, True, True, True, False, True]
    assert "deleting 1 untracked file (app.sqlite) needs approval" in results[2]


def test_a_file_is_missed_however_it_was_moved_and_edited_before(steer, script, notes, git):
    (notes / ".gitignore").write_text("dist/\n")
    git("add", ".gitignore")
    git("commit", "-qm", "rules")
    first = worked(
        steer, script, shell("mv note0.txt x.txt"), shell("echo more >> x.txt"), shell("rm x.txt"),
        shell("mkdir dist; mv note1.txt dist; cp note2.txt dist"), shell("echo >> dist/note1.txt"),
    )  # fmt: skip
    *others, deleted, moved, edited = told(first)
    assert not any([*others, moved, edited])
    assert "deleting 1 untracked file (note0.txt) needs approval" in deleted
    model = script(*({"tool_calls": [shell("rm -r dist")]},), DONE)
    (last,) = told(steer.messages("resume", first[0]["thread"], "on", "--model", model, *NEVER))
    assert "deleting 1 untracked file (dist/note1.txt) needs approval" in last


@pytest.mark.parametrize(
    "destroy",
    [
        "for f in note*.txt; do : > $f; done",
        "truncate -s 3 note*.txt",
        "for f in note*.txt; do head -c 90 /dev/zero | tr '\\0' x > $f; done",
        "for f in note*.txt; do openssl rand 80 > $f; done",
        "for f in note*.txt; do ln -sf /dev/null $f; done",
    ],
)
def test_emptying_and_overwriting_is_deleting(steer, script, notes, destroy):
    (notes / "x.sh").write_text(destroy)
    (refused,) = told(worked(steer, script, shell("bash x.sh")))
    assert "60 untracked files" in refused
    assert (notes / "note7.txt").read_text() == f"{TEXT}7\n"


def test_moving_first_does_not_hide_a_deletion(steer, script, notes):
    moved, deleted = told(
        worked(steer, script, shell("mkdir old && mv note*.txt old"), shell("rm -r old"))
    )
    assert moved == ""
    assert "60 of them not in git" in deleted or "60 untracked files" in deleted
    assert len(list((notes / "old").iterdir())) == 60


def hidden(notes, *scripts):
    """Calls of scripts in the repository, so that the guard knows nothing of what they do."""
    for number, text in enumerate(scripts):
        (notes / f"step{number}.sh").write_text(text)
    return [shell(f"sh step{number}.sh") for number in range(len(scripts))]


@pytest.mark.parametrize(
    "place", ["node_modules/a", "__pycache__", ".tox", "venv/x", ".hypothesis", ".git/keep"]
)
def test_what_is_moved_to_where_tools_delete_is_lost_then(steer, script, notes, place):
    steps = hidden(notes, f"mkdir -p {place}; cp note*.txt {place}; rm note*.txt",
                   f"rm -rf {place}")  # fmt: skip
    moved, _ = told(worked(steer, script, *steps))
    assert "60 untracked files" in moved
    assert len(list(notes.glob("note*.txt"))) == 60


def test_cutting_files_down_step_by_step_is_emptying_them(steer, script, notes):
    cut = "for f in note*.txt; do s=$(stat -c %s $f); truncate -s $((s*3/10)) $f; done"
    for note in notes.glob("note*.txt"):
        note.write_text(note.read_text() * 5)
    first, second, *_ = told(worked(steer, script, *hidden(notes, *[cut] * 4)))
    assert first == ""
    assert "60 untracked files" in second


PRUNE = "git reflog expire --expire=now --all; git gc -q --prune=now; git prune --expire=now"
COMMITTED = (
    "git checkout -qb t && git add note* && git commit -qm t && git checkout -q main; "
    "git branch -D t"
)

FAKE = (
    "cd .git/objects/pack; for f in *.idx; do cp $f pack-$(printf %040d 7).idx; done; "
    "echo x > pack-$(printf %040d 7).pack"
)


REAL_GONE = "find .git/objects/pack -name 'pack-*' ! -name 'pack-00000000*' -delete"


@pytest.mark.parametrize(
    "steps",
    [
        ("git hash-object -w note*.txt; rm note*.txt", "git prune --expire=now"),
        ("git add note*.txt && rm note*.txt", "git reset -q", PRUNE),
        (COMMITTED, PRUNE),
        ("git hash-object -w note*.txt | git pack-objects -q .git/objects/pack/pack; "
         "git prune-packed", "rm note*.txt", FAKE, REAL_GONE),
    ],
)  # fmt: skip
def test_what_only_objects_of_git_kept_is_lost_with_them(steer, script, notes, git, steps):
    *before, last = told(worked(steer, script, *hidden(notes, *steps)))
    assert not any(before)
    assert "60 untracked files" in last
    blobs = [line for line in git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
             if " blob " in line]  # fmt: skip
    assert len(blobs) >= 60


def test_nor_in_the_next_turn(steer, script, notes, git):
    keep, prune = hidden(notes, "git hash-object -w note*.txt; rm note*.txt", PRUNE)
    model = script({"tool_calls": [keep]}, DONE, {"tool_calls": [prune]}, DONE)
    first = steer.messages("run", "go", "--model", model, *NEVER)
    assert told(first) == [""]
    second = steer.messages("resume", first[0]["thread"], "go on", *NEVER)
    assert "60 untracked files" in told(second)[-1]


def background(folder, *commands):
    """What became of commands in the background, when a person refuses every loss."""

    def answer(message):
        return "deny" if isinstance(message.body.actions[0], ChangeMany) else "allow"

    shop = Workshop(folder, answer=answer, approvals="on-failure")
    slowly = {"background": True, "wait_timeout": 60}
    made = [("workspace_run_command", {"command": command, **slowly}) for command in commands]
    return [result.status for result in shop.do(*made)]


def test_in_the_background_it_does_not_happen(notes):
    assert background(notes, f"rm {some(0, 30)}", "echo more >> note30.txt") == ["denied", "ok"]
    assert len(list(notes.glob("note*.txt"))) == 60


def test_what_a_person_agreed_to_is_not_counted_again(steer, script, notes):
    steps = [shell(f"rm {some(at, 20)}") for at in (0, 20)]
    messages = worked(steer, script, *steps, flags=("--approvals", "on-failure", "--yes"))
    asked = [m["body"] for m in messages if m["kind"] == "confirm_request"]
    assert [request["actions"][0]["turn_lost"] for request in asked] == [20, 20]
    assert not any(told(messages))


# Git's own history.


@pytest.fixture
def work(repository, git):
    """A stash, and a commit that only the reflog leads to; the answer names both."""
    (repository / "calc.py").write_text("amended = True\n")
    git("commit", "-qam", "to be amended")
    amended = git("rev-parse", "HEAD").strip()
    git("commit", "-q", "--amend", "-m", "amended")
    (repository / "calc.py").write_text("hours = 'of work'\n")
    git("stash")
    return [git("rev-parse", "stash@{0}").strip(), amended]


def has(git, names):
    return all(git("cat-file", "-t", name).strip() == "commit" for name in names)


FORGET = ("git stash clear", "git reflog expire --expire=now --all", "git gc -q --prune=now")


def test_history_is_not_destroyed_in_three_commands(steer, script, work, git):
    stash, reflog, pruned = told(worked(steer, script, *map(shell, FORGET)))
    assert "deleting stash, the only way to 2 commits" in stash  # a stash is two
    assert reflog == ""
    assert "deleting 1 commit from git's history permanently" in pruned
    assert has(git, work)


@pytest.fixture
def branches(repository, git):
    """A branch that is nowhere else, one that was merged, and two stashes."""
    git("checkout", "-qb", "feature")
    for number in range(3):
        (repository / "calc.py").write_text(f"work = {number}\n")
        git("commit", "-qam", f"work {number}")
    git("checkout", "-q", "main")
    git("branch", "merged")
    for number in range(2):
        (repository / "calc.py").write_text(f"stashed = {number}\n")
        git("stash")
    return repository


@pytest.mark.parametrize("packed", [False, True])
def test_a_branch_or_stash_that_nothing_else_leads_to_is_asked_about(
    steer, script, branches, git, packed
):
    if packed:
        git("pack-refs", "--all")
    lines = ("git branch -D feature", "git stash drop stash@{1}", "git stash clear",
             "git update-ref -d refs/heads/feature")  # fmt: skip
    branch, dropped, cleared, plumbing = told(worked(steer, script, *map(shell, lines)))
    assert "deleting branch feature, the only way to 3 commits, needs approval" in branch
    # Two stashes of one second share the commit of their index.
    assert "deleting stash, the only way to" in dropped
    assert "deleting stash, the only way to" in cleared
    assert "branch feature" in plumbing
    assert git("branch", "--list", "feature")
    assert len(git("stash", "list").splitlines()) == 2


def test_a_stash_that_is_popped_is_in_the_folder_until_that_is_thrown_away(
    steer, script, repository, git
):
    """Popped over other work, and with a new file; what was staged is there, too."""
    work = repository / "calc.py"
    work.write_text("".join(f"line_{number} = {number}\n" for number in range(12)))
    git("commit", "-qam", "lines")
    work.write_text(work.read_text().replace("= 2\n", "= 'hours of work'\n"))
    git("add", "calc.py")
    (repository / "new.txt").write_text(TEXT)
    git("stash", "-u")
    both = "sed -i s/11/eleven/ calc.py; git commit -qam other; git stash pop"
    steps = (f"{both} && git checkout -q . && rm new.txt", both, "git checkout -q calc.py",
             "rm new.txt", "echo more >> calc.py")  # fmt: skip
    lost, popped, thrown, deleted, edited = told(worked(steer, script, *map(shell, steps)))
    assert popped == edited == ""
    for told_of in (lost, thrown, deleted):
        assert "deleting stash, the only way to 3 commits" in told_of
    assert "hours of work" in (text := work.read_text())
    assert "eleven" in text
    assert (repository / "new.txt").read_text() == TEXT
    assert git("stash", "list") == ""


def test_nor_is_it_thrown_away_in_a_later_turn_unless_it_was_committed(
    steer, script, repository, git
):
    for name in ("calc.py", "kept.py"):
        (repository / name).write_text("".join(f"line_{n} = {n}\n" for n in range(12)))
    git("add", ".")
    git("commit", "-qm", "lines")
    for name in ("kept.py", "calc.py"):
        work = repository / name
        work.write_text(work.read_text().replace("= 2\n", "= 'hours of work'\n"))
        git("stash")
    pop = "git stash pop -q && git stash list"
    begun = worked(steer, script, shell(pop), shell(f"git add calc.py; {pop}"),
                   shell("git reset -q; git commit -qm kept kept.py"))  # fmt: skip
    assert not any(told(begun))
    lines = ("sed -i 3d kept.py", "git checkout -q calc.py", "sed -i 3d calc.py")
    model = script(*({"tool_calls": [shell(line)]} for line in lines), DONE)
    said = steer.messages("resume", begun[0]["thread"], "on", "--model", model, *NEVER)
    safe, thrown, deleted = told(said)
    assert safe == ""
    assert "deleting stash, the only way to" in thrown
    assert "deleting stash, the only way to" in deleted
    assert "hours of work" in (repository / "calc.py").read_text()


def test_a_branch_that_is_merged_renamed_packed_or_the_threads_own_is_not_asked_about(
    steer, script, branches
):
    lines = ("git branch -d merged", "git branch -m feature feature2", "git pack-refs --all",
             "git checkout -qb own && echo 'o = 1' > calc.py && git commit -qam own",
             "git checkout -q main && git branch -D own",
             "git branch copy feature2 && git branch -D feature2")  # fmt: skip
    *harmless, last = told(worked(steer, script, *map(shell, [*lines, "git branch -D copy"])))
    assert not any(harmless)
    assert "deleting branch copy, the only way to 3 commits" in last


@pytest.mark.parametrize(
    "lines",
    [
        ("git branch copy feature", "git branch -D copy", "git branch -D feature"),
        ("git checkout -qb work feature", "git checkout -q main", "git branch -D work",
         "git branch -D feature"),
        ("git branch -f feature main", "git branch -D feature"),
        ("git update-ref refs/wip/x feature", "git branch -D feature",
         "git update-ref -d refs/wip/x"),
        ("git branch other", "git branch -M other feature"),
        ("git pack-refs --all", "git branch other", "git branch -M other feature"),
        ("git branch -f feature main", "rm .git/logs/refs/heads/feature"),
        ("git branch -m feature x", "git branch -f x main"),
    ],
)  # fmt: skip
def test_a_detour_does_not_make_a_branch_the_threads_own(steer, script, branches, lines):
    *harmless, last = told(worked(steer, script, *map(shell, lines)))
    assert not any(harmless)
    assert "the only way to 3 commits, needs approval" in last
    assert "branch other" not in last


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (["git update-ref refs/remotes/x/f feature", "git branch -D feature"],
         "git update-ref -d refs/remotes/x/f"),
        (["git update-ref refs/bisect/bad feature", "git branch -D feature"],
         "git update-ref -d refs/bisect/bad"),
        (["git checkout -q --detach feature", "git branch -D feature"], "git checkout -q main"),
        (["git checkout -qb own && git merge -q feature", "git branch -D feature",
          "git checkout -q main"], "git branch -D own"),
        (["git -c tag.gpgSign=false tag -am x kept feature", "git branch -D feature"],
         "git tag -d kept"),
    ],
)  # fmt: skip
def test_nor_does_one_over_two_turns(steer, script, branches, first, then):
    begun = worked(steer, script, *map(shell, first))
    assert not any(told(begun))
    model = script({"tool_calls": [shell(then)]}, {"tool_calls": [shell("git tag t")]}, DONE)
    words = ("resume", begun[0]["thread"], "on", "--model", model, *NEVER)
    last, other = told(steer.messages(*words))
    assert "the only way to 3 commits, needs approval" in last
    assert other == ""


def test_of_many_branches_the_last_is_as_safe_as_the_first(steer, script, repository, git):
    """Two commits of the thread hold all of them; the second holds only the last few."""
    for name in (names := [f"b{number:02}" for number in range(60)]):
        made = git("commit-tree", "-m", name, "-p", "main", "main^{tree}").strip()
        git("branch", name, made)
    hold = "git branch own{} $(git commit-tree -m x {} 'main^{{tree}}')"
    first, last = (" ".join(f"-p {name}" for name in some) for some in (names[:55], names[55:]))
    lines = (hold.format(1, first), hold.format(2, last), f"git branch -D {' '.join(names)}",
             "git branch -D own2")  # fmt: skip
    *harmless, lost = told(worked(steer, script, *map(shell, lines)))
    assert not any(harmless)
    assert "deleting branch b55, branch b56" in lost
    assert "the only way to 5 commits" in lost


@pytest.mark.parametrize("packed", [False, True])
def test_a_branch_that_stands_for_another_or_a_commit_that_is_replaced_is_lost(
    steer, script, branches, git, packed
):
    """The thread may replace what it made itself."""
    if packed:
        git("pack-refs", "--all")
    own = "git commit -q --allow-empty -m own; git replace HEAD HEAD~1"
    line = 'echo "$(git rev-parse main) refs/replace/$(git rev-parse feature)"'
    lines = ("git symbolic-ref refs/heads/feature refs/heads/main", "git replace feature main",
             f"{line} >> .git/packed-refs", own)  # fmt: skip
    symbolic, replaced, by_hand, fine = told(worked(steer, script, *map(shell, lines)))
    assert "deleting branch feature, the only way to 3 commits, needs approval" in symbolic
    assert "replacing 1 object of git's history with another needs approval" in replaced
    assert "replacing 1 object of git's history with another needs approval" in by_hand
    assert fine == ""
    assert git("log", "-1", "--format=%s", "feature") == "work 2\n"


@pytest.mark.parametrize(
    ("keep", "drop"),
    [
        ("git stash -q", "git stash drop -q"),
        ("git checkout -qb wip && git commit -qam wip && git checkout -q main",
         "git branch -D wip"),
    ],
)  # fmt: skip
def test_work_that_the_thread_put_away_is_not_dropped(steer, script, repository, git, keep, drop):
    begun(repository, git)
    *harmless, last = told(worked(steer, script, *map(shell, (keep, "ls", drop))))
    assert not any(harmless)
    assert "the only way to" in last
    own = ("git stash pop -q || git merge -q wip", "echo own > own.txt && git add own.txt", keep)
    assert not any(told(worked(steer, script, *map(shell, own))))


def test_nor_in_one_or_over_two_turns(steer, script, work, git):
    (result,) = told(worked(steer, script, shell(" && ".join(FORGET))))
    assert "from git's history permanently" in result
    worked(steer, script, *map(shell, FORGET[:2]))
    (result,) = told(worked(steer, script, shell(FORGET[2])))
    assert "from git's history permanently" in result
    assert has(git, work)


@pytest.mark.parametrize(
    "destroy",
    [
        "rm -rf .git/objects/pack",
        "rm .git/objects/pack/*.idx",
        "chmod +w .git/objects/pack/*; for f in .git/objects/pack/*; do : > $f; done",
        "cd .git/objects/pack; for f in *.pack; do echo x > pack-$(printf %040d 7).pack; done; "
        "for f in *.idx; do cp $f pack-$(printf %040d 7).idx; rm -f ${f%idx}*; done",
    ],
)
def test_the_one_pack_of_a_fresh_clone_is_its_whole_history(
    steer, script, repository, git, destroy
):
    git("gc", "-q")
    (repository / "x.sh").write_text(destroy)
    (result,) = told(worked(steer, script, shell("bash x.sh")))
    assert "from git's history permanently" in result
    assert has(git, ["HEAD"])


def test_a_pack_that_the_turn_made_is_history_too(steer, script, repository, git):
    steps = ("git repack -adq; git prune-packed", FAKE, REAL_GONE)
    *before, last = told(worked(steer, script, *hidden(repository, *steps)))
    assert not any(before)
    assert "from git's history permanently" in last
    assert has(git, ["HEAD"])


def test_in_the_background_history_stays(repository, work, git):
    assert background(repository, *FORGET)[2] == "denied"
    assert has(git, work)


@pytest.mark.parametrize(
    "command",
    [
        "git gc -q",
        "git gc -q --prune=now",
        "git repack -adq",
        "echo 'x = 1' > calc.py && git commit -qa --amend -m again && git gc -q",
        "git stash && git stash pop || true",
        "echo 'x = 3' > calc.py; git add .; rm calc.py; git checkout -q HEAD calc.py; "
        "git gc -q --prune=now",
        "git checkout -qb topic && echo 'x = 2' > calc.py && git commit -qam topic "
        "&& git rebase -q main && git checkout -q main && git branch -qD topic && git gc -q",
    ],
)
def test_ordinary_work_with_git_is_not_asked_about(steer, script, repository, git, command):
    (repository / "calc.py").write_text("y = 1\n")
    git("commit", "-qam", "second")
    assert told(worked(steer, script, shell(command))) == [""]


def test_what_is_made_again_or_known_to_git_is_not_asked_about(steer, script, notes, git):
    git("add", ".")
    git("commit", "-qm", "notes")
    git("rm", "-q", "-r", "--cached", "calc.py")
    for name in ("node_modules", ".venv"):
        (notes / name).mkdir()
        for number in range(60):
            (notes / name / f"{number}.js").write_text(f"{TEXT}{number}")
    own = "mkdir out && for n in $(seq 80); do echo {} $n > out/$n; done"
    steps = ("rm -rf node_modules", "rm -rf .venv", own.format(TEXT), "rm -rf out",
             own.format(TEXT.swapcase()), "rm note*.txt",
             "for f in note*.txt; do :; done; git checkout -q .")  # fmt: skip
    assert not any(told(worked(steer, script, *map(shell, steps))))


def test_what_a_turn_brought_back_does_not_count(steer, script, notes):
    steps = ("mkdir kept; cp note*.txt kept", "rm note1*.txt note2*.txt", "cp kept/note1*.txt .",
             "rm note1*.txt note3*.txt")  # fmt: skip
    assert not any(told(worked(steer, script, *map(shell, steps))))


def test_files_that_are_edited_or_built_anew_are_not_lost(steer, script, notes):
    for number in range(60):
        (notes / f"{number}.o").write_bytes(b"\x7fELF\0" + bytes([number]) * 300)
    edit = "for f in note*.txt; do sed -i 's/Every word/Each line/; s/^/  /' $f; done"
    build = "for f in *.o; do (printf '\\177ELF\\0'; head -c 300 /dev/urandom) > $f; done"
    assert not any(told(worked(steer, script, shell(edit), shell(build))))


@pytest.mark.parametrize("name", ["x\ry", "x\u2028y", "x\fy"])
def test_no_name_of_a_file_switches_the_check_off(steer, script, repository, git, name):
    (repository / name).write_text("not in git\n")
    (repository / "calc.py").write_text("hours of work\n")
    script_of_it = 'git checkout .; for file in x*; do echo more >> "$file"; done\n'
    (repository / "restore.sh").write_text(script_of_it)  # so that the guard knows nothing of it
    (result,) = told(worked(steer, script, shell("sh restore.sh")))
    assert "discarding uncommitted work" in result
    assert (repository / "calc.py").read_text() == "hours of work\n"


# Uncommitted work.

LINES = "".join(f"{number}. {TEXT}\n" for number in range(10))
WORK = f"{LINES}And a week of work that was not committed.\n"


def begun(folder, git, name="w.txt"):
    """A committed file, and work on it that was not committed."""
    (folder / name).write_text(LINES)
    git("add", ".")
    git("commit", "-qm", "lines")
    (folder / name).write_text(WORK)
    return folder / name


THROWN = "discarding uncommitted work in 1 file"


@pytest.mark.parametrize(
    "steps",
    [
        ("git checkout -q .",),
        ("export GIT_INDEX_FILE=/tmp/i; git read-tree HEAD; git checkout-index -f -a",),
        ("git show HEAD:w.txt > x && cat x > w.txt && rm x",),
        ("rm w.txt; git checkout -q -- w.txt",),
        ("mv w.txt w.bak", "git checkout -q -- w.txt", "rm w.bak"),
        ("mv w.txt w.bak", "git checkout -q -- w.txt", "sed -i '$d' w.bak"),
        ("git gc -q", "git checkout -q ."),
        ("git gc -q; git unpack-objects -q < .git/objects/pack/*.pack", "git checkout -q ."),
        ("git init -q sub && mv sub/.git .git/x", "git checkout -q ."),
    ],
)  # fmt: skip
def test_however_it_is_thrown_away_uncommitted_work_is_asked_about(
    steer, script, repository, git, steps
):
    begun(repository, git)
    *before, last = told(worked(steer, script, *hidden(repository, *steps)))
    assert not any(before)
    assert THROWN in last


def test_a_repository_that_git_does_not_read_is_no_excuse(steer, script, repository, git):
    begun(repository, git)
    config = repository / ".git" / "config"
    config.write_text(config.read_text().replace("version = 0", "version = 99"))
    step = "sed -i 's/= 99/= 0/' .git/config; git checkout -q .; sed -i 's/= 0/= 99/' .git/config"
    (last,) = told(worked(steer, script, *hidden(repository, step)))
    assert THROWN in last


def test_in_the_background_too(repository, git):
    work = begun(repository, git)
    (call,) = hidden(repository, "git checkout -q .")
    assert background(repository, call["arguments"]["command"]) == ["denied"]
    assert work.read_text() == WORK


def test_in_a_repository_inside_the_workspace(steer, script, repository, git):
    (repository / "sub").mkdir()
    work = begun(repository / "sub", lambda *words: None)
    work.write_text(LINES)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "sub"]):
        git("-C", "sub", "-c", "user.name=n", "-c", "user.email=e@example.org", *words)
    work.write_text(WORK)
    (result,) = told(worked(steer, script, *hidden(repository, "cd sub; git checkout -q .")))
    assert THROWN in result
    assert work.read_text() == WORK


def test_in_a_file_with_the_end_of_a_line_in_its_name(steer, script, repository, git):
    work = begun(repository, git, "a\nb.txt")
    (result,) = told(worked(steer, script, shell("git checkout -q .")))
    assert THROWN in result
    assert work.read_text() == WORK


@pytest.mark.parametrize("rule", ["eol=crlf", "ident"])
def test_where_git_gives_files_another_form_than_it_stores(steer, script, repository, git, rule):
    (repository / ".gitattributes").write_text(f"*.txt text {rule}\n")
    (repository / "w.txt").write_text(f"$Id$\r\n{LINES}")
    git("add", ".")
    git("commit", "-qm", "lines")
    (repository / "w.txt").unlink()
    git("checkout", "w.txt")
    with (repository / "w.txt").open("a") as file:
        file.write("A week of work.\r\n")
    (result,) = told(worked(steer, script, shell("git checkout -q .")))
    assert THROWN in result


def test_in_a_repository_of_sha256(steer, script, workspace, git):
    if (workspace / ".git").exists():
        shutil.rmtree(workspace / ".git")
    git("init", "-q", "--object-format=sha256")
    git("config", "user.name", "n")
    git("config", "user.email", "e@example.org")
    work = begun(workspace, git)
    (result,) = told(worked(steer, script, *hidden(workspace, "git checkout -q .")))
    assert THROWN in result
    assert work.read_text() == WORK


@pytest.mark.parametrize(
    "steps",
    [
        ("echo more >> w.txt", "git commit -qam more", "echo yet >> w.txt",
         "git checkout -q w.txt", "ls > list"),
        ("git stash -q", "git stash pop -q", "git commit -qam all"),
        ("sed -i '$d' w.txt; echo other >> w.txt", "git commit -qam all && git gc -q"),
        ("cp w.txt w.bak", "git checkout -q .", "mv w.bak w.txt"),
        ("sed 's/^/  /' w.txt > made.txt", "cp w.txt copied.txt && echo end >> copied.txt",
         "git show HEAD:w.txt > copied.txt"),
        ("echo old > flag", "git add flag; git commit -qm flag", "echo new > flag; : > w2",
         "echo x > w2; echo old > flag"),
    ],
)  # fmt: skip
def test_work_that_goes_on_or_is_kept_is_not_asked_about(steer, script, repository, git, steps):
    begun(repository, git)
    assert not any(told(worked(steer, script, *hidden(repository, *steps))))


def test_what_extensions_of_git_keep_is_nowhere_else(steer, script, repository):
    for place in (".git/lfs/objects/ab/cd", ".git/annex/objects/x"):
        (repository / place).mkdir(parents=True)
        for number in range(40):
            (repository / place / f"{number}").write_text(f"{TEXT}{place}{number}")
    (result,) = told(worked(steer, script, *hidden(repository, "rm -rf .git/lfs .git/annex")))
    assert "deleting 80 untracked files" in result


def test_links_are_files_too(steer, script, repository, git):
    for name in ("links", "known"):
        (repository / name).mkdir()
        for number in range(60):
            (repository / name / f"{number}").symlink_to(f"../of a person/{name}{number}")
    git("add", "known")
    first, moved, last = told(
        worked(steer, script, *hidden(repository, "rm -r known", "mv links l", "rm -r l"))
    )
    assert (first, moved) == ("", "")
    assert "60 untracked files" in last or "60 of them not in git" in last
    assert len(list((repository / "l").iterdir())) == 60


def test_the_question_says_what_else_a_yes_keeps(steer, script, workspace):
    (workspace / ".mcp.json").write_text("{}")
    (workspace / "notes.txt").write_text("notes\n")
    work = steer.work(
        "run",
        "--model",
        script({"tool_calls": [shell("rm .mcp.json; echo more >> notes.txt")]}),
        "go",
    )
    (request,) = [m["body"] for m in work.messages if m["kind"] == "confirm_request"]
    assert "approving also keeps the other changes of this command: notes.txt" in request["reason"]


@pytest.mark.parametrize("count", [2, 20])
def test_what_is_lost_is_no_other_change(steer, script, repository, count):
    """Also where there is more of it than the question names."""
    for number in range(count):
        (repository / f"{number}.txt").write_text(f"{TEXT}{number}")
    line = "rm *.txt; echo x > made"
    work = steer.work("run", "--model", script({"tool_calls": [shell(line)]}), "go")
    (request,) = [m["body"] for m in work.messages if m["kind"] == "confirm_request"]
    assert f"deleting {count} untracked files" in request["reason"]
    assert request["reason"].endswith("keeps the other changes of this command: made")
