"""No-op jobs of procrastinate. See queues.py for the arguments and the answers.

The async connector with an async task is its fastest way: a job needs no thread then. Finished
jobs are deleted, as the other peers do it. uvloop makes it faster, too.
"""

import asyncio
import json
import logging
import random
import sys
import time

import procrastinate
import uvloop

verb, numbers = sys.argv[1], [float(n) for n in sys.argv[2:]]
starts: list[int] = []
wanted = int(numbers[0])
slots = int(numbers[1]) if verb == "work" else 1
connector = procrastinate.PsycopgConnector(min_size=slots, max_size=slots + 1)
logging.disable(logging.WARNING)  # it warns of an app in the main module
app = procrastinate.App(connector=connector)


@app.task(name="noop")
async def noop(n: int) -> None:
    starts.append(time.monotonic_ns())
    if len(starts) == wanted:
        print(json.dumps(starts), flush=True)


async def install() -> None:
    await app.schema_manager.apply_schema_async()
    print("procrastinate", procrastinate.__version__)


async def many() -> None:
    batch = int(numbers[1])
    began = time.perf_counter()
    for first in range(0, wanted, batch):
        await noop.batch_defer_async(*({"n": n} for n in range(first, min(first + batch, wanted))))
    print(time.perf_counter() - began)


async def single() -> None:
    calls = []
    for n in range(wanted):
        await asyncio.sleep(random.uniform(0.5, 1.5) * numbers[1])
        began = time.monotonic_ns()
        await noop.defer_async(n=n)
        calls.append([began, time.monotonic_ns()])
    print(json.dumps(calls))


async def work() -> None:
    print(time.monotonic_ns(), flush=True)
    await app.run_worker_async(concurrency=slots, delete_jobs="always")


async def main() -> None:
    async with app.open_async():
        await {"install": install, "many": many, "single": single, "work": work}[verb]()


uvloop.run(main())
