"""A server of Spark Connect in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def connect_server(folder: Path, **env: str) -> Iterator[str]:
    """Lend the address of a server.

    Args:
        folder: where it runs and writes its log.
        env: further variables of its environment.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = Path(pyspark.__file__).parent
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    told = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    program = [home / "bin/spark-submit", "--master", "local[2]", "--class", SERVER]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*program, *told, "spark-internal"],
            env={**os.environ, "SPARK_HOME": str(home), **env},
            cwd=folder,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            while process.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
            assert process.poll() is None, (folder / "log").read_text()[-3000:]
            yield f"sc://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
