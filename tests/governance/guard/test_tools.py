"""Tools with verbs that look and verbs that change, in `tools.txt`; code that reaches a service."""

from pathlib import Path

import pytest

from steersman.governance.guard.programs import handler_of
from steersman.governance.guard.programs.reads import short_tables
from steersman.governance.guard.programs.verbs import rows
from tests.governance.guard.kit import said, verdict

_, CALM, STOPPED = (Path(__file__).parent / "tools.txt").read_text().split("\n## ")
CALM_ROWS, STOPPED_ROWS = (part.splitlines()[1:] for part in (CALM, STOPPED))


def test_looking_and_building_is_let_through():
    stopped = [said(command) for command in CALM_ROWS if verdict(command) != "allow"]
    assert len(CALM_ROWS) > 800
    assert not stopped


def test_what_changes_something_elsewhere_is_stopped():
    assert len(STOPPED_ROWS) > 400
    assert not [command for command in STOPPED_ROWS if verdict(command) == "allow"]


def test_every_short_table_can_be_read():
    assert all(handler_of(name) is not None and rows(name) for name in short_tables())


HARM = {
    "make -f -": "all:\n\trm -rf ~/backups",
    "make -C . -f - all": "all:\n\trm -rf $(HOME)/backups",
    "psql -h prod -f -": "DROP TABLE users;",
    "bash -x -": "rm -rf ~/backups",
    "node -": "require('fs').rmSync('/home/dev', {recursive: true})",
    "ruby -": "require 'fileutils'; FileUtils.rm_rf('/home/dev')",
    "python3 -": "import boto3\nboto3.client('rds').delete_db_instance(DBInstanceIdentifier='p')",
    "pwsh -": "Remove-Item -Recurse -Force C:/Users/dev",
    "kubectl delete -f -": "kind: Namespace",
}


@pytest.mark.parametrize("program", HARM)
@pytest.mark.parametrize("mark", ["<<X", "<<'X'", "<<-X"])
def test_a_dash_before_a_here_document_is_a_word(program, mark):
    line = f"{program} {mark}\n{HARM[program]}\nX\n"
    assert verdict(line) != "allow", said(line)
    assert said(line).facts == [] or program.split()[0] in str(said(line).facts)


@pytest.mark.parametrize("after", ["", " > out.txt", " | head", " && echo done"])
def test_words_around_the_dash_keep_their_order(after):
    (fact, *_) = said(f"python3 - one two <<'X'{after}\nprint(1)\nX\n").facts
    assert fact.words == ("python3", "-", "one", "two")
    (fact, *_) = said(f"jq . - <<'X'{after}\n{{}}\nX\n").facts
    assert fact.words == ("jq", ".", "-")


@pytest.mark.parametrize("lead", ["hyperfine --prepare 'true'", "hyperfine -p true -w 2"])
def test_the_timed_command_is_read_besides_its_preparation(lead):
    assert verdict(f"{lead} 'rm -rf ~/x'") == "block"
    assert verdict(f"{lead} './build/app'") == "allow"


def test_powershell_options_may_be_cut_short():
    for option in ("-Command", "-com", "-c", "-C", "/c"):
        assert verdict(f"powershell.exe -NoP {option} 'Stop-Computer -Force'") == "ask"
        assert verdict(f"powershell.exe -nop {option} 'Get-Date'") == "allow"
    for option in ("-e", "-ec", "-Enc", "-EncodedCommand"):
        assert verdict(f"pwsh {option} RwBlAHQALQBEAGEAdABlAA==") == "ask"


@pytest.mark.parametrize(
    "code",
    [
        "Remove-Item -Recurse build; Get-ChildItem",
        "Get-ChildItem src -Recurse -Filter *.cs | Measure-Object -Line",
        '$v = (Get-Content VERSION); Write-Host "v$v; done"',
        "if (Test-Path out) { Get-ChildItem out } else { Write-Output none }",
        "Set-Content -Path out/version.txt -Value 1.2",
        "npm test",
    ],
)
def test_powershell_that_stays_in_the_project(code):
    quoted = code.replace("'", "''")
    assert verdict(f"pwsh -NoProfile -c '{quoted}'") == "allow", said(f"pwsh -c '{quoted}'")


@pytest.mark.parametrize(
    "code",
    [
        "Remove-Item -Recurse -Force C:/Users/dev",
        "Get-Item x | Remove-Item; Stop-Service w32time",
        "Set-Content -Path C:/Windows/System32/drivers/etc/hosts -Value x",
        "if ($true) { Restart-Computer }",
        "Add-MpPreference -ExclusionPath C:/",
        "& { Format-Volume -DriveLetter D }",
        "git push --force origin main",
        '[IO.File]::Delete("x")',
        "Get-Credential",
    ],
)
def test_powershell_that_does_not(code):
    assert verdict(f"pwsh -c '{code}'") != "allow", said(f"pwsh -c '{code}'")


CLEANS = "import boto3\nboto3.client('s3').delete_bucket(Bucket='b')"


@pytest.mark.parametrize(
    "line",
    [
        f"cat > src/clean.py <<'X'\n{CLEANS}\nX\n",
        "grep -rn 'boto3.*delete_bucket' src",
        "git commit -m 'import boto3; delete_bucket() is gone'",
        f"python3 - <<'X'\nfrom moto import mock_aws\nwith mock_aws():\n {CLEANS[13:]}\nX\n",
        "python3 -c \"import redis; redis.Redis(host='localhost').flushdb()\"",
        "python3 -c \"import boto3; print(boto3.client('ec2').describe_instances())\"",
        "node -e \"const {Client}=require('pg'); new Client().query('select 1')\"",
    ],
)
def test_code_that_only_speaks_of_a_service_or_of_a_stand_in(line):
    assert verdict(line) == "allow", said(line)


def test_code_that_was_written_and_is_then_run():
    line = f"cat > clean.py <<'X'\n{CLEANS}\nX\npython3 clean.py\n"
    assert verdict(line) == "ask"
