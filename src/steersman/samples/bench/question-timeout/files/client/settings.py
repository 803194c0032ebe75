"""Settings as shipped; `defaults.ini` counts more than what is written here."""

import configparser
from pathlib import Path

TIMEOUT = 5
RETRIES = 4
PAUSE = 1


def load():
    values = {"timeout": TIMEOUT, "retries": RETRIES, "pause": PAUSE}
    parser = configparser.ConfigParser()
    parser.read(Path(__file__).with_name("defaults.ini"))
    if parser.has_section("client"):
        values.update({name: int(value) for name, value in parser["client"].items()})
    return values
