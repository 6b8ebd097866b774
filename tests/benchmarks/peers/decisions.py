"""Decision beside what people would write themselves: each figure is a ratio of one run.

In the database, over three links (5, 2.5 and 1 records a key, 200,000 keys):

* ``cycles``: ``omd_decision.cycles`` against a PL/pgSQL loop over one ordered cursor of the same
  records as JSON that counts keys. Bound: 3 times; the same with rejects in every hundredth place
  (``rejects``), and where the third link is no array (``single``).
* ``run``: ``run_stage`` with a ruleset that counts its arrays, keep NONE, against ``cycles``.
  Bound: 2 times.

On Spark, over a million records of the primary link, half of it and one record a key of the others,
10 a key but a tenth of them with one key; a whole run of a stage, with its begin, its rows in
PostgreSQL and its end, against the same function in a job that only counts what comes out:

* ``two``: two links against ``cogroup.applyInPandas``. Bound: 5 times faster.
* ``three``: three links against union with ``groupBy.applyInPandas``. Bound: 5 times faster.
* ``thousand``: ``two`` and ``three`` with 1,000 records a key. Bound: 1.3 times faster.
* ``ten``: ten million records against one million. Bound: 12 times.
* ``memory``: the most memory of a Python worker with a million records of a link that is no array
  on one key, against that with 100,000. Bound: 1.2 times.
* ``jdm``: the operator on one core, without Spark, with the decision table of care.json
  and ten flights a call, against ``ZenEngine.evaluate`` by key in a bare loop over the same calls.
  Bound: 0.7 times as fast.

The peers do not sort the records of a key, as a job must that promises their order. All have the
same records in Parquet, the same JVM, the same number of partitions (which the adaptive planner may
not merge) and the same Arrow batches.

What is compared is measured in turns, ``--rounds`` times; a ratio is that of the medians. On Spark
as many rounds beside the peers come first, which do not count: a JVM is slow until then. It is
processor time, which other programs of a shared machine disturb least: of the backend in the
database; on Spark of the driver, its JVM and the Python workers, beside the elapsed time. The time
of PostgreSQL on Spark's behalf is in the elapsed time only. It needs Linux (/proc).

Run: ``python tests/benchmarks/peers/decisions.py [--only two three …] [--scale 1] [--rounds 3]``;
``--scale 0.1`` takes a tenth of the records. Without ``--dsn`` it starts an embedded, durable
server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.peers import SIDES
from bench.server import a_server, new_database

sys.path.append(str(SIDES))

import decision_rules

import omd

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

Connection = psycopg.Connection[Any]

PARTITIONS = 8
CORES = 2
_TICK = os.sysconf("SC_CLK_TCK")


def spent(pid: int) -> float:
    """Return the processor seconds of a process and of its children that have ended."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, stat[11:15])) / _TICK


def spent_by_all(pid: int) -> float:
    """Return the processor seconds of a process and of all that it has started."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    found = [int(child) for path in children for child in path.read_text().split()]
    return spent(pid) + sum(spent_by_all(child) for child in found)


def report(
    what: str, ratio: float, bound: float, *, at_least: bool = False, more: str = ""
) -> None:
    """Print a ratio beside its bound."""
    holds = ratio >= bound if at_least else ratio <= bound
    word = "at least" if at_least else "at most"
    verdict = "ok" if holds else "MISSED"
    print(f"{what:28} {ratio:8.2f} times ({word} {bound:g}) {verdict}{more}", flush=True)


# The database -----------------------------------------------------------------------------------

LOOP = """
    DO $$
    DECLARE
        r record;
        v_last integer;
        v_keys integer := 0;
    BEGIN
        FOR r IN
            SELECT u.* FROM (
                SELECT k, 1 AS l, id{record} FROM app.l1 AS s
                UNION ALL SELECT k, 2, id{record} FROM app.l2 AS s
                UNION ALL SELECT k, 3, id{record} FROM app.l3 AS s
            ) AS u
            ORDER BY u.k, u.l, u.id
        LOOP
            IF r.k IS DISTINCT FROM v_last THEN
                v_keys := v_keys + 1;
                v_last := r.k;
            END IF;
        END LOOP;
    END
    $$
"""


def stage(code: str, ruleset: str, links: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a stage that groups links by k and may reject anything."""
    return {
        "stage": code,
        "mode": "KEY",
        "keys": [{"column": "k"}],
        "ruleset": ruleset,
        "keep": "NONE",
        "max_array_rows": 10_000_000,
        "links": [
            {"arrival": "id", "reject": {"on": ["LEFTOVER", "KEY_MISMATCH"]}, **link}
            for link in links
        ],
        "outputs": [{"name": "out", "table": "app.out"}],
    }


def prepare(conn: Connection, keys: int) -> None:
    """Create the links, in no order of their keys, the ruleset and the stages."""
    for link, rows, value in (
        (1, 5 * keys, "'v' || g"),
        (2, 5 * keys // 2, "g * 1.5"),
        (3, keys, "g"),
    ):
        conn.execute(
            f"CREATE TABLE app.l{link} AS SELECT g::bigint AS id,"
            f" ((g::bigint * 7919) % {keys})::integer AS k, {value} AS v"
            f" FROM generate_series(1, {rows}) AS g; ANALYZE app.l{link}".encode()
        )
    conn.execute(
        "CREATE TABLE app.l4 AS SELECT id, CASE WHEN id % 100 = 0 THEN -k ELSE k END AS k, v"
        " FROM app.l2; ANALYZE app.l4;"
        "CREATE FUNCTION app.count_arrays(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$"
        "SELECT jsonb_build_object('out', jsonb_build_object("
        "'records', jsonb_array_length(p -> 'l1'), 'amount', jsonb_array_length(p -> 'l2'))) $$"
    )
    define_ruleset(conn, "counts", "FUNCTION", "app.count_arrays")
    for code, second, third in (("all", 2, True), ("single", 2, False), ("rejects", 4, True)):
        sources = ((1, 1, True), (2, second, True), (3, 3, third))
        links = [
            {"name": f"l{n}", "source": f"app.l{source}", "array": array}
            for n, source, array in sources
        ]
        define_stage(conn, stage(code, "counts", links))


def define_ruleset(conn: Connection, code: str, kind: str, content: object) -> None:
    """Define a ruleset and activate it."""
    document = {"ruleset": code, "kind": kind, "content": content}
    conn.execute("CALL omd_decision.define_ruleset(%s, p_activate => TRUE)", [Jsonb(document)])


def define_stage(conn: Connection, document: Mapping[str, Any]) -> None:
    """Define a stage."""
    conn.execute("CALL omd_decision.define_stage(%s)", [Jsonb(document)])


def database(bench: Bench) -> None:
    """Measure cycles, and a run of a stage in the database."""
    conn = bench.conn
    prepare(conn, round(200_000 * bench.scale))
    statements = {
        "loop": LOOP.format(record=", to_jsonb(s) AS record"),
        "bare loop": LOOP.format(record=""),
        **{
            name: f"SELECT count(*), count(params) FROM omd_decision.cycles('{name}')"
            for name in ("all", "single", "rejects")
        },
        "run": "CALL omd_decision.run_stage('all')",
    }
    found: dict[str, list[float]] = defaultdict(list)
    for _ in range(bench.rounds):
        for name, statement in statements.items():
            conn.execute("TRUNCATE app.out")
            before = spent(conn.info.backend_pid)
            conn.execute(statement.encode())
            found[name].append(spent(conn.info.backend_pid) - before)
    # What took less than a tick of the clock counts as one.
    took = {name: max(statistics.median(times), 1 / _TICK) for name, times in found.items()}
    print("".join(f"{name}: {seconds:.2f} s  " for name, seconds in took.items()))
    bare = took["all"] / took["bare loop"]
    report("cycles", took["all"] / took["loop"], 3, more=f"; {bare:.2f} that of one without JSON")
    report("cycles with rejects", took["rejects"] / took["loop"], 3)
    report("cycles, third no array", took["single"] / took["loop"], 3)
    report("run_stage against cycles", took["run"] / took["all"], 2)


# Spark ------------------------------------------------------------------------------------------


class Bench:
    """What the measures share: a database, and a session of Spark where one asks for it."""

    def __init__(self, stack: ExitStack, given: argparse.Namespace) -> None:
        self.scale: float = given.scale
        self.rounds: int = given.rounds
        self._stack = stack
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="omd-bench-")))
        server = stack.enter_context(a_server(given.dsn))
        self.dsn = new_database(server, "omd_bench_decision")
        self.conn = stack.enter_context(psycopg.connect(self.dsn, autocommit=True))
        self.conn.execute("SET client_min_messages = error; CREATE SCHEMA app")
        self.conn.execute(
            "CREATE TABLE app.out (records bigint, amount double precision,"
            " omd_insert_module_instance_id bigint)"
        )
        define_ruleset(self.conn, "count", "PYTHON", "decision_rules:count")
        define_ruleset(self.conn, "weigh", "PYTHON", "decision_rules:weigh")
        self._spark: SparkSession | None = None

    @property
    def spark(self) -> SparkSession:
        """The session; its workers find the rules, and say there how much memory they hold."""
        if self._spark is None:
            import omd.spark

            path = os.environ.get("PYTHONPATH")
            os.environ["PYTHONPATH"] = f"{SIDES}{os.pathsep}{path}" if path else str(SIDES)
            os.environ[decision_rules.MEMORY] = str(self.folder)
            self._spark = omd.spark.session(
                f"local[{CORES}]",
                {
                    "spark.driver.memory": "6g",
                    "spark.sql.session.timeZone": "UTC",
                    "spark.sql.shuffle.partitions": str(PARTITIONS),
                    "spark.sql.adaptive.coalescePartitions.enabled": "false",
                    "spark.local.dir": str(self.folder),
                    "spark.ui.enabled": "false",
                    "spark.log.level": "ERROR",
                },
            )
            self._stack.callback(self._spark.stop)
        return self._spark

    def links(self, rows: int, of_a_key: int) -> dict[str, DataFrame]:
        """Return three links, of which a tenth has the key 0, from files of Parquet."""
        frames = {}
        keys = max(rows * 9 // 10 // of_a_key, 1)
        for name, number, a_key in (
            ("l1", rows, of_a_key),
            ("l2", rows // 2, max(of_a_key // 2, 1)),
            ("l3", keys + 1, 0),
        ):
            path = self.folder / f"{name}-{rows}-{of_a_key}.parquet"
            key = "id"
            if a_key:
                rest = f"1 + (id - id div 10 - 1) * 7919 % {keys}"
                key = f"CASE WHEN id % 10 = 0 THEN 0 ELSE {rest} END"
            if not path.exists():
                self.spark.range(number).selectExpr(
                    f"cast({key} AS int) AS k",
                    "id",
                    "concat('record ', id) AS v",
                    "id % 1000 / 4 AS amount",
                ).repartition(CORES * 2).write.parquet(str(path))
            frames[name] = self.spark.read.parquet(str(path))
        return frames

    def stage_run(
        self, code: str, links: Mapping[str, DataFrame], ruleset: str = "count", **options: Any
    ) -> Callable[[], tuple[int, float]]:
        """Define a stage over links; return what runs it and sums its output."""
        arrays = options.pop("arrays", True)
        define_stage(
            self.conn,
            stage(
                code,
                ruleset,
                [{"name": n, "array": arrays or n == "l1"} for n in links],
            ),
        )

        def run() -> tuple[int, float]:
            self.conn.execute("TRUNCATE app.out")
            with omd.connect(self.dsn) as control:
                outcome = control.decision.run(
                    code, spark=self.spark, links=links, parallelism=PARTITIONS, **options
                )
            assert outcome.succeeded, outcome
            row = self.conn.execute("SELECT sum(records), sum(amount) FROM app.out").fetchone()
            assert row is not None
            return row[0], row[1]

        return run

    def compare(self, sides: Mapping[str, Callable[[], Any]]) -> dict[str, tuple[float, float]]:
        """Measure sides in turns; return the medians of processor and elapsed seconds of each."""
        found: dict[str, list[tuple[float, float]]] = defaultdict(list)
        answers: dict[str, Any] = {}
        for _ in range(self.rounds):
            for name, side in sides.items():
                start, before = time.perf_counter(), spent_by_all(os.getpid())
                answers[name] = side()
                seconds = time.perf_counter() - start
                found[name].append((spent_by_all(os.getpid()) - before, seconds))
        assert len({*answers.values()}) == 1, answers
        took = {
            name: (statistics.median(t[0] for t in times), statistics.median(t[1] for t in times))
            for name, times in found.items()
        }
        told = (f"{name}: {cpu:.1f} s, {real:.1f} s elapsed" for name, (cpu, real) in took.items())
        print("; ".join(told), flush=True)
        return took


OUT = "records long, amount double"


def of_pandas(**frames: pd.DataFrame) -> pd.DataFrame:
    """Call the rules with the records of one key, and return their answer."""
    import pandas as pd

    call = {
        name: [
            dict(zip(frame.columns, row, strict=True))
            for row in zip(*(frame[column].tolist() for column in frame.columns), strict=True)
        ]
        for name, frame in frames.items()
    }
    [answer] = decision_rules.count([call])
    return pd.DataFrame([answer["out"]])


def cogrouped(links: Mapping[str, DataFrame]) -> DataFrame:
    """Return the answers for two links, by a cogroup."""
    first, second = (frame.groupBy("k") for frame in links.values())
    return first.cogroup(second).applyInPandas(lambda a, b: of_pandas(l1=a, l2=b), OUT)


def united(links: Mapping[str, DataFrame]) -> DataFrame:
    """Return the answers for any number of links, by their union."""
    from functools import reduce

    from pyspark.sql import functions as F  # noqa: N812

    names = list(links)
    frames = [frame.withColumn("link", F.lit(n)) for n, frame in enumerate(links.values())]

    def call(frame: pd.DataFrame) -> pd.DataFrame:
        of = {n: part.drop(columns="link") for n, part in frame.groupby("link")}
        return of_pandas(**{name: of.get(n, frame[:0]) for n, name in enumerate(names)})

    return reduce(lambda a, b: a.unionByName(b), frames).groupBy("k").applyInPandas(call, OUT)


def summed(frame: DataFrame) -> Callable[[], tuple[int, float]]:
    """Return what computes a frame and sums it."""
    return lambda: tuple(frame.selectExpr("sum(records)", "sum(amount)").head() or ())


def beside(bench: Bench, title: str, number: int, of_a_key: int, bound: float) -> None:
    """Measure a run over links against the peer that fits their number."""
    rows = round(1_000_000 * bench.scale)
    peer = cogrouped if number == 2 else united

    def sides(rows: int, code: str) -> dict[str, Callable[[], Any]]:
        found = dict(list(bench.links(rows, of_a_key).items())[:number])
        return {"omd": bench.stage_run(code, found), peer.__name__: summed(peer(found))}

    # The JVM compiles what it runs often, for the longer part of a minute.
    bench.compare(sides(rows, f"warm_{title}"))
    print("that was to warm up")
    took = bench.compare(sides(rows, title))
    (cpu, real), (peer_cpu, peer_real) = took["omd"], took[peer.__name__]
    report(
        f"{number} links, {of_a_key} a key",
        peer_cpu / cpu,
        bound,
        at_least=True,
        more=f"; {peer_real / real:.2f} elapsed",
    )


def two(bench: Bench) -> None:
    """Measure two links."""
    beside(bench, "two", 2, 10, 5)


def three(bench: Bench) -> None:
    """Measure three links."""
    beside(bench, "three", 3, 10, 5)


def thousand(bench: Bench) -> None:
    """Measure keys with many records."""
    beside(bench, "two_thousand", 2, 1000, 1.3)
    beside(bench, "three_thousand", 3, 1000, 1.3)


def ten(bench: Bench) -> None:
    """Measure ten times as many records."""
    rows = round(1_000_000 * bench.scale)
    bench.stage_run("warm_ten", bench.links(rows // 5, 10))()
    sides = {}
    for times in (1, 10):
        run = bench.stage_run(f"times_{times}", bench.links(times * rows, 10))
        sides[f"{times} M"] = lambda run=run: bool(run())  # the answers differ
    took = bench.compare(sides)
    (cpu, real), (ten_cpu, ten_real) = took.values()
    report("ten times the records", ten_cpu / cpu, 12, more=f"; {ten_real / real:.2f} elapsed")


def memory(bench: Bench) -> None:
    """Measure the memory of a worker with more and more records on one key."""
    most = []
    for rows in (100_000, 1_000_000):
        key, number = "cast(0 AS int) AS k", round(rows * bench.scale)
        frame = bench.spark.range(number).selectExpr(
            key, "id", "concat('record ', id) AS v", "id % 1000 / 4 AS amount"
        )
        links = {"l1": frame.limit(1), "l2": frame}
        for path in bench.folder.glob("[0-9]*"):
            path.unlink()
        bench.stage_run(f"memory_{rows}", links, "weigh", arrays=False)()
        most.append(max(int(path.read_text()) for path in bench.folder.glob("[0-9]*")))
        print(f"{number:,} records: {most[-1] / 1024:.0f} MB")
    report("memory of a worker", most[1] / most[0], 1.2)


def jdm(bench: Bench) -> None:
    """Measure calls of a decision model."""
    import pyarrow as pa
    import zen

    from omd.rooms.decision.rules import answers_of
    from omd.spark.decision import operator

    model = json.loads(Path(__file__).with_name("care.json").read_text(encoding="utf-8"))
    keys = round(20_000 * bench.scale)
    hour = {"month": 1, "origin": "EWR", "hour": "2013-01-01T10:00:00+00:00"}
    calls = [
        {
            "flights": [
                {"id": n, **hour, "carrier": "UA", "flight": n, "dest": "IAH"}
                | {"distance": 1400 + key % 300, "delay": (key * 7 + n * 31) % 240 - 20}
                for n in range(key * 10, key * 10 + 10)
            ],
            "weather": [{"id": key, **hour, "wind_speed": key % 40, "visib": 10}],
        }
        for key in range(keys)
    ]
    records = [
        ("", f"{key:016x}", link, record["id"], json.dumps(record))
        for key, call in enumerate(calls)
        for link, records in enumerate(call.values(), start=1)
        for record in records
    ]
    columns = dict(zip(operator.RECORDS.names, zip(*records, strict=True), strict=True))
    batches = pa.table(columns, schema=operator.RECORDS).to_batches(max_chunksize=10_000)
    shape = operator.Shape(
        stage="jdm",
        ruleset="care",
        is_key=True,
        size=0,
        most=100_000,
        wave=None,
        keys=("origin", "hour"),
        links=tuple(
            operator.LinkShape(number, name, name, is_array=True)
            for number, name in enumerate(calls[0], start=1)
        ),
        keeps_inputs=False,
        params=frozenset(),
    )
    answers = answers_of("JDM", model)
    engine: Any = zen.ZenEngine({"loader": {"type": "static", "content": {"model": model}}})
    texts = [json.dumps(call).encode() for call in calls]
    del records, columns, calls

    def decide() -> int:
        found = operator.decided(shape, answers, batches)
        return sum(batch.column("kind").to_pylist().count(operator.CALL) for batch in found)

    def loop() -> int:
        for text in texts:
            engine.evaluate("model", text)
        return len(texts)

    took = bench.compare({"omd": decide, "bare loop": loop})
    bare = took["bare loop"][0]
    more = f"; {keys / bare:,.0f} calls a second in the bare loop"
    report("JDM per core", bare / took["omd"][0], 0.7, at_least=True, more=more)


# The memory comes first: a worker that has made other calls has held more.
FIGURES = {figure.__name__: figure for figure in (database, memory, two, three, thousand, ten, jdm)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--dsn", help="a server to measure on, as a superuser")
    parser.add_argument("--only", nargs="*", choices=FIGURES, default=list(FIGURES))
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with ExitStack() as stack:
        bench = Bench(stack, given)
        print(f"load of the machine: {os.getloadavg()[0]:.1f}; first number: processor time")
        for name in given.only:
            print(f"-- {name}", flush=True)
            FIGURES[name](bench)


if __name__ == "__main__":
    main()
