"""The arguments of `deliver` become one type, the source, which says what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omd.errors import CallerError
from omd.rooms.delivery.source import (
    SourceByEntity,
    SourceFolder,
    SourceTables,
    source_of,
)

FRAME: Any = object()


@pytest.mark.parametrize(
    ("arguments", "source"),
    [
        ({"files": "2013-01/"}, SourceFolder("2013-01/")),
        ({"files": Path("2013-01")}, SourceFolder("2013-01")),
        ({"files": "postgres"}, SourceFolder("postgres")),
        ({"staging": "postgres"}, SourceTables()),
        ({"entities": {}}, SourceByEntity({}, {})),
        (
            {"entities": {"a": Path("a.csv"), "b": FRAME, "c": "postgres"}},
            SourceByEntity({"a": "a.csv", "c": "postgres"}, {"b": FRAME}),
        ),
    ],
)
def test_each_argument_is_one_kind_of_source(arguments: Any, source: Any) -> None:
    assert source_of(**arguments) == source


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "handed over in one way"),
        ({"files": "a", "staging": "postgres"}, "handed over in one way"),
        ({"entities": {}, "files": "a"}, "handed over in one way"),
        ({"staging": "oracle"}, "there is no staging oracle"),
    ],
)
def test_a_source_is_named_once(arguments: Any, message: str) -> None:
    with pytest.raises(CallerError, match=message):
        source_of(**arguments)
