"""The standard's own schema, in the tools of others, takes what is exported."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from delivery.random_models import RandomModel
from integrations.contract_cases import MODEL
from omd.integrations.contracts.odcs_export import contract_as_yaml, odcs_contract
from support.lots import seeds

if TYPE_CHECKING:
    from support.environments import Environment

# The linter of the command line, without a process for each contract.
LINT = """\
import sys
from datacontract.data_contract import DataContract
for file in sys.argv[1:]:
    for check in DataContract(data_contract_file=file).lint().checks:
        # What the tool itself can't test is a warning; it is no fault of the contract.
        if check.result not in ("passed", "warning"):
            print(file, check.name, check.reason)
"""
EXAMPLE = re.compile(r"^```yaml (\S+\.odcs\.yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE = Path(__file__).parents[2] / "docs/how-to/delivery/exchange-data-contracts.md"


@pytest.mark.random
def test_the_judges_take_every_contract_and_no_wrong_one(
    tools_environment: Environment, tmp_path: Path
) -> None:
    good, wrong = tmp_path / "good", tmp_path / "wrong.odcs.yaml"
    good.mkdir()
    models = [MODEL, *(RandomModel(random.Random(seed), f"i{seed}").document for seed in seeds(40))]
    files = [good / f"{model['interface']}.odcs.yaml" for model in models]
    for file, model in zip(files, models, strict=True):
        file.write_text(contract_as_yaml(odcs_contract(model, 1)), encoding="utf-8")
    # Also that of the page of documents, which readers copy.
    example = EXAMPLE.search(PAGE.read_text())
    assert example is not None
    files.insert(0, good / example[1])
    files[0].write_text(example[2], encoding="utf-8")
    text = files[1].read_text(encoding="utf-8")
    assert "logicalType: string" in text
    wrong.write_text(text.replace("logicalType: string", "logicalType: strong", 1))

    done = tools_environment.run("odcslint", "check", good)
    assert f"({len(files)} files checked)" in done.stdout
    assert tools_environment.run("odcslint", "check", wrong, check=False).returncode == 1
    # The other judge takes a second for each.
    done = tools_environment.run("python", "-c", LINT, *files[:6], wrong)
    assert {line.split()[0] for line in done.stdout.splitlines()} == {str(wrong)}
