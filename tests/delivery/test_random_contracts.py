"""Random models go to a contract and back, and deployed again they change nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from delivery.random_models import RandomModel
from omd.integrations.contracts.odcs_export import contract_as_yaml, odcs_contract
from omd.integrations.contracts.reading import read_contract
from omd.programs.cli.documents.delivery import model_as_yaml
from omd.programs.terminal.yaml_file import read_document
from support.lots import seeds

if TYPE_CHECKING:
    from pathlib import Path

    from delivery.conftest import Room


@pytest.mark.random
def test_a_model_that_went_to_a_contract_and_back_changes_nothing(
    room: Room, tmp_path: Path
) -> None:
    file = tmp_path / "a.odcs.yaml"
    for seed in seeds(12):
        interface = f"i{seed}"
        model = RandomModel(random.Random(seed), interface).document
        room.deploy(model)
        file.write_text(contract_as_yaml(odcs_contract(room.document(interface), 1)))
        back, notes = read_contract(file, "odcs")
        assert (seed, [*notes.lines()]) == (seed, [])
        # As a user has it: the document stands in a file before it is deployed.
        file.write_text(model_as_yaml(back))
        document = read_document(file).value
        assert (seed, room.diff(document)) == (seed, [])
