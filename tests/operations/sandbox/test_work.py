"""What people do all day works in the sandbox: as root and as an ordinary user."""

import os
import shutil

import pytest

from tests.operations.sandbox.kit import EVERYBODY, Ground, World, as_somebody

GIT = "git init -q -b main . 2>/dev/null; git config user.email a@b; git config user.name n; "
PACKAGE = '{"name": "x", "version": "1.0.0", "scripts": {"test": "node -e 1+1 && echo tested"}}'
WORK = {
    "git": "rm -rf .git; " + GIT + "git add open.txt && git commit -qm one && echo 2 > open.txt && "
    "git status --short && git add -u && git commit -qm two && git log --oneline | wc -l && "
    "git checkout -q HEAD~1 && git gc -q",
    "git with secrets around": "rm -rf .git; " + GIT + "printf '.env\\n*.pem\\n' > .gitignore; "
    "git add -A && git commit -qm all && git ls-files | grep -q open.txt && "
    "! git ls-files | grep -qE 'env|pem'",
    "git refuses a secret that is not ignored": "rm -rf .git; " + GIT + "rm sub/*; "
    "! git add -A && git add open.txt && git commit -qm some && test $(git ls-files) = open.txt",
    "tests in python": "printf 'import unittest\\nclass T(unittest.TestCase):\\n"
    "  def test(self): self.assertTrue(1)\\n' > test_x.py; python3 -m unittest -q test_x",
    "processes in python": "cat > p.py <<'END'\nimport multiprocessing as m, asyncio, os\n"
    "def f(x): return x * x\n"
    "async def g():\n"
    "  s = await asyncio.start_server(lambda r, w: w.close(), '127.0.0.1', 0)\n"
    "  r, w = await asyncio.open_connection(*s.sockets[0].getsockname())\n"
    "  assert await r.read() == b''; w.close(); s.close()\n"
    "  p = await asyncio.create_subprocess_exec('echo', 'hi', stdout=-1)\n"
    "  assert (await p.communicate())[0] == b'hi\\n'\n"
    "if __name__ == '__main__':\n"
    "  for way in ('fork', 'spawn', 'forkserver'):\n"
    "    with m.get_context(way).Pool(2) as pool: assert pool.map(f, [2, 3]) == [4, 9]\n"
    "  with m.Manager() as manager: manager.dict()['a'] = 1\n"
    "  asyncio.run(g())\nEND\npython3 p.py",
    "an environment of python": "python3 -m venv --without-pip v && v/bin/python -c 'import sys; "
    "assert sys.prefix != sys.base_prefix'",
    "a program in C": "printf '#include <pthread.h>\\nvoid *f(void *x) { return x; }\\n"
    "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return pthread_join(t, 0); }' "
    "> x.c && cc -pthread -o x x.c && ./x",
    "make": "printf 'all: a b\\na b:\\n\\ttouch $@\\n' > Makefile; make -sj2 all && test -e b",
    "npm test": f"echo '{PACKAGE}' > package.json; npm test --silent | grep -q tested",
    "npm with a local package": f"mkdir -p y; echo '{PACKAGE}' > y/package.json; "
    "export npm_config_cache=/tmp/npm; npm pack --silent ./y >/dev/null; echo '{}' > package.json; "
    "npm install --silent --offline --no-audit ./x-1.0.0.tgz && test -e node_modules/x",
    "a server in node": 'node -e \'const n = require("net"); '
    'const s = n.createServer(c => c.end()).listen("/tmp/s.sock", () => '
    'n.connect("/tmp/s.sock").on("close", () => s.close())'
    ".resume())'",
    "archives": "mkdir -p d/e; echo x > d/e/f; tar czf d.tgz --owner=501 --group=20 d && "
    "rm -r d && tar xzf d.tgz && test -e d/e/f && cp -a d c && mv c b && test -e b/e/f",
    "temporary files": "f=$(mktemp) && echo x > $f && d=$(mktemp -d) && mv $f $d && "
    "python3 -c 'import tempfile; tempfile.NamedTemporaryFile()' && echo x > /var/tmp/x && "
    "echo x > /dev/shm/x && echo x | tee /dev/null",
    "a shell with jobs": "sleep 0.01 & wait; (exit 3); test $? = 3; cat <(echo a) <<< b; "
    "echo {1..3} | xargs -n1 -P2 echo; timeout 5 true; nproc; id; date; uname",
    "interfaces": "python3 -c 'import socket; print(socket.if_nameindex()); "
    'print(socket.getaddrinfo("localhost", 80))\'',
}
NEEDS = {"npm": "npm", "a server in node": "node", "a program in C": "cc", "make": "make"}
HERE = [
    name
    for name in WORK
    if all(shutil.which(program) for start, program in NEEDS.items() if name.startswith(start))
]


@pytest.mark.parametrize("ground", ["view", "copy"])
@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("name", HERE)
def test_work_is_done(name: str, who: str, ground: Ground) -> None:
    """It ends well, and the sandbox is not in its way."""

    def do(world: World) -> None:
        if ground == "copy" and name.startswith("git refuses"):
            return  # what holds the place of a secret there is nothing that git would add
        world.try_out("set -o pipefail; " + WORK[name], ground)
        assert world.done.returncode == 0, world.said

    as_somebody(who, do)


@pytest.mark.parametrize("ground", ["view", "copy"])
@pytest.mark.parametrize("who", EVERYBODY)
@pytest.mark.parametrize("place", [".", ".git"])
def test_a_command_cannot_lock_the_owner_out(place: str, who: str, ground: Ground) -> None:
    """Nothing of what was there changes."""

    def do(world: World) -> None:
        found = world.try_out(f"echo x > new; chmod 000 {place}", ground)
        assert found is not None
        assert {change.path for change in found.changes} <= {"new"}
        assert any("can no longer use it" in note for note in found.notes)

    as_somebody(who, do)


def test_root_in_a_workspace_of_somebody_else() -> None:
    """As in a container: root can write there, and the secrets are covered all the same."""
    if os.geteuid() != 0:
        return

    def do(world: World) -> None:
        for folder, folders, files in os.walk(world.root):
            for name in (".", *folders, *files):
                os.chown(os.path.join(folder, name), 1000, 1000, follow_symlinks=False)
        (world.root / "open.txt").chmod(0o600)
        for ground in ("view", "copy"):
            world.try_out("echo x > open.txt && mkdir -p d && echo y > d/f && cat d/f", ground)
            assert world.done.returncode == 0, world.said
            world.try_out("cat .env sub/key.pem; ls ~/.ssh; cat ~/.ssh/id", ground)
            assert "s3cret" not in world.said
            assert world.done.returncode != 0

    as_somebody("me", do)
