"""Who is asked about code first is a setting."""

from types import SimpleNamespace

from steersman.identity.settings import load_settings
from steersman.threads.external_tools import preferred
from tests.world import Steer, call


def named(*names):
    return [SimpleNamespace(name=name) for name in names]


def order(prefer):
    return [one.name for one in preferred(named("serena", "gopls", "tree-sitter"), prefer)]


def test_those_who_are_named_are_asked_first_and_the_others_keep_their_order():
    assert order(()) == ["serena", "gopls", "tree-sitter"]
    assert order(("tree-sitter",)) == ["tree-sitter", "serena", "gopls"]
    assert order(("tree-sitter", "Gopls", "nobody")) == ["tree-sitter", "gopls", "serena"]


def test_it_is_a_setting(tmp_path):
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "STEERSMAN_CODE_BACKENDS": "gopls, serena"}
    assert load_settings(environ, {}).code_backends == ("gopls", "serena")


def test_what_is_preferred_answers_the_model(steer, script, workspace):
    """Without it, the language server that comes with the package would."""
    look = call("workspace_get_symbols_overview", path="calc.py")
    model = script({"tool_calls": [look]}, {"text": "Done."})
    asked = Steer({**steer.environ, "STEERSMAN_CODE_BACKENDS": "tree-sitter"}, workspace)
    messages = asked.messages("run", "--model", model, "look")
    (result,) = (message["body"] for message in messages if message["kind"] == "tool_result")
    assert result["output"]["backend"] == "tree-sitter"
