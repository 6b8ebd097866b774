"""No-op tasks of OMD. See queues.py for the arguments and the answers."""

import json
import random
import sys
import time

import omd
from omd.dispatch import Task
from omd.programs.worker.worker import Worker
from omd.rooms.dispatch.calls import DispatchCalls

verb, numbers = sys.argv[1], [float(n) for n in sys.argv[2:]]
starts: list[int] = []
wanted = int(numbers[0])


def noop(_: Task) -> None:
    starts.append(time.monotonic_ns())
    if len(starts) == wanted:
        print(json.dumps(starts), flush=True)


def install(dispatch: DispatchCalls) -> None:
    dispatch.register_task_type("CALL", "NOOP", handler="PYTHON", target="omd_jobs:noop")
    print("OMD", omd.__version__)


def many(dispatch: DispatchCalls) -> None:
    batch = int(numbers[1])
    began = time.perf_counter()
    for first in range(0, wanted, batch):
        tasks = [{"payload": {"n": n}} for n in range(first, min(first + batch, wanted))]
        dispatch.create_tasks("CALL", "NOOP", tasks)
    print(time.perf_counter() - began)


def single(dispatch: DispatchCalls) -> None:
    calls = []
    for n in range(wanted):
        time.sleep(random.uniform(0.5, 1.5) * numbers[1])
        began = time.monotonic_ns()
        dispatch.create_task("CALL", "NOOP", payload={"n": n})
        calls.append([began, time.monotonic_ns()])
    print(json.dumps(calls))


# The worker imports this file once more, by its name.
if __name__ == "__main__" and verb == "work":
    print(time.monotonic_ns(), flush=True)
    Worker(workers=int(numbers[1])).run()
elif __name__ == "__main__":
    with omd.connect("") as control:
        {"install": install, "many": many, "single": single}[verb](control.calls.omd_dispatch)
