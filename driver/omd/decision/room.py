"""Decision as Python sees it: the routines as methods, and a run on any engine.

The database decides which records form a cycle, which ruleset is in effect and what is rejected
(docs/explanation/decision.md).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from omd._core import engines
from omd._core.errors import CallerError, one_line
from omd.control.run import Batch, call_job
from omd.decision.block import StageRun
from omd.decision.calls import DecisionCalls
from omd.decision.errors import WrongEngine
from omd.decision.rows import DecisionRulesetListRow, DecisionTestListRow, TestRulesetRow
from omd.decision.rules import rules_of, try_out
from omd.decision.run import POSTGRES, SPARK, DecisionOutcome, outcome_of, run_in_database

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from omd.control.room import Control

__all__ = ["Decision", "DecisionOutcome", "TestResult"]

TestResult = TestRulesetRow


class Decision(DecisionCalls):
    """The room decision: ``control.decision`` (docs/explanation/decision.md).

    Examples:
        with omd.connect() as control:
            outcome = control.decision.run("flight_care")
            print(outcome.status, outcome.cycles, outcome.rows_rejected)

    Args:
        control: the connection; it may serve other calls too.
    """

    def __init__(self, control: Control) -> None:
        super().__init__(control._link)
        self.control = control

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
    ) -> DecisionOutcome:
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

        Raises:
            UnknownStage: no stage has this code.
            NoRulesetVersion: no version of its ruleset is active and effective.
            RulesetChanged: the function of the ruleset is not as it was when it was defined.
            WrongEngine: the ruleset does not run in the engine that was asked for.
            LinkUnfit: a source lacks something.
        """
        if engine not in (None, POSTGRES, SPARK):
            raise CallerError(f"{engine} is no engine", hint="It is POSTGRES or SPARK.")
        if engine == POSTGRES and (spark is not None or links):
            raise CallerError("a session and DataFrames belong to the engine SPARK")
        instance = batch.batch_instance_id if isinstance(batch, Batch) else batch
        if engine != SPARK and spark is None and not links:
            try:
                return self._run_in_database(stage, instance, end_value, effective_at)
            except WrongEngine:
                if engine is not None:
                    raise
        run = StageRun(
            self,
            stage,
            spark=spark,
            links=links,
            batch=batch,
            end_value=end_value,
            effective_at=effective_at,
            parallelism=parallelism,
        )
        ended = call_job(run, engines.engine(SPARK).decide)
        error = ended.error
        return outcome_of(
            self,
            DecisionOutcome(
                stage,
                ended.instance_id,
                ended.status,
                SPARK,
                detail=ended.reason if error is None else one_line(error),
                error=error,
            ),
        )

    def _raise(self, sqlstate: str, detail: Mapping[str, Any]) -> NoReturn:
        """Let the database raise an error of its catalogue."""
        from psycopg import sql
        from psycopg.types.json import Jsonb

        self._link.execute(
            sql.SQL("SELECT omd.raise_error({}, {})").format(sqlstate, Jsonb(detail)),
            {},
            tuple,
            repeatable=True,
        )
        raise AssertionError(sqlstate)

    def _run_in_database(self, stage: str, *told: Any) -> DecisionOutcome:
        """Run it, and add the counts of the database."""
        with self.control.long_call() as link:
            ended = run_in_database(link, stage, *told)
        return outcome_of(self, ended)

    def test_ruleset(self, ruleset_code: str, version: int | None = None) -> list[TestResult]:
        """Call a version of a ruleset with every present test case, and record the results.

        A function of the database is called there, other kinds in this process.

        Args:
            ruleset_code: the ruleset.
            version: the version; by default the newest one.

        Raises:
            UnknownRuleset: there is no such ruleset or version.
            RulesetChanged: the function is not as it was when it was defined.
            CallerError: the function of Python is not there, or zen-engine is not installed.
        """
        try:
            found = super().test_ruleset(ruleset_code, version=version)
        except WrongEngine:
            found = []
        [ruleset] = self.report(
            DecisionRulesetListRow,
            ruleset_code=ruleset_code,
            version=version,
            order_by=["version"],
            descending=True,
            limit=1,
        )
        if ruleset.kind != "FUNCTION":
            found = self._evaluated(ruleset)
        return [
            TestResult(
                test.test_name,
                self.record_test_result(
                    ruleset_code,
                    ruleset.version,
                    test.test_name,
                    # As text, since a text of JSON would be taken for JSON itself.
                    None if test.actual is None else json.dumps(test.actual),  # type: ignore[arg-type]
                    error=test.error,
                ),
                test.expected,
                test.actual,
                test.error,
            )
            for test in found
        ]

    def _evaluated(self, ruleset: DecisionRulesetListRow) -> list[TestResult]:
        """Return what a ruleset that Python calls answers to each case; nothing is compared yet."""
        rules = rules_of(ruleset.kind, ruleset.content)
        return [
            TestResult(case.test_name, False, case.expected, *try_out(rules, case.input))
            for case in self.report(
                DecisionTestListRow,
                ruleset_code=ruleset.ruleset_code,
                version=ruleset.version,
                order_by=["test_name"],
            )
        ]
