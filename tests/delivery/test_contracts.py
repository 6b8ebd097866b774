"""Contracts on the command line, and what is imported is what a database deploys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import omd
from integrations.contract_cases import AVRO, GX, JSON_SCHEMA, STRANGER, suite
from omd.integrations.contracts.reading import read_contract
from support.documents import contract

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from delivery.conftest import Room

    Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def omd_(omd_here: Command, dsn: str) -> Command:
    """``omd …`` on a database without interfaces."""
    return lambda *arguments, **options: omd_here(*arguments, dsn=dsn, **options)


def told(done: subprocess.CompletedProcess[str], code: int = 0) -> str:
    assert done.returncode == code, done.stderr
    return done.stdout


def test_a_model_goes_to_a_contract_and_back(
    omd_: Command, room: Room, model: dict[str, Any], dsn: str, tmp_path: Path
) -> None:
    room.deploy(model)
    exported = contract(dsn, "flights")
    foreign = tmp_path / "flights.odcs.yaml"
    foreign.write_text(exported, encoding="utf-8")
    assert yaml.safe_load(exported)["version"] == "1.0.0"

    assert told(omd_("diff", str(foreign), "--from", "odcs")) == ""
    imported = omd_("diff", str(foreign), "--from", "odcs", "--strict", "--output", "yaml")
    assert (imported.returncode, imported.stderr) == (0, "")
    back = tmp_path / "flights.yaml"
    back.write_text(imported.stdout, encoding="utf-8")
    assert told(omd_("diff", str(back))) == ""

    foreign.write_text(exported.replace("DELAY", "delay").replace("1800", "900"))
    back.write_text(omd_("diff", str(foreign), "--from", "odcs", "--output", "yaml").stdout)
    changed = told(omd_("diff", str(back), "--output", "json"), 1)
    assert [c["path"] for c in json.loads(changed)] == ["flights.plausible"]
    assert told(omd_("apply", str(foreign), "--from", "odcs", "--output", "json")) == changed
    assert told(omd_("diff", str(back))) == ""

    room.deploy({**model, "facts": {"a": None}})
    assert yaml.safe_load(contract(dsn, "flights"))["version"] == "3.0.0"
    with pytest.raises(omd.errors.lookup("OM031")):
        contract(dsn, "trains")


def test_what_is_left_out_is_told_twice_and_strict_writes_nothing(
    omd_: Command, room: Room, tmp_path: Path
) -> None:
    file = tmp_path / "a.odcs.yaml"
    file.write_text(STRANGER, encoding="utf-8")
    done = omd_("diff", str(file), "--from", "odcs", "--output", "yaml")
    comments = [line[2:] for line in done.stdout.splitlines() if line.startswith("#")]
    assert (done.returncode, comments) == (0, done.stderr.splitlines())
    assert comments[0] == "Not taken over:"
    room.deploy(yaml.safe_load(done.stdout))
    strict = omd_("diff", str(file), "--from", "odcs", "--strict", "--output", "yaml")
    assert (strict.returncode, strict.stdout) == (1, "")
    assert "SQLSTATE: OM096" in strict.stderr
    assert strict.stderr.startswith("Not taken over:\n  team: ")

    refused = omd_("apply", str(file), "--from", "odcs")  # what is left out is left to decide
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"omd diff {file} --from odcs --output yaml" in refused.stderr

    wrong = omd_("diff", str(file), "--from", "avro", "--output", "yaml")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert f"{file}: " in wrong.stderr
    bad_code = omd_("diff", str(file), "--from", "odcs", "--interface", "A B", "--output", "yaml")
    assert bad_code.returncode == 2
    file.write_text("[" * 200 + "]" * 200)
    bounded = omd_("diff", str(file), "--from", "gx", "--output", "yaml")
    assert (bounded.returncode, bounded.stdout) == (1, "")
    assert "SQLSTATE: OM030" in bounded.stderr


def test_the_database_takes_every_type_and_rule_that_is_imported(
    room: Room, tmp_path: Path
) -> None:
    file = tmp_path / "file.json"
    avro = {
        "type": "record",
        "name": "Of Avro",
        "fields": [{"name": f"f{n}", "type": t} for n, (t, _) in enumerate(AVRO)],
    }
    json_schema = {
        "title": "Of JSON",
        "properties": {f"x{n}": t for n, (t, _, _) in enumerate(JSON_SCHEMA)},
        "$defs": {"code": {"type": "string", "maxLength": 2}},
    }
    given: list[tuple[Any, str, str]] = [(avro, "avro", "f0"), (json_schema, "json-schema", "x0")]
    given += [(suite(*before, (kind, kwargs)), "gx", "k") for kind, kwargs, before, _ in GX]
    for written, contract_format, key in given:
        file.write_text(json.dumps(written))
        model, _ = read_contract(file, contract_format, interface="i", key=[key])
        assert room.diff(model), written
