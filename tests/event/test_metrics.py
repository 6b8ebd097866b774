"""Metrics: what publish counts, what is read, and how Prometheus gets it."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable

    Connection = psycopg.Connection[dict[str, Any]]
    Command = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE = [
    'a"b\\c',
    "line\nbreak\r\ttab",
    "{}",
    "{{.Labels}} $labels",
    'é☃ {a="b"} 1',
    ("x\"\\'\n" * 250)[:1000],
    " # HELP omd_info",
]
SAMPLE = re.compile(r'(omd_\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\\n]|\\[\\"n])*)"')
UNESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


@pytest.fixture
def flow(conn: Connection) -> Flow:
    return Flow(conn)


def publish(flow: Flow) -> int:
    return flow.call("omd_event.publish")["published"]


def values(flow: Flow, metric_name: str) -> dict[tuple[str, ...], float]:
    """Return the values of a metric by its labels in their order."""
    names = flow.one("SELECT label_names FROM omd_event.metric WHERE metric_name = %s", metric_name)
    rows = flow.rows("SELECT * FROM omd_report.metrics WHERE metric_name = %s", metric_name)
    return {tuple(row["labels"][name] for name in names): row["value"] for row in rows}


def lines(flow: Flow) -> list[str]:
    return [row["line"] for row in flow.rows("SELECT line FROM omd_report.prometheus")]


def read(text: list[str]) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Read samples as Prometheus does."""
    samples = {}
    for line in text:
        if line.startswith("#"):
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        labels = {
            name: re.sub(r"\\.", lambda m: UNESCAPED[m[0]], value)
            for name, value in LABEL.findall(match[2] or "")
        }
        key = (match[1], frozenset(labels.items()))
        assert key not in samples, f"twice: {line}"
        samples[key] = float(match[3])
    return samples


# What publish counts ---------------------------------------------------------------------------


def test_a_run_is_counted_once_however_often_events_are_published(flow: Flow) -> None:
    flow.module("m")
    flow.run_module("m")
    assert publish(flow) == 2
    kind = flow.one("SELECT module_kind_code FROM omd.module WHERE module_code = 'm'")
    ended = flow.one(
        "SELECT extract(EPOCH FROM max(end_datetime))::float8 FROM omd.module_instance"
    )
    for _ in range(2):
        assert values(flow, "omd_runs_total") == {(kind, "S"): 1}
        assert values(flow, "omd_module_runs_total") == {("m", "S"): 1, ("m", "F"): 0}
        assert values(flow, "omd_module_last_success_timestamp_seconds") == {("m",): ended}
        publish(flow)


def test_a_counter_of_failures_begins_with_0_so_that_the_first_is_an_increase(flow: Flow) -> None:
    flow.batch("b", "m")
    assert values(flow, "omd_module_runs_total") == {("m", "F"): 0}
    assert values(flow, "omd_batch_runs_total") == {("b", "F"): 0}
    flow.run_batch("b", m="F")
    publish(flow)
    assert values(flow, "omd_module_runs_total") == {("m", "F"): 1}
    assert values(flow, "omd_batch_runs_total") == {("b", "F"): 1}


def test_what_a_rollback_undoes_is_counted_and_no_counter_falls(flow: Flow) -> None:
    flow.module("m")
    flow.run_module("m", "F")
    publish(flow)
    before = read(lines(flow))
    flow.run_module("m")  # its begin undoes what has failed
    publish(flow)
    ((undone),) = values(flow, "omd_runs_undone_total").values()
    assert undone == 1
    assert values(flow, "omd_module_runs_total") == {("m", "S"): 1, ("m", "F"): 1}
    after = read(lines(flow))
    fallen = {
        key for key, value in before.items() if "_total" in key[0] and after.get(key, -1) < value
    }
    assert fallen == set()


def test_rows_and_seconds_of_runs_add_up(flow: Flow) -> None:
    flow.module("m")
    for number in (1, 2):
        begun = flow.begin_module("m")
        flow.call("module_success", module_instance_id=begun.id, rows_inserted=number, rows_input=5)
    publish(flow)
    rows = {count: value for (_, count), value in values(flow, "omd_rows_total").items()}
    assert rows == {
        "input": 10, "inserted": 3, "updated": 0, "deleted": 0, "discarded": 0, "rejected": 0,
    }  # fmt: skip
    found = flow.rows("SELECT * FROM omd_report.metrics WHERE metric_name = 'omd_run_seconds'")
    buckets = {r["labels"]["le"]: r["value"] for r in found if r["sample_name"].endswith("_bucket")}
    bounds = sorted(buckets, key=float)
    assert bounds[-1] == "+Inf"
    assert buckets["+Inf"] == 2
    assert [buckets[le] for le in bounds] == sorted(buckets.values())
    (total,) = (r["value"] for r in found if r["sample_name"].endswith("_sum"))
    taken = flow.one(
        "SELECT sum(extract(EPOCH FROM end_datetime - start_datetime))::float8"
        " FROM omd.module_instance WHERE module_id IS NOT NULL"
    )
    assert total == pytest.approx(taken)


def test_what_is_rolled_back_with_its_round_is_not_counted_twice(flow: Flow) -> None:
    flow.module("m")
    flow.run_module("m")
    with flow.conn.transaction(force_rollback=True):
        publish(flow)
        assert values(flow, "omd_module_runs_total")[("m", "S")] == 1
    assert ("m", "S") not in values(flow, "omd_module_runs_total")
    publish(flow)
    assert values(flow, "omd_module_runs_total")[("m", "S")] == 1


def test_who_publishes_is_seen_by_its_time(flow: Flow) -> None:
    assert values(flow, "omd_published_timestamp_seconds") == {}
    publish(flow)
    ((moment),) = values(flow, "omd_published_timestamp_seconds").values()
    assert abs(moment - time.time()) < 60


# The list, and the text --------------------------------------------------------------------------


def test_hostile_codes_come_out_as_they_are(flow: Flow) -> None:
    for code in HOSTILE:
        flow.batch(code)
        flow.end_batch(flow.begin_batch(code).id, "S")
    publish(flow)
    text = lines(flow)
    found = {
        dict(labels)["batch"]: value
        for (name, labels), value in read(text).items()
        if name == "omd_batch_runs_total" and ("status", "S") in labels
    }
    assert found == dict.fromkeys(HOSTILE, 1)
    if promtool := shutil.which("promtool"):
        check = [promtool, "check", "metrics"]
        done = subprocess.run(
            check, input="".join(f"{line}\n" for line in text), capture_output=True, text=True
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_each_series_has_the_labels_of_its_metric(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.run_batch("b", m="S")
    publish(flow)
    rows = flow.rows(
        "SELECT m.*, l.label_names FROM omd_report.metrics AS m"
        " INNER JOIN omd_event.metric AS l USING (metric_name)"
    )
    assert len({row["metric_name"] for row in rows}) > 10
    for row in rows:
        wanted = {*row["label_names"], *(["le"] if row["sample_name"].endswith("_bucket") else [])}
        assert row["labels"].keys() == wanted, row


def test_each_metric_of_the_list_is_made_somewhere_and_no_other(flow: Flow) -> None:
    listed = {r["metric_name"] for r in flow.rows("SELECT metric_name FROM omd_event.metric")}
    made = flow.one(
        "SELECT pg_get_viewdef('omd_report.metrics'::regclass)"
        " || pg_get_viewdef('omd_event.uncounted'::regclass)"
    )
    found = set(re.findall(r"'(omd_[a-z_]+?)(?:_bucket|_sum|_count)?'", made))
    assert found == listed


def test_lines_of_a_metric_stand_together_with_help_and_type_first(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.run_batch("b", m="S")
    publish(flow)
    kinds: dict[str, str] = {}
    current = ""
    for line in lines(flow):
        if match := re.match(r"# HELP (\S+) \S", line):
            assert match[1] not in kinds
            current = match[1]
        elif match := re.fullmatch(r"# TYPE (\S+) (counter|gauge|histogram)", line):
            assert match[1] == current
            kinds[current] = match[2]
        else:
            name = re.split(r"[ {]", line)[0]
            suffix = "(_bucket|_sum|_count)" if kinds[current] == "histogram" else ""
            assert re.fullmatch(current + suffix, name)


def test_the_command_prints_the_same_and_leaves_codes_out(
    flow: Flow, omd_here: Command, dsn: str
) -> None:
    flow.batch("secret", "m")
    flow.run_batch("secret", m="S")
    publish(flow)
    command = ("report", "metrics", "--output", "prometheus")
    done = omd_here(*command, dsn=dsn)
    assert done.returncode == 0
    assert 'omd_batch_runs_total{batch="secret",status="S"} 1\n' in done.stdout
    assert read(done.stdout.splitlines()).keys() == read(lines(flow)).keys()
    without = omd_here(*command, "--where", "is_per_code=false", dsn=dsn).stdout
    assert "secret" not in without
    assert "omd_runs_total{" in without
    assert "omd_batch_runs_total" not in without


def test_a_reader_reads_metrics_and_nobody_else(flow: Flow) -> None:
    flow.conn.execute("SET ROLE omd_reader")
    assert len(lines(flow)) > 50
    flow.conn.execute("RESET ROLE")
    flow.conn.execute("CREATE ROLE nobody_of_metrics")
    try:
        flow.conn.execute("SET ROLE nobody_of_metrics")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            lines(flow)
    finally:
        flow.conn.execute("RESET ROLE")
        flow.conn.execute("DROP ROLE nobody_of_metrics")


# What it costs -----------------------------------------------------------------------------------


def blocks(flow: Flow, view: str = "metrics") -> int:
    row = flow.rows(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) TABLE omd_report.{view}")[0]
    (plan,) = row["QUERY PLAN"]
    return int(plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"])


ENDED = """
    INSERT INTO omd.module_instance (
        module_id, start_datetime, end_datetime, execution_status_code, processing_indicator,
        next_run_indicator
    )
    SELECT m.module_id, now(), now(), 'S', 'P', 'P'
    FROM omd.module AS m CROSS JOIN generate_series(1, {runs}) AS n
    WHERE m.module_code <> 'alone'
"""


def test_metrics_read_no_run_that_has_ended(flow: Flow) -> None:
    for number in range(20):
        flow.module(f"m{number}")
    found = []
    for runs in (50, 5000):
        flow.owner(ENDED.format(runs=runs))
        flow.conn.execute("VACUUM ANALYZE omd.module_instance")
        blocks(flow)  # plans of functions and the catalog are read
        found.append(blocks(flow))
    assert found[1] <= 1.2 * found[0], found


def failed(flow: Flow) -> None:
    flow.call("note_failure", module_code="alone", detail="no", code="22012")


def given_up(flow: Flow) -> None:
    # Only what workers try again is given up; all else waits for a person from the first failure.
    flow.owner(
        "SELECT omd.set_module_kind(module_id, 'FACTS', 'POSTGRES') FROM omd.module"
        " WHERE module_code = 'alone'"
    )
    flow.call("register_module", module_code="alone", max_failures=1)
    failed(flow)


def failed_batch(flow: Flow) -> None:
    flow.run_batch("b", alone="F")


def not_run(flow: Flow) -> None:
    flow.call("register_batch", batch_code="b", frequency_code="Daily")


def lease_expired(flow: Flow) -> None:
    flow.call("begin_module", module_code="alone", lease="1 minute")
    flow.owner(
        "UPDATE omd.module_instance SET lease_expires_at = now() - interval '1 s'"
        " WHERE execution_status_code = 'E'"
    )


def rollback_pending(flow: Flow) -> None:
    run = flow.call("begin_module", module_code="alone")["module_instance_id"]
    flow.call("module_success", module_instance_id=run)
    flow.owner(
        "UPDATE omd.module_instance SET next_run_indicator = 'R' WHERE module_instance_id = %s", run
    )


def undone_read(flow: Flow) -> None:
    run = flow.call("begin_module", module_code="alone")["module_instance_id"]
    flow.call("module_success", module_instance_id=run)
    flow.owner(
        "INSERT INTO omd.undone_read (undone_instance_id, last_instance_id, noted_at, module_id,"
        " is_whole, has_positions, table_code, source_code, reader, way_out)"
        " SELECT 0, %s, now(), module_id, TRUE, FALSE, 'dwh.m0', 'dwh.m0', 'alone', 'CALL x()'"
        " FROM omd.module WHERE module_code = 'alone'",
        run,
    )


def rows_of_dead_run(flow: Flow) -> None:
    run = flow.call("begin_module", module_code="alone", lease="1 minute")["module_instance_id"]
    flow.owner(
        "INSERT INTO omd.left_rows (module_id, module_instance_id, row_count, found_datetime)"
        " SELECT module_id, %s, 1, now() FROM omd.module WHERE module_code = 'alone'",
        run,
    )


KINDS = {
    "LAST_RUN_FAILED": (failed, failed_batch),
    "GIVEN_UP": (given_up,),
    "NOT_RUN": (not_run,),
    "LEASE_EXPIRED": (lease_expired,),
    "ROLLBACK_PENDING": (rollback_pending,),
    "UNDONE_READ": (undone_read,),
    "ROWS_OF_DEAD_RUN": (rows_of_dead_run,),
}


def test_no_problem_that_stands_makes_a_look_grow_with_history(flow: Flow) -> None:
    for number in range(20):
        flow.module(f"m{number}")
    found: dict[tuple[str, str], list[int]] = {}
    for runs in (500, 14500):  # of 20 Modules: 10,000 and 300,000
        flow.owner(ENDED.format(runs=runs))
        if runs == 500:  # its runs are few
            flow.module("alone")
            flow.batch("b", "alone")
        flow.conn.execute("VACUUM ANALYZE omd.module_instance")
        for code, makers in KINDS.items():
            for make in makers:
                with flow.conn.transaction(force_rollback=True):
                    make(flow)
                    assert code in {
                        row["problem_code"] for row in flow.rows("TABLE omd_report.problems")
                    }, make
                    for view in ("metrics", "problems"):
                        blocks(flow, view)
                        found.setdefault((make.__name__, view), []).append(blocks(flow, view))
    assert {what: counts for what, counts in found.items() if counts[1] > 1.2 * counts[0]} == {}
