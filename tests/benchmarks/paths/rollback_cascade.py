"""A begin that rolls back 10 rows to which others refer with ON DELETE CASCADE."""

from __future__ import annotations

from bench.control import STAMP, rolled_back
from bench.turns import Connection, Take

ROUNDS = 40


def prepare(conn: Connection, size: float = 1) -> Take:
    child = (
        "CREATE TABLE public.child (p bigint REFERENCES public.parent ON DELETE CASCADE,"
        f" {STAMP} bigint); CREATE INDEX ON public.child (p);"
        " INSERT INTO public.child SELECT n, 0 FROM public.parent"
    )
    return rolled_back(conn, "parent", 10, max(10, round(100_000 * size)), child)
