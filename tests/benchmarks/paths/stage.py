"""A run of a stage over ten rows."""

from __future__ import annotations

from bench.turns import Connection, Take, timed
from psycopg.types.json import Jsonb

CALLS, ROUNDS = 10, 40
STAGE = {
    "stage": "s",
    "ruleset": "r",
    "links": [{"name": "a", "source": "public.a", "arrival": "id"}],
    "outputs": [{"name": "o", "parameter": "out", "table": "public.decided"}],
}


def prepare(conn: Connection, size: float = 1) -> Take:
    conn.execute("CREATE TABLE public.a (id integer, k integer, n integer)")
    conn.execute("CREATE TABLE public.decided (k integer, omd_insert_module_instance_id bigint)")
    conn.execute("INSERT INTO public.a SELECT n, n, n FROM generate_series(1, 10) AS n")
    conn.execute(
        "CREATE FUNCTION public.rules(p jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS"
        """ $$BEGIN RETURN '{"out": [{"k": 1}]}'; END$$"""
    )
    ruleset = {"ruleset": "r", "kind": "FUNCTION", "content": "public.rules"}
    conn.execute("CALL omd_decision.define_ruleset(p_ruleset => %s)", (Jsonb(ruleset),))
    conn.execute("CALL omd_decision.activate_ruleset('r', 1)")
    conn.execute("CALL omd_decision.define_stage(%s)", (Jsonb(STAGE),))

    def run() -> None:
        assert conn.execute("CALL omd_decision.run_stage('s')").fetchone() is not None

    return timed(run)
