"""``omd web``, and what it shows."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from html import unescape

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


class Page:
    """``omd web`` as a process of its own, and a client that is logged in."""

    def __init__(self, dsn: str) -> None:
        command = [sys.executable, "-c", "from omd.programs.cli.main import main; main()", "web"]
        self._process = subprocess.Popen(
            [*command, "--dsn", dsn, "--port", "0", "--no-open"],
            stdin=subprocess.DEVNULL,
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
