"""The index as files that people and programs read."""

import asyncio
import json
import os

import pytest

from steersman.operations.code.index import export
from steersman.operations.code.index.upkeep import Records
from steersman.operations.code.index.walk import listed
from steersman.records.errors import UsageProblem
from tests.operations.code.index.kit import PROJECT, plant


@pytest.fixture
def made(tmp_path):
    folder = tmp_path / "project"
    plant(folder, PROJECT)
    root = os.path.realpath(folder)
    records = Records(root, tmp_path / "data")
    records.update(asyncio.run(listed(root, "", os.environ)))
    picture = records.picture()
    languages = {path: entry.language for path, entry in records.index.files().items()}
    index = export.project(picture, languages, records.index.outlines())
    yield index, picture
    records.close()


def test_the_project_for_programs(made):
    index, _ = made
    told = json.loads(export.as_json(index))
    assert (told["made_by"], told["version"]) == ("steer index --write", 1)
    files = {file["path"]: file for file in told["files"]}
    assert files.keys() == PROJECT.keys()
    assert files["shop/client.py"]["symbols"] == [
        ["Client", "class", 5, 12],
        ["Client/send", "method", 8, 9],
        ["Client/close", "method", 11, 12],
    ]
    assert files["shop/client.py"]["leans_on"] == ["shop/retrying.py"]
    assert files["shop/client.py"]["language"] == "python"


def test_the_project_for_people(made):
    page = export.as_markdown(*made)
    assert page.startswith("<!-- made by `steer index --write` -->\n# Project index\n")
    assert "- `shop/retrying.py`: `backoff_delay`\n" in page
    assert page.index("shop/retrying.py") < page.index("shop/prices.py")
    assert "tests/test_client.py" not in page


def test_only_our_own_files_are_written_over(tmp_path, made):
    text = export.as_json(made[0])
    path = export.write(str(tmp_path), export.JSON_NAME, text)
    assert export.write(str(tmp_path), export.JSON_NAME, text) == path
    other = tmp_path / export.MARKDOWN_NAME
    other.write_text("# My own page\n")
    with pytest.raises(UsageProblem, match="already exists"):
        export.write(str(tmp_path), export.MARKDOWN_NAME, "new")
    assert other.read_text() == "# My own page\n"
    other.unlink()
    other.symlink_to(path)
    with pytest.raises(UsageProblem, match="already exists"):
        export.write(str(tmp_path), export.MARKDOWN_NAME, "new")
    with pytest.raises(UsageProblem, match="cannot be written"):
        export.write(str(tmp_path / "nowhere"), export.JSON_NAME, text)
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.name[0] == ".") == []
