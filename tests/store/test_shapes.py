"""Secrets that nobody knows are told by their shapes, known ones in every encoding.

All of them are invented, and put together here so that no scanner takes them for real.
"""

import base64
import hashlib
import json
import uuid
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steersman.records.change import ABSENT, Change, FileState
from steersman.records.dialogue import ProviderState
from steersman.records.message import (
    MASK,
    Assistant,
    Checkpoint,
    ToolCall,
    ToolResult,
    User,
    decode_body,
)
from steersman.store import shapes
from steersman.store.redactor import Redactor
from tests.store.test_redactor import cut

RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0" * 3
HEX = hashlib.sha256(b"invented").hexdigest() * 2


def jwt(header):
    parts = (json.dumps(header), json.dumps({"sub": "12", "n": 7}), RANDOM[:32])
    return ".".join(base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in parts)


def private_key(kind=""):
    lines = "\n".join(base64.b64encode(bytes([n] * 3 + [7, 99])).decode() * 8 for n in range(9))
    return f"-----BEGIN {kind}PRIVATE" + f" KEY-----\n{lines}\n-----END {kind}PRIVATE" + " KEY-----"


TOKENS = {
    "GitHub": "ghp_" + RANDOM[:36],
    "GitHub by OAuth": "gho_" + RANDOM[:36],
    "GitHub of an app": "ghs_" + RANDOM[:36],
    "GitHub fine-grained": "github_" + "pat_" + RANDOM[:22] + "_" + RANDOM[:59],
    "GitLab": "glpat" + "-" + RANDOM[:20],
    "Slack bot": "xoxb" + "-123456789012-123456789012-" + RANDOM[:24],
    "Stripe": "sk_" + "live_" + RANDOM[:24],
    "Stripe restricted": "rk_" + "live_" + RANDOM[:24],
    "OpenAI": "sk-" + RANDOM[:48],
    "OpenAI project": "sk-" + "proj-" + RANDOM[:60],
    "Anthropic": "sk-" + "ant-api03-" + RANDOM[:80],
    "Google": "AIza" + RANDOM[:35],
    "AWS": "AKIA" + "Q7W6E5R4T3Y2U7I6",
    "AWS for a while": "ASIA" + "Q7W6E5R4T3Y2U7I6",
    "npm": "npm_" + RANDOM[:36],
    "PyPI": "pypi-" + "AgEI" + RANDOM[:80],
    "Hugging Face": "hf_" + RANDOM[:34],
    "Twilio": "SK" + HEX[:32],
    "DigitalOcean": "dop_" + "v1_" + HEX[:64],
    "age": "AGE-SECRET" + "-KEY-1" + RANDOM[:58].upper(),
    "JWT": jwt({"alg": "HS256", "typ": "JWT"}),
    "private key": private_key("RSA "),
    "private key of any kind": private_key(),
}
AROUND = ["{}", "use {} now", '"{}"', "x={};", "a\n{}\nb", "\\n{}\\n", "url?%0A{}&x", "é{}請"]
COLOURED = ["\x1b[31m{}\x1b[0m", "\x1b[01;31m\x1b[K{}\x1b[m", "\x1b[38;5;9m{}", "{}\u2028"]
# Their first part is public, and stays.
FOLLOWING = {
    "Slack hook": ("hooks.slack" + ".com/services/T0A1B2C3D/B0A1B2C3D/", RANDOM[:24]),
    "Google OAuth": ("ya29" + ".", "a0" + RANDOM[:60]),
    "Google refresh": ("1/" + "/", "0e" + RANDOM[:60]),
    "SendGrid": ("SG" + ".", RANDOM[:22] + "." + RANDOM[:43]),
    "Vault": ("hvs" + ".", RANDOM[:24]),
    "Doppler": ("dp.pt" + ".", RANDOM[:43]),
    "Telegram": ("123456789" + ":", "AA" + RANDOM[:33]),
    "Discord": ("MTA" + RANDOM[:23] + ".Gx7kQ2.", RANDOM[:38]),
    "Terraform": (RANDOM[:14] + ".atlas" + "v1.", RANDOM[:64]),
}
VALUES = {
    "Telegram": "123456789" + ":AA" + RANDOM[:33],
    "AWS": "aws_secret_access_key = " + RANDOM[:39] + "/",
    "Azure": "AccountName=x;Account" + "Key=" + RANDOM[:84] + "==",
    "a variable": "DB_PASS" + "WORD=" + RANDOM[:20],
    "JSON": '{"api_' + 'key": "' + RANDOM[:24] + '"}',
    "YAML": "client_" + "secret: " + RANDOM[:24],
    "Python": "tok" + "en = '" + RANDOM[:24] + "'",
    "an option": "--pass" + "word=" + RANDOM[:18],
    "hexadecimal": "SECRET_" + "KEY=" + HEX[:64],
    "a header": "Authori" + "zation: Bearer " + RANDOM[:32],
    "JSON in JSON": '{\\"pass' + 'word\\": \\"' + RANDOM[:24] + '\\"}',
}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("around", [*AROUND, *COLOURED])
def test_a_token_is_told_by_its_shape(token, around):
    assert Redactor().text(around.format(token)) == around.format(MASK)


@pytest.mark.parametrize(("public", "token"), FOLLOWING.values(), ids=FOLLOWING)
@pytest.mark.parametrize("around", AROUND)
def test_the_secret_part_of_a_token_is_masked(public, token, around):
    written = around.format(public + token)
    assert Redactor().text(written) == around.format(public + MASK)
    assert Redactor().body(User(written))[0] == User(around.format(public + MASK))


@pytest.mark.parametrize("given", VALUES.values(), ids=VALUES)
def test_a_random_value_beside_a_word_that_says_so_is_masked(given):
    masked = Redactor().text(f"first\n{given}\nlast")
    assert RANDOM[:12] not in masked
    assert HEX[:12] not in masked
    assert MASK in masked
    assert masked.startswith("first\n")
    assert masked.endswith("\nlast")


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_no_shape_passes_the_door_of_the_log(token):
    for body in (User(f"mine:\n{token}\n"), ToolCall("run", {"a": [token]}),
                 ToolResult("run", "ok", output={"x\n" + token: 1})):  # fmt: skip
        kept, stored = Redactor().body(body)
        assert token[-20:] not in stored.decode()
        assert token not in repr(kept)


def test_the_name_of_a_field_says_that_its_value_is_secret():
    fields = {"user": RANDOM[:24], "pass" + "word": RANDOM[:24]}
    kept, _ = Redactor().body(ToolCall("login", fields))
    assert kept == ToolCall("login", {"user": RANDOM[:24], "pass" + "word": MASK})


DIGEST = hashlib.sha512(b"x").digest()
PICTURE = base64.b64encode(bytes(n * n % 251 for n in range(6000))).decode()
ORDINARY = [
    "commit " + hashlib.sha1(b"x").hexdigest(),
    "sha256:" + hashlib.sha256(b"x").hexdigest(),
    f'"integrity": "sha512-{base64.b64encode(DIGEST).decode()}"',
    f"--hash=sha256:{hashlib.sha256(b'y').hexdigest()}",
    f"id = {uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF)}",
    f"token: {uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF)}",
    f"![](data:image/png;base64,{PICTURE})",
    "function(e,t,n){var r=n(28),o=n.n(r),i=/^(?:x1|y2)$/;e.exports=r.a1b2c3d4e5f6g7}",
    "self.password_hasher_2 = PBKDF2PasswordHasher(iterations=720000)",
    "token = tokenizer_v2.next_token_3(stream)",
    "auth = base64.b64encode(user_and_password)",
    "private_key: ed25519.Ed25519PrivateKey",
    "password = os.environ['PASSWORD_2024_PRODUCTION']",
    "secret_name: my-service-secret-2024-v2",
    "next_token: " + RANDOM[:24],
    "https://example.org/a/b2c3/d4-e5-f6-g7-h8/index.html?page=12&sort=name",
    "task-ghp_short sk-learn xoxb- hf_hub_download_2 npm_config_registry_2024",
    '"-----BEGIN PRIVATE' + ' KEY-----" in text',
    "-----BEGIN CERTIFICATE-----\n" + PICTURE[:640] + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + PICTURE[:320] + "\n-----END PUBLIC KEY-----",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_hashes_names_and_pictures_are_not_masked(text):
    assert Redactor().text(f"a {text} b") == f"a {text} b"
    body = User(f"a {text} b")
    assert Redactor().body(body)[0] == body


SECRETS = ["correct horse+battery/staple?", "s3cr3t-w0rd", "пароль-密码-\U0001f511", "8-chars!"]


def encodings(secret):
    """The secret with other data around it, as programs write it."""
    data = secret.encode()
    for before in range(6):
        whole = b"u" * before + data + b"then more"
        yield base64.b64encode(whole).decode()
        yield base64.urlsafe_b64encode(whole).decode()
        yield base64.b64encode(b"u" * before + data).decode()
    yield data.hex()
    yield data.hex().upper()
    yield quote(secret, safe="")
    yield quote(secret, safe="").lower() if secret.isascii() else quote(secret)
    yield "".join(f"%{byte:02x}" for byte in data)


@pytest.mark.parametrize("secret", SECRETS)
def test_an_encoded_secret_is_masked_however_it_is_aligned(secret):
    redactor = Redactor([secret, "another-secret-of-no-matter"])
    for written in encodings(secret):
        masked = redactor.text(f"say {written} twice {written}")
        assert masked.count(MASK) == 2, written
        left = masked.replace(MASK, "").replace("say", "").replace("twice", "")
        assert len(left.strip()) < len(f"{written}{written}") - len(secret), (written, masked)
        body, stored = redactor.body(ToolResult("run", "ok", output={"output": written}))
        assert MASK in stored.decode()
        assert MASK in body.output["output"]


@pytest.mark.parametrize("secret", SECRETS)
def test_an_encoded_secret_in_pieces_is_never_shown_in_part(secret):
    redactor = Redactor([secret])
    for written in encodings(secret):
        stream = redactor.stream()
        shown = "".join([*map(stream.feed, f"say {written} now"), stream.flush()])
        assert shown == redactor.text(f"say {written} now")


parts = st.sampled_from([*TOKENS.values(), *VALUES.values(), *ORDINARY]) | st.sampled_from(
    [" ", "\n", "=", ": ", '"', "-", "-----", "token", "password = ", "\\n", "sk-", "ghp_", "x1"]
)


# A part a line: how far back a stream remembers what a value stands beside has an end.
@settings(max_examples=300, deadline=None)
@given(st.lists(parts, max_size=6).map("\n".join), st.lists(st.integers(0, 5000), max_size=12))
def test_shapes_in_pieces_are_masked_as_the_whole_would_be(text, places):
    redactor = Redactor(["s3cr3t-w0rd-that-is-known"])
    stream = redactor.stream()
    shown = "".join([*map(stream.feed, cut(text, places)), stream.flush()])
    assert shown == redactor.text(text)


@pytest.mark.parametrize("token", [*TOKENS.values(), *VALUES.values()], ids=[*TOKENS, *VALUES])
def test_no_part_of_a_token_is_shown_while_it_arrives(token):
    whole = Redactor().text(f"say {token} now")
    stream, shown = Redactor().stream(), ""
    for character in f"say {token} now":
        shown += stream.feed(character)
        assert whole.startswith(shown)
    assert shown + stream.flush() == whole


def test_what_is_named_exactly_stays_though_it_looks_like_a_secret():
    token = TOKENS["GitHub"]
    change = Change(f"notes/{token}.txt", ABSENT, FileState("file", 0o644, HEX[:64], 3))
    kept, stored = Redactor().body(Checkpoint("effect", (change,), 1))
    assert kept.changes == (change,)
    assert decode_body("checkpoint", stored) == kept
    state = ProviderState("openai", "x", ({"encrypted_content": token},))
    kept, _ = Redactor().body(Assistant(f"Use {token}.", state=state))
    assert kept == Assistant(f"Use {MASK}.", state=state)


@settings(max_examples=200, deadline=None)
@given(st.lists(parts, max_size=5).map("".join))
def test_a_stored_text_is_masked_as_the_text_alone_would_be(text):
    redactor = Redactor(["s3cr3t-w0rd-that-is-known"])
    assert redactor.body(User(text))[0] == User(redactor.text(text))


PLACEHOLDERS = ["<your key>", "changeme", "$TOKEN", "${TOKEN_2}", 'os.environ["TOKEN_2"]',
                "get_password()", "process.env.API_KEY_2024", "your-api-key-1234-goes-here",
                "xxxxxxxx1234xxxxxxxx", "my-service-2024-v2", "{{ secrets.TOKEN_12 }}"]  # fmt: skip


@pytest.mark.parametrize("value", PLACEHOLDERS)
@pytest.mark.parametrize("before", ["password = ", 'api_key: "', "Authorization: Bearer "])
def test_a_placeholder_is_not_masked(value, before):
    assert Redactor().text(before + value) == before + value


def test_a_password_in_an_address_is_masked():
    address = "postgres://app:" + RANDOM[:14] + "@db.example/app"
    assert Redactor().text(address) == f"postgres://app:{MASK}@db.example/app"
    assert Redactor().text("http://localhost:8080/a") == "http://localhost:8080/a"


def test_a_private_key_that_is_cut_off_is_masked_as_far_as_it_goes():
    half = private_key()[:200]
    assert Redactor().text(half) == MASK
    stream = Redactor().stream()
    assert stream.feed(half) + stream.flush() == MASK


def prefixes():
    text = Path(shapes.__file__).with_name("token_shapes.txt").read_text()
    rows = text.partition("[begins]\n")[2].partition("[follows]")[0].splitlines()
    return [row.split()[0] for row in rows if row and row[0] != "#"]


@pytest.mark.parametrize(
    "fill", ["", "1_", "1-", "a1_", "a" * 15 + "1.", "EXAMPLE1a2b3c4d5e6f7g8h_"]
)
def test_what_begins_like_a_token_again_and_again_is_not_read_again_and_again(fill):
    for prefix in prefixes():
        part = prefix + fill
        text = part * (12_000 // len(part))
        search = shapes.Search(text)
        search.spans()
        assert search.in_vain <= 5 * (len(text) + shapes.IN_VAIN), prefix


def test_a_token_behind_much_that_only_begins_like_one_is_masked():
    secret = "ghp" + "_" + RANDOM[:36]
    for noise in ("ghs_1_", "xoxb-1-", "glpat-a1_", "ghs_" + "a" * 15 + "1."):
        shown = Redactor().text(noise * 5000 + secret)
        assert shown.endswith(MASK)
        assert RANDOM[:12] not in shown


def test_a_token_that_holds_the_beginning_of_another_is_masked_as_a_whole():
    assert Redactor().text("sk-" + "my-key-" + RANDOM[:40]) == MASK
    assert Redactor().text("glpat" + "-my-npm_" + RANDOM[:20]) == MASK
