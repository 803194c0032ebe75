"""The safer form of a command."""

import pytest

from steersman.governance.guard.safer import safer


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("git push -f origin feature/x", "git push --force-with-lease origin feature/x"),
        ("npm test && git push --force", "npm test && git push --force-with-lease"),
        ("rm -rf $OUT/*", "rm -rf ${OUT:?}/*"),
        ('cd a; rm -r "${OUT}/x" b', 'cd a; rm -r "${OUT:?}/x" b'),
        ("git push origin main", ""),
        ("rm -rf $HOME/x", ""),
        ("rm $OUT/a", ""),
        ("rm -rf ${OUT:?}/*", ""),
        ("echo 'git push -f'", ""),
        ("git log -f | grep push", ""),
        ("rm -rf $OUT/* 'unclosed", ""),
    ],
)
def test_what_is_written_out_is_changed_and_nothing_else(command, wanted):
    assert safer(command) == wanted
    assert safer(wanted) == ""
