"""One side of ``before.py``: a path in a database, which is taken when standard input says so.

The packages are those of the revision whose driver stands in PYTHONPATH. Arguments: the path, its
size, the database. Each line is a number of calls; the answer is the seconds that count.
"""

from __future__ import annotations

import os
import sys

import psycopg
from bench import paths


def main() -> None:
    name, size, dsn = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a tool prints is no answer
    with psycopg.connect(dsn, autocommit=True) as conn:
        take = paths.prepare(name, conn, float(size))
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            print(sum(take() for _ in range(int(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
