"""What Python does for decisions: a run on any engine, and tests of rules that Python calls.

The database decides which records form a cycle, which ruleset is in effect and what is rejected
(docs/explanation/decision.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from omd._core.engines import POSTGRES, SPARK
from omd._core.error_codes import WrongEngine
from omd._core.errors import CallerError
from omd.doors.methods import DecisionMethods
from omd.rooms.control.connection import Connection, Door
from omd.rooms.control.outcome import Outcome
from omd.rooms.control.run import Batch
from omd.rooms.decision.calls import DecisionCalls
from omd.rooms.decision.rows import (
    DecisionRulesetListRow,
    DecisionTestListRow,
    TestRulesetRow,
)
from omd.rooms.decision.rules import rules_of, try_out
from omd.rooms.decision.run import outcome_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


__all__ = ["Decision", "TestResult"]

TestResult = TestRulesetRow


class Decision(Door, DecisionMethods):
    """Runs of stages, and tests of rulesets: ``control.decision`` (docs/explanation/decision.md).

    Examples:
        with omd.connect() as control:
            outcome = control.decision.run("flight_care")
            print(outcome.status, outcome.facts["cycles"], outcome.facts["rows_rejected"])
    """

    _formerly = ("omd.Decision",)

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._calls = DecisionCalls(self._link)

    def run(
        self,
        stage: str,
        *,
        spark: SparkSession | None = None,
        links: Mapping[str, DataFrame] | None = None,
        engine: str | None = None,
        batch: Batch | int | None = None,
        end_value: datetime | None = None,
        effective_at: datetime | None = None,
        parallelism: int | None = None,
        end_id: int | None = None,
    ) -> Outcome[None]:
        """Run a stage, and wait for its end.

        A run that fails, is aborted or skipped raises nothing.

        Args:
            stage: the stage.
            spark: the session of a run on Spark.
            links: DataFrames instead of the sources of links.
            engine: POSTGRES or SPARK; by default SPARK where `spark` or `links` are given, or the
                kind of the ruleset needs it.
            batch: the Batch, or the Batch Instance ID, that it is part of.
            end_value: up to where a stage with a window reads; by default now less its delay.
            effective_at: the moment for which the version of the ruleset is chosen; by default now.
            parallelism: into how many partitions Spark cuts the records.
            end_id: the last change that a stage reads whose window goes by changes; by default the
                newest.

        Raises:
            CallerError (OM080): no stage has this code.
            ConfigurationError (OM286): no version of its ruleset is active and effective.
            ConfigurationError (OM287): the function of the ruleset has changed.
            ConfigurationError (OM288): the ruleset does not run in the engine that was asked for.
            ConfigurationError (OM289): a source lacks something.
        """
        engines = self._control._engines
        if engine not in (None, *engines):
            raise CallerError(f"{engine} is no engine", hint=f"It is {' or '.join(engines)}.")
        if engine == POSTGRES and (spark is not None or links):
            raise CallerError(f"a session and DataFrames belong to the engine {SPARK}")
        options: dict[str, Any] = {
            "spark": spark,
            "links": links,
            "batch": batch,
            "end_value": end_value,
            "end_id": end_id,
            "effective_at": effective_at,
            "parallelism": parallelism,
        }
        first = engine or (POSTGRES if spark is None and not links else SPARK)
        try:
            ended = engines[first].decide(self._control, stage, **options)
        except WrongEngine:
            if engine is not None or first == SPARK:
                raise
            ended = engines[SPARK].decide(self._control, stage, **options)
        return outcome_of(self._calls, ended)

    def test_ruleset(self, ruleset_code: str, version: int | None = None) -> list[TestResult]:
        """Call a version of a ruleset with every present test case, and record the results.

        A function of the database is called there, other kinds in this process.

        Args:
            ruleset_code: the ruleset.
            version: the version; by default the newest one.

        Raises:
            CallerError (OM081): there is no such ruleset or version.
            ConfigurationError (OM287): the function is not as it was when it was defined.
            CallerError: the function of Python is not there, or zen-engine is not installed.
        """
        # The kind is asked first, since a refusal would end the transaction of the caller.
        known = self._calls.report(
            DecisionRulesetListRow,
            ruleset_code=ruleset_code,
            version=version,
            order_by=["version"],
            descending=True,
            limit=1,
        )
        if ruleset_code is not None and known and known[0].kind != "FUNCTION":
            tests = self._evaluated(known[0])
        else:
            tests = self._calls.test_ruleset(ruleset_code, version=version)
        [ruleset] = known
        return [
            TestResult(
                test.test_name,
                self._calls.record_test_result(
                    ruleset_code,
                    ruleset.version,
                    test.test_name,
                    # As text, since a text of JSON would be taken for JSON itself.
                    None if test.actual is None else json.dumps(test.actual),
                    error=test.error,
                ),
                test.expected,
                test.actual,
                test.error,
            )
            for test in tests
        ]

    def _evaluated(self, ruleset: DecisionRulesetListRow) -> list[TestResult]:
        """Return what a ruleset that Python calls answers to each case; nothing is compared yet."""
        rules = rules_of(ruleset.kind, ruleset.content)
        return [
            TestResult(case.test_name, False, case.expected, *try_out(rules, case.input))
            for case in self._calls.report(
                DecisionTestListRow,
                ruleset_code=ruleset.ruleset_code,
                version=ruleset.version,
                order_by=["test_name"],
            )
        ]
