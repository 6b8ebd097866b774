"""The loads of the fault test: Subjects, their Modules, and the jobs that move the rows.

A Subject is a schema. Its table ``source`` is a log of changes; rows arrive in the order of their
``change_id``. One Batch moves them: STG (emptied by each load) -> HSTG (appended to) -> HUB, LINK
and a satellite with end-dating. There are three kinds:

snapshot  has a full copy in STG, from which HSTG takes its load window.
delta     takes the load window in STG; HSTG, its companion, appends what STG holds.
sql       is like snapshot, but the Modules are SQL and the Batch runs in the database.

All driver Batches also share one Module, ``m_region``. No target has a constraint: the checks must
find a doubled row, the table must not refuse it.
"""

from __future__ import annotations

import contextlib
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg

import omd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Job = Callable[["Load"], None]

LEASE = timedelta(seconds=1)
TABLES = ("stg", "hstg", "hub", "link", "sat")
AREAS = {
    "stg": ("STG", "STG"),
    "hstg": ("HSTG", "HSTG"),
    "hub": ("INT", "HUB"),
    "link": ("INT", "LINK"),
    "sat": ("INT", "SAT"),
}


@dataclass(frozen=True)
class Subject:
    name: str
    kind: str

    @property
    def batch(self) -> str:
        return f"b_{self.name}"

    def module(self, table: str) -> str:
        return f"m_{self.name}_{table}"


SUBJECTS = (Subject("snap", "snapshot"), Subject("delta", "delta"), Subject("sql", "sql"))
DRIVEN = [subject for subject in SUBJECTS if subject.kind != "sql"]

_DDL = """
CREATE TABLE {s}.source (
    change_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer text NOT NULL, region text NOT NULL, name text NOT NULL,
    -- Every change is a later version than all before it.
    changed_at timestamp NOT NULL GENERATED ALWAYS AS (
        timestamp '2020-01-01' + change_id * interval '1 second') STORED
);
CREATE TABLE {s}.stg (
    change_id bigint, customer text, region text, name text, changed_at timestamp,
    omd_insert_module_instance_id bigint);
CREATE TABLE {s}.hstg (LIKE {s}.stg);
CREATE TABLE {s}.hub (customer text, omd_insert_module_instance_id bigint);
CREATE TABLE {s}.link (customer text, region text, omd_insert_module_instance_id bigint);
CREATE TABLE {s}.sat (
    customer text, name text,
    omd_effective_date timestamp, omd_expiry_date timestamp, omd_current_record_indicator text,
    omd_insert_module_instance_id bigint, omd_update_module_instance_id bigint);
CREATE INDEX ON {s}.hstg (change_id);
CREATE INDEX ON {s}.sat (customer);
"""

# They load the slice ({lo}, {hi}]. {s} is the schema, {id} the Module Instance.
_SLICE = "change_id > {lo} AND change_id <= {hi}"
STATEMENTS = {
    "stg": """
        INSERT INTO {s}.stg SELECT s.*, {id} FROM {s}.source AS s WHERE """ + _SLICE,
    "hstg": """
        INSERT INTO {s}.hstg
        SELECT change_id, customer, region, name, changed_at, {id} FROM {s}.stg WHERE """ + _SLICE,
    "hub": """
        INSERT INTO {s}.hub
        SELECT DISTINCT h.customer, {id}::bigint FROM {s}.hstg AS h
        WHERE NOT EXISTS (SELECT FROM {s}.hub AS t WHERE t.customer = h.customer)
            AND h.customer >= {lo} AND h.customer < {hi}""",
    "link": """
        INSERT INTO {s}.link
        SELECT DISTINCT h.customer, h.region, {id}::bigint FROM {s}.hstg AS h
        WHERE NOT EXISTS (
                SELECT FROM {s}.link AS t WHERE (t.customer, t.region) = (h.customer, h.region))
            AND """ + _SLICE,
    "insert versions": """
        INSERT INTO {s}.sat
        SELECT customer, name, changed_at, lead(changed_at, 1, '9999-12-31') OVER following,
            CASE WHEN lead(changed_at) OVER following IS NULL THEN 'Y' ELSE 'N' END, {id}, NULL
        FROM {s}.hstg WHERE """ + _SLICE + """
        WINDOW following AS (PARTITION BY customer ORDER BY changed_at)""",
    "close versions": """
        UPDATE {s}.sat AS t SET
            omd_expiry_date = n.changed_at, omd_current_record_indicator = 'N',
            omd_update_module_instance_id = {id}
        FROM (
            SELECT customer, min(changed_at) AS changed_at FROM {s}.hstg
            WHERE """ + _SLICE + """ GROUP BY customer
        ) AS n
        WHERE t.customer = n.customer AND t.omd_current_record_indicator = 'Y'
            AND t.omd_effective_date < n.changed_at""",
    "region": """
        INSERT INTO shared.region
        SELECT region, {id}::bigint FROM ({sources}) AS s
        WHERE NOT EXISTS (SELECT FROM shared.region AS t WHERE t.region = s.region)""",
}  # fmt: skip
SOURCES = " UNION ".join(f"SELECT region FROM {s.name}.source" for s in DRIVEN)


def build(dsn: str) -> None:
    """Make tables and roles and register everything."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        for role, group in (("fault_runner", "omd_runner"), ("fault_admin", "omd_admin")):
            if not conn.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount:
                conn.execute(f"CREATE ROLE {role} LOGIN IN ROLE {group}")
        for schema in (*(subject.name for subject in SUBJECTS), "shared"):
            conn.execute(f"CREATE SCHEMA {schema} AUTHORIZATION fault_runner")
        conn.execute("SET ROLE fault_runner")
        conn.execute(
            "CREATE TABLE shared.region (region text, omd_insert_module_instance_id bigint)"
        )
        for subject in SUBJECTS:
            conn.execute(_DDL.format(s=subject.name))
            if subject.kind == "sql":
                conn.execute(_procedures(subject.name))
    with omd.connect(dsn) as control:
        control.calls.omd.register_module(
            "m_region", area_code="INT", table_code="shared.region", table_type_code="HUB"
        )
        for subject in SUBJECTS:
            control.calls.omd.register_batch(subject.batch, frequency_code="Continuous")
            for table in reversed(TABLES):  # a companion must be there first
                area, table_type = AREAS[table]
                is_companion = subject.kind == "delta" and table == "stg"
                control.calls.omd.register_module(
                    subject.module(table),
                    area_code=area,
                    table_code=f"{subject.name}.{table}",
                    table_type_code=table_type,
                    business_key_columns=["customer"] if table == "sat" else None,
                    companion_module_codes=[subject.module("hstg")] if is_companion else None,
                    executable=(
                        f"CALL {subject.name}.load_{table}()" if subject.kind == "sql" else None
                    ),
                )
                control.calls.omd.add_module_to_batch(
                    subject.batch, subject.module(table), sequence=TABLES.index(table)
                )
            if subject in DRIVEN:
                control.calls.omd.add_module_to_batch(subject.batch, "m_region", sequence=9)


def _procedures(s: str) -> str:
    """The jobs of the SQL Subject; each is one transaction, so no fence is needed."""

    def body(table: str, end: str | None, *statements: str) -> str:
        loads = ";\n".join(
            f"{one.format(s=s, id='v_id', lo='v_lo', hi='v_hi')}; PERFORM pg_sleep(random() * 0.1)"
            for one in statements
        )
        window = (
            f"SELECT coalesce(max(change_id), 0) INTO v_hi FROM {s}.{end};"
            "BEGIN CALL omd.create_load_window(v_id, p_end_id => v_hi, p_start_value => v_ignored,"
            " p_start_id => v_lo); EXCEPTION WHEN SQLSTATE 'OM010' THEN RETURN; END;"
            if end
            else ""
        )
        return f"""
            CREATE PROCEDURE {s}.load_{table}() LANGUAGE plpgsql AS $load$
            DECLARE v_id bigint := current_setting('omd.module_instance_id');
                v_lo {"text" if table == "hub" else "bigint"}
                    := '{"" if table == "hub" else "-1"}';
                v_hi {"text" if table == "hub" else "bigint"}
                    := '{"~" if table == "hub" else 2**62}';
                v_ignored timestamptz;
            BEGIN {window} {loads}; END $load$;"""

    return "".join(
        [
            body("stg", None, "TRUNCATE {s}.stg", STATEMENTS["stg"]),
            body("hstg", "stg", STATEMENTS["hstg"]),
            body("hub", None, STATEMENTS["hub"]),
            body("link", "hstg", STATEMENTS["link"]),
            body("sat", "hstg", STATEMENTS["close versions"], STATEMENTS["insert versions"]),
        ]
    )


def arrive(conn: psycopg.Connection[Any], rng: random.Random, count: int) -> None:
    """Add changes to every source, of known customers and sometimes of new ones."""
    for subject in SUBJECTS:
        copy = f"COPY {subject.name}.source (customer, region, name) FROM STDIN"
        with conn.cursor() as cursor, cursor.copy(copy) as rows:
            for _ in range(count):
                customer = rng.randrange(1000) if rng.random() < 0.05 else rng.randrange(30)
                region = rng.randrange(12)
                rows.write_row([f"c{customer:05}", f"r{region:02}", f"{rng.random():.12f}"])


class Load:
    """One Module Instance that executes, with a data connection of its own."""

    def __init__(self, subject: Subject, run: omd.Run, rng: random.Random, pace: float):
        self.subject, self.run, self.rng, self.pace = subject, run, rng, pace
        self.conn = psycopg.connect(
            run.dsn, application_name=f"{run._control._application_name}-data", autocommit=True
        )

    def window(self, end: int | None) -> tuple[int, int]:
        """Take the window up to `end`; it is empty if a rollback upstream has moved `end` back."""
        try:
            start = self.run._control.calls.omd.create_load_window(
                self.run.instance_id, end_id=end or 0
            ).start_id
        except omd.errors.lookup("OM010"):
            return 0, 0
        return max(start or 0, 0), end or 0

    def highest(self, table: str) -> int | None:
        query = f"SELECT max(change_id) FROM {self.subject.name}.{table}"
        return self.conn.execute(query).fetchone()[0]

    def slices(self, lo: int, hi: int) -> Iterator[tuple[int, int]]:
        """Return two to four parts, in order; each is a transaction."""
        cuts = sorted(self.rng.randint(lo, hi) for _ in range(self.rng.randint(1, 3)))
        yield from zip([lo, *cuts], [*cuts, hi], strict=True)

    def write(self, *statements: str, lo: Any = 0, hi: Any = 0) -> None:
        """Execute statements in a transaction with a fence, which every writer needs."""
        time.sleep(self.rng.random() * self.pace)
        with self.conn.transaction():
            for statement in statements:
                count = self.conn.execute(
                    STATEMENTS.get(statement, statement).format(
                        s=self.subject.name,
                        id=self.run.instance_id,
                        lo="%(lo)s",
                        hi="%(hi)s",
                        sources=SOURCES,
                    ),
                    {"lo": lo, "hi": hi},
                ).rowcount
                self.run.rows(inserted=max(count, 0))
            time.sleep(self.rng.random() * self.pace / 4)
            self.conn.execute("CALL omd.fence(%s)", [self.run.instance_id])


def load_stg(load: Load) -> None:
    end = load.highest("source")
    lo, hi = load.window(end) if load.subject.kind == "delta" else (0, end or 0)
    load.write(f"TRUNCATE {load.subject.name}.stg")
    for part in load.slices(lo, hi):
        load.write("stg", lo=part[0], hi=part[1])


def load_hstg(load: Load) -> None:
    hi = load.highest("stg") or 0
    lo, hi = (0, hi) if load.subject.kind == "delta" else load.window(hi)
    for part in load.slices(lo, hi):
        load.write("hstg", lo=part[0], hi=part[1])


def load_hub(load: Load) -> None:
    for part in (("", "c00010"), ("c00010", "c00025"), ("c00025", "~")):
        load.write("hub", lo=part[0], hi=part[1])


def load_link(load: Load) -> None:
    for part in load.slices(*load.window(load.highest("hstg"))):
        load.write("link", lo=part[0], hi=part[1])


def load_sat(load: Load) -> None:
    """Insert new versions and end-date old ones, in one of the orders that loaders use."""
    ways = [
        [["insert versions"], ["close versions"]],  # between the two a key has two open rows
        [["close versions"], ["insert versions"]],  # ... or none
        [["close versions", "insert versions"]],
        [["insert versions"], [STATEMENTS["close versions"].replace("= {id}", "= NULL")]],
    ]
    for part in load.slices(*load.window(load.highest("hstg"))):
        for statements in load.rng.choice(ways):
            load.write(*statements, lo=part[0], hi=part[1])


def load_region(load: Load) -> None:
    load.write("region")


JOBS: dict[str, Job] = {
    "stg": load_stg,
    "hstg": load_hstg,
    "hub": load_hub,
    "link": load_link,
    "sat": load_sat,
    "region": load_region,
}


def drive(
    dsn: str, subject: Subject, name: str, seed: str, pace: float, tell: Callable[[str], None]
) -> str:
    """Run the Batch of a Subject once and return its status; it is a driver's main program."""
    rng = random.Random(seed)
    with omd.connect(
        dsn, lease=LEASE, application_name=name, patience=timedelta(seconds=5)
    ) as control:
        if subject.kind == "sql" and pace and rng.random() < 0.3:  # without its Batch
            for table in TABLES:
                ran = control.calls.omd.run_module(subject.module(table))
                tell(f"{subject.module(table)} is {ran.execution_status_code.value}")
            return "S"
        if subject.kind == "sql":
            return control.calls.omd.run_batch(subject.batch).execution_status_code.value

        def load(table: str) -> None:
            code = "m_region" if table == "region" else subject.module(table)
            try:
                # A Module that could outlive its Batch, after a freeze, must not.
                with batch.module(code, lease=LEASE * rng.choice([1, 1, 1, 3])) as run:
                    tell(f"{code} {run.instance_id} begins, undid {run.instance_array}")
                    one = Load(subject, run, random.Random(rng.random()), pace)
                    with contextlib.closing(one.conn):
                        JOBS[table](one)
                        time.sleep(rng.random() * pace)  # all is written, but not reported
            except omd.errors.Skipped as skipped:
                tell(str(skipped))
            else:
                tell(f"{code} {run.instance_id} ended")

        try:
            with control.batch(subject.batch) as batch:
                tell(f"{subject.batch} {batch.instance_id} begins")
                load("stg")
                load("hstg")
                with ThreadPoolExecutor(3) as pool:
                    list(pool.map(load, ("hub", "link", "sat")))
                with contextlib.suppress(omd.errors.Aborted):  # the other driver runs it
                    load("region")
        except omd.errors.Skipped:
            return "C"
        except omd.errors.Aborted:
            return "A"
        return "S"
