"""Commands that run tests, and what they say came of them."""

import pytest

from steersman.operations.running.suites import runs_tests, said

TESTS = """
pytest -q
python3.12 -m pytest tests
cd sub && uv run --quiet pytest -x
FOO=1 .venv/bin/pytest
npm test
npm run test -- --watch=false
npx vitest run
go test ./...
cargo test --release
./gradlew test
bundle exec rspec
make -j4 test
(cd web; yarn test)
pytest | tail -3
"""
OTHERS = """
ls tests
cat pytest.ini
npm install jest
echo run pytest
make
git commit -m 'pytest passes'
cargo build
"""


@pytest.mark.parametrize("command", TESTS.strip().splitlines())
def test_commands_that_run_tests(command):
    assert runs_tests(command)


@pytest.mark.parametrize("command", OTHERS.strip().splitlines())
def test_commands_that_do_not(command):
    assert not runs_tests(command)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("..F\n=== 1 failed, 2 passed in 0.02s ===\n", "1 failed, 2 passed in 0.02s"),
        ("test result: ok. 3 passed\n\nDoc-tests x\n", "test result: ok. 3 passed"),
        ("PASS a\nTests:  2 passed\nTime: 1 s\n", "Tests:  2 passed"),
        ("make: *** No rule\n", "make: *** No rule"),
        ("", ""),
    ],
)
def test_the_line_that_counts(output, expected):
    assert said(output) == expected
