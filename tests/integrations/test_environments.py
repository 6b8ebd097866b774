"""OMD itself can be imported where the tools of others are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import omd

if TYPE_CHECKING:
    from support.environments import Environment

IMPORTED = """\
import {tools}
import omd, omd.doors.control, omd.programs.cli.main
print(omd.__file__)
"""


def test_omd_and_airflow_are_imported_together(airflow_environment: Environment) -> None:
    done = airflow_environment.run("python", "-c", IMPORTED.format(tools="airflow.sdk"))
    assert done.stdout.splitlines()[-1] == omd.__file__


def test_omd_and_the_tools_are_imported_together(tools_environment: Environment) -> None:
    tools = "cloudevents, confluent_kafka, dagster, dbt.cli.main, jsonschema, openlineage.client"
    done = tools_environment.run("python", "-c", IMPORTED.format(tools=tools))
    assert done.stdout.splitlines()[-1] == omd.__file__
