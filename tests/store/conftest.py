"""The contract is written apart from the tests that use it; its asserts explain themselves too."""

import pytest

pytest.register_assert_rewrite(
    "tests.store.contract", "tests.store.meeting", "tests.store.meeting_news"
)
