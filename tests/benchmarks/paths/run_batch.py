"""``run_batch`` of a Batch of 100 Modules, each with one small INSERT as its executable."""

from __future__ import annotations

from bench.control import STAMP
from bench.turns import Connection, Take, timed

ROUNDS = 15


def prepare(conn: Connection, size: float = 1) -> Take:
    conn.execute("CALL omd.register_batch('many')")
    for n in range(max(5, round(100 * size))):
        insert = (
            f"INSERT INTO public.many{n}"
            " SELECT 'v', current_setting('omd.module_instance_id')::bigint"
        )
        conn.execute(f"CREATE TABLE public.many{n} (v text, {STAMP} bigint)".encode())
        conn.execute(
            "CALL omd.register_module(%s, 'HSTG', %s, p_executable => %s)",
            (f"many{n}", f"public.many{n}", insert),
        )
        conn.execute("CALL omd.add_module_to_batch('many', %s, %s)", (f"many{n}", n))
    conn.execute("VACUUM ANALYZE")

    def run() -> None:
        row = conn.execute("CALL omd.run_batch('many')").fetchone()
        assert row is not None and row[1] == "S", row

    return timed(run)
