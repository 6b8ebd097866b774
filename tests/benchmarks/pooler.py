"""What a pooler costs a begin and success, in turns with a direct connection.

    python tests/benchmarks/pooler.py [--rounds 20] [--other FOLDER]

--other names a folder with another version of the package, which is measured on the direct
connection too; so is how long a connect takes.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CALLS = 200
CONNECTS = 40

CLIENT = """
import sys, time
import omd
dsn, calls, connects = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for line in sys.stdin:
    began = time.perf_counter()
    for _ in range(connects):
        omd.connect(dsn, lease=None).close()
    connected = time.perf_counter()
    with omd.connect(dsn, lease=None) as control:
        control.module_success(control.begin_module("m").module_instance_id)
        control.module_success(control.begin_module("m").module_instance_id)
        begun, cpu = time.perf_counter(), time.process_time()
        for _ in range(calls):
            control.module_success(control.begin_module("m").module_instance_id)
        ended, used = time.perf_counter(), time.process_time()
    print(
        (ended - begun) / calls * 1000,
        (used - cpu) / calls * 1000,
        (connected - began) / connects * 1000,
        flush=True,
    )
"""


class Client:
    """A process that measures when it is asked."""

    def __init__(self, dsn: str, package: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", CLIENT, dsn, str(CALLS), str(CONNECTS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(package)},
        )
        self.calls: list[float] = []
        self.cpu: list[float] = []  # of the client, for a call
        self.connects: list[float] = []

    def measure(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(file=self._process.stdin, flush=True)
        call, cpu, connect = map(float, self._process.stdout.readline().split())
        self.calls.append(call)
        self.cpu.append(cpu)
        self.connects.append(connect)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--other", type=Path)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT / "driver"), str(ROOT / "tests")]
    import psycopg

    from omd import embedded, install
    from support.pooler import bouncing

    with contextlib.ExitStack() as stack:
        home = Path(tempfile.mkdtemp(prefix="omd-pool-"))
        stack.callback(shutil.rmtree, home)
        embedded.start(home)
        stack.callback(embedded.stop, home)
        dsn = embedded.dsn(home, "postgres")
        with psycopg.connect(dsn, autocommit=True) as conn:
            install.install(conn)
            conn.execute(
                "CALL omd.register_module('m', p_area_code => 'INT', p_table_code => 'dwh.t',"
                " p_table_type_code => 'HUB')"
            )
        through = stack.enter_context(bouncing(dsn))
        clients = {
            "direct": Client(dsn, ROOT / "driver"),
            "pooler": Client(through, ROOT / "driver"),
            **({"other": Client(dsn, options.other)} if options.other else {}),
        }
        for client in clients.values():
            stack.callback(client.close)
            client.measure()
        names = list(clients)
        for number in range(options.rounds):
            for name in names if number % 2 else reversed(names):
                clients[name].measure()
        for what in ("calls", "cpu", "connects"):
            figures = {name: getattr(client, what)[1:] for name, client in clients.items()}
            for name, values in figures.items():
                ratios = [a / b for a, b in zip(values, figures["direct"], strict=True)]
                print(
                    f"{what:<8} {name:<7} {statistics.median(values):7.3f} ms,"
                    f" {statistics.median(ratios):5.3f} of direct"
                )


if __name__ == "__main__":
    began = time.monotonic()
    main()
    print(f"{time.monotonic() - began:.0f} s")
