"""What the distribution has for Airflow; Airflow demands the name of the distribution."""

from __future__ import annotations

from typing import Any

from omd._core.version import __version__

_PACKAGE = "omd.integrations.airflow"


def get_provider_info() -> dict[str, Any]:
    """Return what Airflow asks of a provider, as its schema has it."""
    of_omd = {"integration-name": "OMD"}
    return {
        "package-name": "pgomd",
        "name": "OMD",
        "description": "Batches and Modules under the control of PostgreSQL.",
        "versions": [__version__],
        "integrations": [{**of_omd, "external-doc-url": "https://pypi.org/project/pgomd/"}],
        "operators": [{**of_omd, "python-modules": [f"{_PACKAGE}.operators"]}],
        "sensors": [{**of_omd, "python-modules": [f"{_PACKAGE}.sensors"]}],
        "hooks": [{**of_omd, "python-modules": [f"{_PACKAGE}.hooks"]}],
        "triggers": [{**of_omd, "python-modules": [f"{_PACKAGE}.triggers"]}],
        "connection-types": [
            {"connection-type": "omd", "hook-class-name": f"{_PACKAGE}.hooks.OmdHook"}
        ],
        "extra-links": [f"{_PACKAGE}.links.OmdRunLink"],
    }
