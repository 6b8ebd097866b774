"""The page beside its queries: how soon a run is on the screen, and what it costs the database.

* ``live``: from the commit of begin_module to the row on the screen, in chromium on this machine.
  Bounds: half of 30 within 100 ms, none over 300 ms.
* ``get``: a screen against its queries, one after the other on one connection. Bound for ``/``: 2.
  For ``/grid`` and ``/graph`` of 300 nodes there is the figure that was measured first.
* ``preview``: against BEGIN, CALL and ROLLBACK of the same action. Bound: 5.
* ``tabs``: the statements that 100 tabs cause while 30 runs begin and end, against those of one.
  Bound: 1.5. With no tab there is none.
* ``assets``: what a browser loads once, compressed. Bound: 60 kB.

All figures are ratios of one run, taken in turns, as far as they are not those of a person. There
are 1,000 Modules in 100 Batches with ``--runs`` runs, ``--dead`` dead tasks, and a graph of 300
topics.

Run: ``python tests/benchmarks/web_page.py [--dsn …] [--runs N] [--dead N] [--only NAME]``. Without
a DSN it starts an embedded, durable server of its own in a temporary folder and removes it.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import importlib
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from html import unescape
from typing import Any

import psycopg
from bench.server import durable_server, new_database
from bench.dispatch import new_family
from bench.lineage import register
from psycopg.rows import dict_row

from omd.web import routes
from omd.web.assets import assets
from omd.web.person import Person, rights_of
from omd.web.reading import Reader
from omd.web.section import Asked

Connection = psycopg.Connection[dict[str, Any]]

MODULES = """
    INSERT INTO omd.module (
        module_code, area_code, table_code, platform_code, module_kind_code, engine_code
    )
    SELECT 'run' || n, 'INT', 'dwh.t' || n, 'POSTGRES', 'SQL', 'POSTGRES'
    FROM generate_series(1, 1000) AS n;
    INSERT INTO omd.batch (batch_code, frequency_code)
    SELECT 'batch' || n, 'Daily' FROM generate_series(1, 100) AS n;
    INSERT INTO omd.batch_module (batch_id, module_id, sequence)
    SELECT b.batch_id, m.module_id, m.module_id
    FROM omd.module AS m
    INNER JOIN omd.batch AS b
        ON b.batch_code = 'batch' || 1 + substr(m.module_code, 4)::integer % 100
    WHERE m.module_code LIKE 'run%';
"""

# The newest of them began a moment ago, the others one after the other before.
RUNS = """
    INSERT INTO omd.batch_instance (
        batch_id, start_datetime, end_datetime, execution_status_code, processing_indicator,
        next_run_indicator
    )
    SELECT b.batch_id, t.at, t.at + interval '1 minute', 'S', 'P', 'P'
    FROM generate_series(1, {runs} / 1000) AS n
    CROSS JOIN LATERAL (SELECT now() - ({runs} / 1000 - n) * interval '6 hours' AS at) AS t
    CROSS JOIN omd.batch AS b;
    INSERT INTO omd.module_instance (
        module_id, batch_instance_id, start_datetime, end_datetime, execution_status_code,
        processing_indicator, next_run_indicator
    )
    SELECT
        m.module_id, bi.batch_instance_id, bi.start_datetime, bi.end_datetime,
        CASE WHEN m.module_id % 500 = 0 THEN 'F' ELSE 'S' END, 'P', 'P'
    FROM omd.batch_instance AS bi
    INNER JOIN omd.batch_module AS m USING (batch_id)
    ORDER BY bi.batch_instance_id;
"""

DEAD = """
    INSERT INTO omd_dispatch.task_data_f (
        task_id, partition_code, task_type, lane, priority, execution_time, status, attempt,
        created_at, finished_at, outcome, error, func_code
    )
    SELECT
        nextval('omd_dispatch.task_id'), n % 2, 'T', 'GF', 5, now(), 'DEAD', 3, now(), now(), 'F',
        'ValueError: no such row', n::text
    FROM generate_series(1, {dead}) AS n
"""

# Notes when a text came, after the browser has painted it.
NOTE = """() => {
    window.painted = {};
    new MutationObserver(() => {
        for (const link of document.querySelectorAll('#running tr a')) {
            const text = link.textContent;
            if (text in window.painted) continue;
            window.painted[text] = null;
            requestAnimationFrame(() => setTimeout(() => {
                window.painted[text] = Date.now() / 1000;
            }));
        }
    }).observe(document.body, {subtree: true, childList: true});
}"""


class Page:
    """``omd web`` as a process of its own, and a client that is logged in."""

    def __init__(self, dsn: str) -> None:
        command = [sys.executable, "-c", "from omd.cli.main import main; main()", "web"]
        self._process = subprocess.Popen(
            [*command, "--dsn", dsn, "--port", "0", "--no-open"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        link = self._process.stdout.readline().strip()
        self.origin, _, path = link.partition("/?")
        self.port = int(self.origin.rpartition(":")[2])
        answer = self._asked(f"/?{path}", {})
        self.cookie = answer.headers["Set-Cookie"].split(";")[0]

    def _asked(self, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert answer.status in (200, 303), (path, answer.status, answer.read())
        return answer

    def get(self, path: str) -> str:
        """Return a page."""
        with closing(self._asked(path, {"Cookie": self.cookie})) as answer:
            return answer.read().decode()

    def streams(self, path: str, tabs: int) -> Iterator[http.client.HTTPResponse]:
        """Open the stream of a page, as so many tabs do."""
        found = re.search(r'hx-sse:connect="([^"]*)"', self.get(path))
        assert found
        for _ in range(tabs):
            yield self._asked(unescape(found[1]), {"Cookie": self.cookie})

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(10)


def prepare(server: str, runs: int, dead: int) -> str:
    dsn = new_database(server, "bench_page")
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
        with conn.transaction():
            conn.execute("SET LOCAL session_replication_role = replica")
            conn.execute(MODULES.encode())
            conn.execute(RUNS.format(runs=runs).encode())
        with psycopg.connect(dsn, autocommit=True) as other:
            register(other, 300)
            new_family(other, "F", "{}")
        conn.execute(DEAD.format(dead=dead).encode())
        conn.execute("VACUUM (ANALYZE)")
        conn.execute("CHECKPOINT")
    return dsn


def milliseconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def in_turns(rounds: int, *calls: Callable[[], Any]) -> list[float]:
    """Return the median milliseconds of each call."""
    took: list[list[float]] = [[] for _ in calls]
    for n in range(rounds + 2):
        for call, found in zip(calls, took, strict=True):
            found.append(milliseconds(call))
            if n < 2:
                found.clear()
    return [statistics.median(found) for found in took]


def begun(conn: Connection, code: str) -> int:
    row = conn.execute("CALL omd.begin_module(p_module_code => %s)", [code]).fetchone()
    assert row is not None
    assert row["p_processing_indicator"] == "P", row
    return int(row["p_module_instance_id"])


def ended(conn: Connection, run: int) -> None:
    conn.execute("CALL omd.module_success(p_module_instance_id => %s)", [run])


def measure_live(dsn: str) -> None:
    from playwright.sync_api import sync_playwright

    with (
        closing(Page(dsn)) as page,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
        sync_playwright() as playwright,
    ):
        ended(conn, begun(conn, "run999"))  # the session has its plans
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium")
        context = browser.new_context()
        name, _, value = page.cookie.partition("=")
        context.add_cookies([{"name": name, "value": value, "url": page.origin}])
        tab = context.new_page()
        tab.goto(f"{page.origin}/")
        tab.wait_for_selector("body[data-live=on]", state="attached")
        tab.evaluate(NOTE)
        took = []
        for n in range(1, 31):
            tab.wait_for_timeout(1500)  # the watches have rested
            run = begun(conn, f"run{n}")
            committed = time.time()
            painted = tab.wait_for_function("(code) => window.painted[code]", arg=f"run{n}")
            took.append(1000 * (painted.json_value() - committed))
            ended(conn, run)
        browser.close()
    print(
        f"live: from the commit to the row on the screen p50 {statistics.median(took):.0f} ms"
        f" (bound 100), the longest of 30 {max(took):.0f} ms (bound 300)",
        flush=True,
    )


def queries_of(path: str, dsn: str) -> list[bytes]:
    """Return what a screen reads, with its values."""
    reader = Reader(dsn)
    with psycopg.connect(dsn) as conn:
        user = conn.info.user
    person = Person(user, reader.opened)
    person.rights = rights_of(user, reader.read)
    plain, _, text = path.partition("?")
    query = dict(part.split("=") for part in text.split("&") if part)
    shown = routes.screen_of(routes.pieces_of(plain.encode()), query)
    assert shown is not None, path
    function = importlib.import_module(f"omd.web.screens.{shown[0]}").screen
    screen = function(Asked(shown[1], query, person, reader.read))
    found = [select.sent.encode() for section in screen.sections for select in section.selects]
    reader.close()
    return found


def measure_get(dsn: str) -> None:
    with closing(Page(dsn)) as page, psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SET ROLE omd_reader")
        for path, bound in (("/", " (bound 2)"), ("/grid", ""), ("/graph", "")):
            queries = queries_of(path, dsn)

            def read(queries: list[bytes] = queries) -> None:
                for query in queries:
                    conn.execute(query).fetchall()

            def get(path: str = path) -> None:
                page.get(path)

            alone, whole = in_turns(9, read, get)
            size = len(page.get(path)) // 1000
            print(
                f"get: {path}: its {len(queries)} queries {alone:.1f} ms, the page of {size} kB"
                f" {whole:.1f} ms: {whole / alone:.2f} times{bound}",
                flush=True,
            )


def measure_preview(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
        row = conn.execute(
            "SELECT t.task_id::text AS task FROM omd_dispatch.task_data_f AS t LIMIT 1"
        ).fetchone()
        assert row is not None
        actions = (
            ("DEACTIVATE", "run1"),
            ("SET_PARAMETER", "run1"),
            ("REVIVE_TASK", row["task"]),
        )
        given = {"SET_PARAMETER": '{"p_parameter_code": "p", "p_parameter_value": "v"}'}
        for action, key in actions:
            asked = given.get(action, "{}")
            shown = conn.execute(
                "SELECT omd_web.statement(%s, %s, %s) AS text", [action, key, asked]
            ).fetchone()
            assert shown is not None
            call = next(line for line in shown["text"].splitlines() if line.startswith("CALL"))

            def tried(call: str = call) -> None:
                conn.execute("BEGIN")
                conn.execute(call.encode())
                conn.execute("ROLLBACK")

            def preview(action: str = action, key: str = key, asked: str = asked) -> None:
                found = conn.execute(
                    "SELECT outcome FROM omd_web.preview(%s, %s, %s)", [action, key, asked]
                ).fetchone()
                assert found == {"outcome": "DONE"}, found

            alone, whole = in_turns(15, tried, preview)
            print(
                f"preview: {action}: BEGIN, CALL, ROLLBACK {alone:.2f} ms, the preview"
                f" {whole:.2f} ms: {whole / alone:.1f} times (bound 5)",
                flush=True,
            )


@contextmanager
def opened(page: Page, tabs: int) -> Iterator[None]:
    with ExitStack() as stack:
        for stream in page.streams("/", tabs):
            stack.enter_context(closing(stream))
        yield


def executed(dsn: str, server: str, tabs: int) -> int:
    """Return how many transactions there are while 30 runs begin and end before some tabs."""
    with psycopg.connect(server, autocommit=True, row_factory=dict_row) as watch:
        name = psycopg.conninfo.conninfo_to_dict(dsn)["dbname"]
        count = "SELECT pg_stat_get_db_xact_commit(oid) AS n FROM pg_database WHERE datname = %s"

        def committed() -> int:
            row = watch.execute(count, [name]).fetchone()
            assert row is not None
            return int(row["n"])

        with closing(Page(dsn)) as page, opened(page, tabs):
            time.sleep(3)
            before = committed()
            with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
                for n in range(30):
                    ended(conn, begun(conn, f"run{n + 100}"))
                    time.sleep(0.4)
        time.sleep(1)
        return committed() - before


def measure_tabs(dsn: str, server: str) -> None:
    runs = executed(dsn, server, 0)
    one = executed(dsn, server, 1) - runs
    hundred = executed(dsn, server, 100) - runs
    print(
        f"tabs: 30 runs {runs} transactions; one tab {one} more, 100 tabs {hundred}:"
        f" {hundred / one:.2f} times (bound 1.5)",
        flush=True,
    )
    with (
        closing(Page(dsn)) as page,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
    ):
        with opened(page, 3):
            time.sleep(3)
        time.sleep(1)
        asks = (
            "SELECT pid, query_start FROM pg_stat_activity"
            " WHERE application_name = 'omd web' AND datname = current_database() ORDER BY pid"
        )
        before = conn.execute(asks).fetchall()
        for n in range(10):
            ended(conn, begun(conn, f"run{n + 200}"))
            time.sleep(0.4)
        is_silent = conn.execute(asks).fetchall() == before
    said = "executes nothing" if is_silent else "EXECUTES SOMETHING"
    print(f"tabs: with no tab, the page {said} ({len(before)} connections)", flush=True)


def measure_assets() -> None:
    sizes = {name: len(gzip.compress(asset.content, 9)) for name, asset in assets().items()}
    listed = ", ".join(f"{name} {size / 1000:.1f}" for name, size in sizes.items())
    print(f"assets: {sum(sizes.values()) / 1000:.1f} kB (bound 60): {listed}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dsn", help="a server where databases may be created")
    parser.add_argument("--runs", type=int, default=2_000_000)
    parser.add_argument("--dead", type=int, default=1_000_000)
    parser.add_argument("--only", help="assets, get, preview, tabs or live")
    given = parser.parse_args()

    def wanted(name: str) -> bool:
        return given.only in (None, name)

    if wanted("assets"):
        measure_assets()
    if given.only == "assets":
        return
    with durable_server(given.dsn) as server:
        dsn = prepare(server, given.runs, given.dead)
        if wanted("get"):
            measure_get(dsn)
        if wanted("preview"):
            measure_preview(dsn)
        if wanted("tabs"):
            measure_tabs(dsn, server)
        if wanted("live"):
            measure_live(dsn)


if __name__ == "__main__":
    main()
