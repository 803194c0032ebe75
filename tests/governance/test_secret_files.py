"""Which files are secret, found on a real disk and kept up to date."""

import asyncio
import os

import pytest

from steersman.governance.secret_finder import Finder, exceptions
from steersman.records.secret_files import together


def made(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def found(finder, folder):
    return sorted(os.path.relpath(path, folder) for path in finder.find()[1])


def test_the_usual_names_are_found_wherever_they_are(tmp_path):
    made(
        tmp_path,
        ".env",
        "a/b/.env.local",
        "a/server.key",
        "k/id_rsa",
        ".env.example",
        "a.py",
        "node_modules/x/cert.pem",
        ".venv/lib/site-packages/certifi/cacert.pem",
        ".git/x.key",
    )
    finder = Finder(str(tmp_path))
    assert found(finder, tmp_path) == [".env", "a/b/.env.local", "a/server.key", "k/id_rsa"]


SECRET = [
    ".env", ".env.local", ".env-prod", ".ENV.Production", "deploy/prod.env", ".envrc", ".dev.vars",
    "tls/server.pem", "tls/SERVER.PEM", "tls/privkey.pem", "config/master.key", "AuthKey_X1.p8",
    "win/login.ppk", "app/release.keystore", "k/id_rsa", "k/id_ed25519_sk", "k/id_rsa.bak",
    "ssh_host_ed25519_key", "home/.ssh/x", "home/.gnupg/x", "secring.gpg", "me-private.asc",
    ".config/sops/age/keys.txt", "age-key.txt", "x.agekey",
    "Passwords.KDBX", "old.kdb", "home/.password-store/x", "home/.local/share/keyrings/x",
    "login.keychain-db", ".vault-token", ".vault_pass", "vault-password.txt",
    ".netrc", "_netrc", ".git-credentials", ".htpasswd", "credentials.json", "secrets.toml",
    "home/.aws/credentials", "home/.aws/sso/x", ".s3cfg", "service-account-prod.json",
    "app-service-account.json", "client_secret_1.json", "home/.config/gcloud/x",
    "home/.azure/msal_token_cache.json", "rclone.conf",
    "terraform.tfstate", "terraform.tfstate.backup", "a.tfstate.1700000000.backup",
    "prod-secrets.tfvars", "credentials.tfrc.json",
    "home/.kube/x", "kubeconfig", "kubeconfig.yaml", "prod.kubeconfig", "home/.docker/config.json",
    "home/.config/gh/x", "gh/hosts.yml", "glab-cli/config.yml",
    ".npmrc", "web/.npmrc", ".pypirc", "home/.cargo/credentials.toml", "home/.m2/settings.xml",
    "home/.cache/huggingface/token", "home/.codex/auth.json", ".streamlit/secrets.toml",
    "android/key.properties", ".pgpass", ".my.cnf",
    ".bash_history", ".psql_history", ".node_repl_history", "fish_history", ".viminfo",
    "home/.mozilla/x", "home/.config/google-chrome-beta/x", "p/key4.db", "p/logins.json",
    "p/Login Data", "office.ovpn", "wireguard/wg0.conf",
    "wallet.dat", "UTC--2024-01-01--ab", "home/.config/solana/id.json",
]  # fmt: skip
PLAIN = [
    ".env.example", ".env.sample", ".env.template", ".env.local.example", ".ENV.EXAMPLE",
    "example.env", "app.example.env", ".envrc.example", "env.py", "environment.yml", "env.d.ts",
    "cacert.pem", "ca-bundle.pem", "fullchain.pem", "public.pem", "jwt_public.pem", "x-pub.pem",
    "public.key", "id_rsa.pub", "id_ed25519.pub", "x.crt", "x.cer", "release.asc", "key.asc",
    "debug.keystore", "key.py", "keys.py", "keys.txt", "key.json", "api_key.go", "keyboard.ts",
    "secrets/__init__.py", "secrets/store.go", "secrets", "secrets.py", "secret.yaml",
    "chart/templates/secrets.yaml", ".github/workflows/secrets.yml", "app/locales/de/secrets.json",
    "credentials.py", "credentials/provider.ts", "credentials.yml.enc", ".sops.yaml", "x.age",
    ".aws/task-definition.json", ".aws", ".docker/Dockerfile", ".config/app.toml", ".vercel",
    "config.json", "settings.xml", "gradle.properties", "auth.json", "locales/auth.json",
    "terraform.tf", "prod.tfvars", ".terraform.lock.hcl", "hosts.yml", "config", "token",
    "src/cookies", "cookies.py", "history.py", "history", ".history", "wallet.py", "wallet",
    "chrome", "chromium/build.gn", "profiles.yml", ".yarnrc.yml", ".gitconfig", "src/gh/api.py",
    "tests/fixtures/key.py", "tests/token_test.py", ".secrets.baseline",
    "pkg/kubeconfig/load.go", "kubeconfig_test.go",
    "src/App.Wallet/App.cs", "src/App.Key/App.cs",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRET)
def test_the_table_hides_a_secret_whatever_its_place(tmp_path, name):
    secret_files, _ = Finder(str(tmp_path)).find(deep=False)
    assert secret_files.covers(str(tmp_path / name))
    assert secret_files.covers(str(tmp_path / "deep" / "below" / name))
    assert secret_files.covers(str(tmp_path / name.upper()))


@pytest.mark.parametrize("name", PLAIN)
def test_the_table_leaves_alone_what_ordinary_repositories_hold(tmp_path, name):
    secret_files, _ = Finder(str(tmp_path)).find(deep=False)
    assert not secret_files.covers(str(tmp_path / name))
    assert not secret_files.covers(str(tmp_path / "a" / name))


COPIES = [
    "{}~", "{}.~1~", "#{}#", "{}.bak", "{}.bak2", "{}.old", "{}.orig", "{}.save",
    "{}.tmp", "{}.tmp.12", "{}.swp", "{}.swo", ".{}.swp", ".{}.swn", ".{}.un~", ".{}.kate-swp",
    "{}_backup", "{}-old", "{}.bak~", "{} (copy)", "{} (1)", "{} copy 2", "{}.dpkg-old",
    "{}.rpmsave", "{}.pacnew", "{}-2024", "{}.2024-01-31", "{}_20240131", ".{}.Ab12Cd",
]  # fmt: skip


@pytest.mark.parametrize("copy", COPIES)
def test_no_copy_that_an_editor_left_shows_a_secret(tmp_path, copy):
    secret_files, _ = Finder(str(tmp_path)).find(deep=False)
    for name in ("id_rsa", "server.key", "credentials.json", ".netrc", ".env", "tls.pem"):
        assert secret_files.covers(str(tmp_path / copy.format(name)))
        assert secret_files.covers(str(tmp_path / "a" / copy.format(name).upper()))
    for name in ("README.md", "id_rsa.pub", "public.pem", "chart/templates/secrets.yaml", "a.c"):
        top, _, last = name.rpartition("/")
        assert not secret_files.covers(str(tmp_path / top / copy.format(last)))


@pytest.mark.parametrize("mark", [" (copy)", " copy", "-old", "_backup", " (2)", "-2024-01-31"])
def test_nor_one_with_the_mark_inside_its_name(tmp_path, mark):
    secret_files, _ = Finder(str(tmp_path)).find(deep=False)
    for name in ("server{}.key", "credentials{}.json", "tls{}.pem"):
        assert secret_files.covers(str(tmp_path / "a" / name.format(mark)))
    for name in ("page{}.json", "notes{}.md", "a{}.c"):
        assert not secret_files.covers(str(tmp_path / name.format(mark)))


def test_a_copy_of_a_folder_of_secrets_is_secret_and_an_exception_names_one_that_is_not(tmp_path):
    made(tmp_path, ".ssh.bak/x", ".aws_old/credentials", "k/id_rsa~", "old.bak/a.py", "..env.swp")
    finder = Finder(str(tmp_path))
    assert found(finder, tmp_path) == ["..env.swp", ".aws_old/credentials", ".ssh.bak", "k/id_rsa~"]
    (tmp_path / ".steersmanignore").write_text("!k/id_rsa~\n")
    finder = Finder(str(tmp_path), agreed=["!k/id_rsa~"])
    assert found(finder, tmp_path) == ["..env.swp", ".aws_old/credentials", ".ssh.bak"]


def test_the_folder_says_what_else_is_secret_and_what_is_not(tmp_path):
    made(tmp_path, ".env", "a/.env", "secret/deep/x", "b.txt")
    (tmp_path / ".steersmanignore").write_text("secret/\n/b.txt\n!a/.env\n")
    finder = Finder(str(tmp_path), agreed=["!a/.env"])
    assert found(finder, tmp_path) == [".env", "b.txt", "secret"]
    secret_files, _ = finder.find(deep=False)
    assert secret_files.covers(str(tmp_path / "secret/deep/x"))
    assert not secret_files.covers(str(tmp_path / "a/.env"))


def test_what_appears_later_is_found_and_so_is_a_changed_file(tmp_path):
    made(tmp_path, "a/x.py")
    finder = Finder(str(tmp_path))
    assert found(finder, tmp_path) == []
    made(tmp_path, "a/.env")
    assert found(finder, tmp_path) == ["a/.env"]
    (tmp_path / ".steersmanignore").write_text("x.py\n")
    assert found(finder, tmp_path) == ["a/.env", "a/x.py"]
    os.unlink(tmp_path / "a/x.py")
    assert found(finder, tmp_path) == ["a/.env"]


def test_what_comes_with_an_old_time_is_found(tmp_path):
    """`tar` and `rsync -t` give a folder the time that it had elsewhere."""
    finder = Finder(str(tmp_path))
    folder = tmp_path / "sub"
    folder.mkdir()
    before = folder.stat().st_mtime_ns
    assert finder.find()[1] == ()
    (folder / ".env").write_text("word")
    os.utime(folder, ns=(before, before))
    assert finder.find()[1] == (str(folder / ".env"),)


def test_a_pipe_or_a_link_for_an_ignore_file_is_no_ignore_file(tmp_path):
    made(tmp_path, ".env")
    os.mkfifo(tmp_path / ".steersmanignore")
    assert found(Finder(str(tmp_path)), tmp_path) == [".env"]
    os.unlink(tmp_path / ".steersmanignore")
    (tmp_path / "rules").write_text("!.env\n")
    os.symlink("rules", tmp_path / ".steersmanignore")
    assert found(Finder(str(tmp_path)), tmp_path) == [".env"]


def test_those_who_look_at_once_share_a_look_that_begins_after_they_asked(tmp_path):
    made(tmp_path, ".env")

    async def scenario():
        finder = Finder(str(tmp_path))
        together = await asyncio.gather(*(finder.look(deep=True) for _ in range(20)))
        assert len({id(secrets) for _, secrets in together}) == 1
        with finder._finding:  # a look has begun and cannot go on
            early = asyncio.create_task(finder.look(deep=True))
            while not finder._looking.locked():
                await asyncio.sleep(0)
            made(tmp_path, "a/.env")
            late = [asyncio.create_task(finder.look(deep=True)) for _ in range(3)]
            await asyncio.sleep(0)
        await early
        found = [secrets for _, secrets in await asyncio.gather(*late)]
        assert found[0] == (str(tmp_path / ".env"), str(tmp_path / "a/.env"))
        assert found[1] is found[0]
        assert found[2] is found[0]
        await finder.close()

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_a_shallow_look_sees_what_the_ignore_file_says_now(tmp_path):
    async def scenario():
        finder = Finder(str(tmp_path))
        assert not (await finder.look(deep=False))[0].covers(str(tmp_path / "x.py"))
        (tmp_path / ".steersmanignore").write_text("x.py\n")
        assert (await finder.look(deep=False))[0].covers(str(tmp_path / "x.py"))

    asyncio.run(scenario())


def test_a_folder_nobody_trusts_hides_more_and_never_less(tmp_path):
    made(tmp_path, ".env", "a/.env.example", "own/x", "own/readme", "b.log", "denied.txt")
    ignore = "!.env\n!denied.txt\n!*\n#| apart\n!**\n.env.example\nown/*\n!own/readme\n*.log\n"
    (tmp_path / ".steersmanignore").write_text(ignore)
    finder = Finder(str(tmp_path), also=["denied.txt"])
    assert found(finder, tmp_path) == [".env", "a/.env.example", "b.log", "denied.txt", "own/x"]


def test_no_exception_takes_back_what_the_persons_own_rules_hide(tmp_path):
    made(tmp_path, "denied.txt")
    (tmp_path / ".steersmanignore").write_text("!denied.txt\n")
    finder = Finder(str(tmp_path), also=["denied.txt"], agreed=["!denied.txt"])
    assert found(finder, tmp_path) == ["denied.txt"]


def test_an_exception_that_appears_after_the_person_agreed_does_not_count(tmp_path):
    made(tmp_path, ".env", "test.pem")
    (tmp_path / ".steersmanignore").write_text("!test.pem\n")
    finder = Finder(str(tmp_path), agreed=exceptions(str(tmp_path)))
    assert found(finder, tmp_path) == [".env"]
    (tmp_path / ".steersmanignore").write_text("!test.pem\n!.env\n")
    assert found(finder, tmp_path) == [".env"]


def test_a_folders_own_lines_cannot_pose_as_those_of_another(tmp_path):
    made(tmp_path, ".env")
    (tmp_path / ".steersmanignore").write_bytes(b"\0/elsewhere\0")
    secret_files, there = Finder(str(tmp_path)).find()
    assert secret_files.covers(str(tmp_path / ".env"))
    assert there == (str(tmp_path / ".env"),)


def test_folders_together_are_each_judged_by_their_own_lines(tmp_path):
    made(tmp_path, "one/.env", "two/.env", "two/in/x")
    (tmp_path / "one/.steersmanignore").write_text("/in/x\n!.env\n")
    (tmp_path / "two/.steersmanignore").write_text("/in/y\n")
    one, two = (
        Finder(str(tmp_path / name), agreed=agreed).find(deep=False)[0]
        for name, agreed in (("one", ("!.env",)), ("two", ()))
    )
    both = together(one, two)
    secret = [name for name in ("one/.env", "one/in/x", "one/in/y", "two/.env", "two/in/x",
                                "two/in/y", "three/.env")
              if both.covers(str(tmp_path / name))]  # fmt: skip
    assert secret == ["one/in/x", "two/.env", "two/in/y"]
    assert both.hides(b"in/x", folder=False)
    assert not both.hides(b"in/y", folder=False)
