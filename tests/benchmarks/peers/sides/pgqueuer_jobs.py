"""No-op jobs of pgqueuer. See queues.py for the arguments and the answers.

asyncpg on one connection is the driver that its documentation advises for a worker; uvloop and the
batch were the fastest of those measured. Its limit of jobs at once must be twice the batch: it has
none here, so that pgqueuer has more slots than the others, not fewer.
"""

import asyncio
import json
import random
import sys
import time

import asyncpg
import pgqueuer
import uvloop
from pgqueuer import PgQueuer, Queries
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job

BATCH = 500

verb, numbers = sys.argv[1], [float(n) for n in sys.argv[2:]]
starts: list[int] = []
wanted = int(numbers[0])


async def install(driver: AsyncpgDriver) -> None:
    queries = Queries(driver)
    await queries.install()
    await queries.optimize_autovacuum()
    print("pgqueuer", pgqueuer.__version__)


async def many(driver: AsyncpgDriver) -> None:
    queries, batch = Queries(driver), int(numbers[1])
    began = time.perf_counter()
    for first in range(0, wanted, batch):
        some = range(first, min(first + batch, wanted))
        payloads: list[bytes | None] = [json.dumps({"n": n}).encode() for n in some]
        await queries.enqueue(["noop"] * len(some), payloads, [0] * len(some))
    print(time.perf_counter() - began)


async def single(driver: AsyncpgDriver) -> None:
    queries, calls = Queries(driver), []
    for n in range(wanted):
        await asyncio.sleep(random.uniform(0.5, 1.5) * numbers[1])
        began = time.monotonic_ns()
        await queries.enqueue("noop", json.dumps({"n": n}).encode())
        calls.append([began, time.monotonic_ns()])
    print(json.dumps(calls))


async def work(driver: AsyncpgDriver) -> None:
    print(time.monotonic_ns(), flush=True)
    queue = PgQueuer(driver)

    @queue.entrypoint("noop")
    async def noop(job: Job) -> None:
        starts.append(time.monotonic_ns())
        if len(starts) == wanted:
            print(json.dumps(starts), flush=True)

    await queue.run(batch_size=BATCH)


async def main() -> None:
    driver = AsyncpgDriver(await asyncpg.connect())
    await {"install": install, "many": many, "single": single, "work": work}[verb](driver)


uvloop.run(main())
