"""What a command inherits of the environment."""

from steersman.governance.environment import cache_environ, command_environ


def test_a_command_inherits_what_is_named_and_nothing_else():
    environ = {"PATH": "/bin", "LC_ALL": "C", "PYTHONPATH": "x", "MY_SETTING": "1", "DISPLAY": ":0",
               "SSH_AUTH_SOCK": "/run/x", "DBUS_SESSION_BUS_ADDRESS": "unix:x"}  # fmt: skip
    assert command_environ(environ) == {"PATH": "/bin", "LC_ALL": "C", "PYTHONPATH": "x"}
    assert command_environ(environ, ["MY_*", "DISPLAY"]).keys() == {
        "PATH", "LC_ALL", "PYTHONPATH", "MY_SETTING", "DISPLAY",
    }  # fmt: skip


def test_a_secret_is_not_inherited_whoever_names_it():
    environ = {
        "PATH": "/bin",
        "NPM_CONFIG_AUTH_TOKEN": "abcdefgh1234",
        "OPENAI_API_KEY": "sk-123456789",
    }
    assert command_environ(environ, ["OPENAI_API_KEY", "*"]) == {"PATH": "/bin"}


def test_package_managers_keep_what_they_fetch_in_one_folder():
    environ = cache_environ("/c")
    assert environ["XDG_CACHE_HOME"] == "/c"
    assert environ["PIP_CACHE_DIR"] == "/c/pip"
