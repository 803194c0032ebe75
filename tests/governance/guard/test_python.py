"""Inline Python as the guard reads it: what names, loops and texts come to."""

import pytest

from steersman.governance.guard.code_python import rewritten
from steersman.governance.guard.marks import shown
from tests.governance.guard.kit import said, verdict

TABLE = {
    "import os as o; o.remove('a' + 'b')": "os.remove('ab')",
    "from shutil import rmtree as r; r('x')": "shutil.rmtree('x')",
    "import os; h = os.environ['HOME']; os.remove(h)": "os.remove('/home/dev')",
    "import os; os.remove(os.environ['X'])": "os.remove('$?')",
    "import os; [os.remove(f) for f in os.listdir('b')]": "os.remove('*')",
    "import os; f = os.remove; f('x')": "os.remove('x')",
    "import os; [os.remove(d + '/' + f) for d, _, n in os.walk('b') for f in n]": (
        "os.remove('b/**/**')"
    ),
    "from pathlib import Path; [p.unlink() for p in Path.home().rglob('*')]": (
        "os.remove('/home/dev/**/*')"
    ),
    "from pathlib import Path; Path('a').write_text('b')": "open('a', 'w', 'b')",
    "import os; list(map(os.remove, ['a', 'b']))": "os.remove('b')",
    "import os\ndef f(p):\n    os.remove(p)\nf('x')": "os.remove('x')",
    "import os; x = ['a']; x.append('b'); os.remove(x[1])": "os.remove('b')",
    "import os; d = {'k': 'v'}; os.remove(d['k'])": "os.remove('v')",
    "import os; os.system(''.join(chr(c) for c in [108, 115]))": "os.system('ls')",
    "import os; os.system(bytes.fromhex('6c73').decode())": "os.system('ls')",
    "import os; os.system('sl'[::-1])": "os.system('ls')",
    "getattr(__import__('os'), 'sys' + 'tem')('ls')": "os.system('ls')",
}


@pytest.mark.parametrize(("code", "wanted"), TABLE.items())
def test_what_is_known_is_put_in(code, wanted):
    assert wanted in shown(rewritten(code, "/home/dev", "/home/dev/project") or "", 1000)


def test_what_is_no_python_is_left_alone():
    assert rewritten("print 'old'", "/home/dev", "/home/dev/project") is None


def test_letters_of_the_code_are_never_marks():
    assert "tmp" not in shown(rewritten("f('\\ue008')", "/home/dev", "/w") or "")
    assert "tmp" not in shown(rewritten("f(chr(0xe008))", "/home/dev", "/w") or "")


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.remove(name)",
        "import shutil, sys; shutil.rmtree(sys.argv[1])",
        "import subprocess; subprocess.run(command)",
    ],
)
def test_what_is_not_known_in_a_destructive_place_asks(code):
    assert verdict(f'python3 -c "{code}"') == "ask"


@pytest.mark.parametrize(
    "code",
    [
        "x = " + "[" * 5 + "0" + " for a in range(400)]" * 5,
        "a = ['x']" + "; a = [a, a]" * 40 + "; print('%s' % a)",
        "print('%999999999d' % 1, 'x'.ljust(10**9), '{:>99999999}'.format(1))",
        "\n".join(f"f{n} = lambda x: f{n + 1}(x) or f{n + 1}(x)" for n in range(30)) + "\nf0(1)",
    ],
)
def test_code_made_to_be_long_is_given_up(code):
    assert said(f"python3 - <<'E'\n{code}\nE").verdict in ("allow", "ask")
