"""OMD in Airflow 3: a connection, operators and sensors.

docs/how-to/control/start-from-an-orchestrator.md shows them at work.

    from omd.integrations.airflow import OmdBatchOperator, OmdTopicSensor

Airflow finds it by the entry point ``apache_airflow_provider`` of this distribution.
"""

from typing import TYPE_CHECKING

from omd._core.lazy import lazily

if TYPE_CHECKING:
    from omd.integrations.airflow.hooks import OmdHook as OmdHook
    from omd.integrations.airflow.links import OmdRunLink as OmdRunLink
    from omd.integrations.airflow.operators import OmdBatchOperator as OmdBatchOperator
    from omd.integrations.airflow.operators import OmdModuleOperator as OmdModuleOperator
    from omd.integrations.airflow.sensors import OmdDeliverySensor as OmdDeliverySensor
    from omd.integrations.airflow.sensors import OmdRunSensor as OmdRunSensor
    from omd.integrations.airflow.sensors import OmdTopicSensor as OmdTopicSensor
    from omd.integrations.airflow.triggers import OmdSensorTrigger as OmdSensorTrigger
    from omd.integrations.airflow.triggers import OmdTaskTrigger as OmdTaskTrigger

# Airflow asks each provider at each start what it has; that must not load all of Airflow.
__all__, __getattr__, __dir__ = lazily(
    __name__,
    {
        "omd.integrations.airflow.hooks": ["OmdHook"],
        "omd.integrations.airflow.links": ["OmdRunLink"],
        "omd.integrations.airflow.operators": ["OmdBatchOperator", "OmdModuleOperator"],
        "omd.integrations.airflow.sensors": [
            "OmdDeliverySensor",
            "OmdRunSensor",
            "OmdTopicSensor",
        ],
        "omd.integrations.airflow.triggers": ["OmdSensorTrigger", "OmdTaskTrigger"],
    },
)
