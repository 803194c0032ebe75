"""Diffs made of others, for whoever shows them."""


def moved_diff(gone: str, come: str) -> str:
    """The diff of a file that is moved, from those of its old name, which goes, and its new one."""
    from steersman.operations.matching import moved_diff

    return moved_diff(gone, come)
