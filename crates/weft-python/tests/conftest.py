"""Programs and folders that the tests share."""

import json
import os
import pathlib
import sys

import pytest

CRATE = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(CRATE / "examples"))

LINKS = {"wifi": "rate=4mbit,delay=15ms,loss=1%", "lte": "rate=3mbit,delay=40ms"}


@pytest.fixture
def links():
    return dict(LINKS)


@pytest.fixture
def weft():
    """The program `weft` of the same sources."""
    program = os.environ.get("WEFT_BIN")
    if not program or not pathlib.Path(program).exists():
        pytest.skip("WEFT_BIN names no built weft")
    return program


def of_any_version(text):
    """Results without their version: program and wheel may be built from different commits."""
    line = f'"version": {json.dumps(json.loads(text)["version"])}'
    assert text.count(line) == 1
    return text.strip().replace(line, '"version"')
