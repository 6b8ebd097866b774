"""A job for spark-submit. Arguments: database, libpq service, "demo" to play a month of it."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

# The wheel is for executors. The driver has omd installed, because it needs the package's files.
sys.path[:] = [path for path in sys.path if not path.endswith("omd.zip")]

import omd  # noqa: E402
import omd.spark  # noqa: E402
from omd.programs.demo.control import story  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


class Screen:
    """Prints to stdout what the demo does."""

    def title(self, text: str) -> None:
        print(text)

    say = title

    @contextlib.contextmanager
    def step(self, text: str) -> Iterator[Any]:
        self._step = text
        yield self

    def done(self, text: str, mark: str = "") -> None:
        print(self._step, text, mark)

    def table(self, rows: Any) -> None:
        for row in rows:
            print(row)


def home(_: int) -> Iterator[str]:
    import omd

    yield f"{omd.__file__} {sys.executable}"


dsn, service, *demo = sys.argv[1:]
if demo:
    with tempfile.TemporaryDirectory() as folder:
        # In March a Module fails in the middle of its write, and is rolled back.
        holds = story.play(dsn, Path(folder), Screen(), months=range(3, 4))
    print("the proof holds:", holds)

spark = omd.spark.session()
context = spark.sparkContext
print("master:", context.master)
print("time zone:", spark.conf.get("spark.sql.session.timeZone"))
print("workers:", set(context.parallelize(range(4), 4).flatMap(home).collect()))
with omd.connect(dsn, executor_dsn=service) as control, control.module("m_t") as run:
    assert run.dsn == service
    numbers = "SELECT i AS id FROM generate_series(1, 1000) AS i"
    written = run.write(run.read(spark, query=numbers, partitionColumn="id", numPartitions=4))
    print("through the service file:", written, run.read(spark, "t.target").count())
