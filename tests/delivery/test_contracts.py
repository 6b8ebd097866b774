"""Contracts on the command line, and what is imported is what a database deploys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from integrations.contract_cases import AVRO, GX, JSON_SCHEMA, STRANGER, suite
from omd.integrations.contracts.reading import read_contract

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


def test_a_model_goes_to_a_contract_and_back(
    omd_: Command, room: Room, model: dict[str, Any], tmp_path: Path
) -> None:
    room.deploy(model)
    exported = omd_("model", "export", "flights", "--to", "odcs")
    assert (exported.returncode, exported.stderr) == (0, "")
    contract = tmp_path / "flights.odcs.yaml"
    contract.write_text(exported.stdout, encoding="utf-8")
    assert yaml.safe_load(exported.stdout)["version"] == "1.0.0"

    imported = omd_("model", "import", str(contract), "--from", "odcs", "--strict")
    assert (imported.returncode, imported.stderr) == (0, "")
    back = tmp_path / "flights.yaml"
    back.write_text(imported.stdout, encoding="utf-8")
    unchanged = omd_("model", "diff", str(back))
    assert (unchanged.returncode, unchanged.stdout) == (0, "")

    contract.write_text(exported.stdout.replace("DELAY", "delay").replace("1800", "900"))
    back.write_text(omd_("model", "import", str(contract), "--from", "odcs").stdout)
    changed = omd_("model", "diff", str(back), "--output", "json")
    assert [c["object"] for c in json.loads(changed.stdout)] == ["flights.plausible"]

    room.deploy({**model, "facts": {"a": None}})
    exported = omd_("model", "export", "flights", "--to", "odcs")
    assert yaml.safe_load(exported.stdout)["version"] == "2.0.0"
    unknown = omd_("model", "export", "trains", "--to", "odcs")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "SQLSTATE: OM031" in unknown.stderr
    assert omd_("model", "export", "flights").returncode == 2


def test_what_is_left_out_is_told_twice_and_strict_writes_nothing(
    omd_: Command, room: Room, tmp_path: Path
) -> None:
    file = tmp_path / "a.odcs.yaml"
    file.write_text(STRANGER, encoding="utf-8")
    done = omd_("model", "import", str(file), "--from", "odcs")
    comments = [line[2:] for line in done.stdout.splitlines() if line.startswith("#")]
    assert (done.returncode, comments) == (0, done.stderr.splitlines())
    assert comments[0] == "Not taken over:"
    room.deploy(yaml.safe_load(done.stdout))
    strict = omd_("model", "import", str(file), "--from", "odcs", "--strict")
    assert (strict.returncode, strict.stdout) == (1, "")
    assert "SQLSTATE: OM096" in strict.stderr
    assert strict.stderr.startswith("Not taken over:\n  team: ")

    wrong = omd_("model", "import", str(file), "--from", "avro")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert f"{file}: " in wrong.stderr
    bad_code = omd_("model", "import", str(file), "--from", "odcs", "--interface", "A B")
    assert bad_code.returncode == 2
    file.write_text("[" * 200 + "]" * 200)
    bounded = omd_("model", "import", str(file), "--from", "gx")
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
    for contract, contract_format, key in given:
        file.write_text(json.dumps(contract))
        model, _ = read_contract(file, contract_format, interface="i", key=[key])
        assert room.diff(model), contract
