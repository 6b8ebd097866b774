"""Blocks make spans of OpenTelemetry where its API is installed, and nothing where it is not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import omd
from omd._core import spans

if TYPE_CHECKING:
    from control.conftest import Flow
    from support.environments import Environment

PROGRAM = """
import contextlib, json, sys, threading
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import omd

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

with omd.connect() as control:
    with control.batch("b", context={"traceparent": PARENT}) as batch:
        with batch.module("m") as run:
            run.rows(input=5, inserted=3)
            inside = trace.get_current_span().get_span_context().span_id
        # A thread has no current span; the Module is below its Batch all the same.
        job = lambda: batch.run("n", lambda run: None)
        thread = threading.Thread(target=job)
        thread.start()
        thread.join()
    with trace.get_tracer("mine").start_as_current_span("mine"):
        with contextlib.suppress(ValueError), control.module("m", context={"traceparent": PARENT}):
            raise ValueError("secret row 4711")
    with contextlib.suppress(omd.errors.Skipped):
        with control.module("off", context={"traceparent": "no such thing"}):
            pass
    left = trace.get_current_span().get_span_context().is_valid
    class Broken(SpanProcessor):
        def on_start(self, span, parent_context=None):
            raise OSError("no run fails because nobody can look at it")
    provider.add_span_processor(Broken())
    with control.module("m"):
        pass

print(json.dumps({
    "left": left,
    "inside": f"{inside:016x}",
    "spans": [
        {
            "name": s.name,
            "id": f"{s.context.span_id:016x}",
            "trace": f"{s.context.trace_id:032x}",
            "parent": s.parent and f"{s.parent.span_id:016x}",
            "status": s.status.status_code.name,
            "told": s.status.description,
            "events": len(s.events),
            "attributes": dict(s.attributes),
        }
        for s in exporter.get_finished_spans()
    ],
}))
"""


def test_blocks_are_spans_below_each_other_and_below_who_called(
    flow: Flow, dsn: str, tools_environment: Environment
) -> None:
    flow.batch("b", "m", "n")
    flow.module("off", inactive_indicator="Y")
    done = tools_environment.run("python", "-c", PROGRAM, env={"OMD_DSN": dsn})
    told = json.loads(done.stdout)
    made = [span for span in told["spans"] if span["name"].startswith("omd.")]
    assert [span["name"] for span in made] == [
        *("omd.module", "omd.module", "omd.batch", "omd.module", "omd.module"),
    ]
    first, second, batch, failed, off = made[:5]
    [mine] = [span for span in told["spans"] if span["name"] == "mine"]
    called = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    assert (batch["trace"], batch["parent"]) == called
    assert first["parent"] == second["parent"] == batch["id"]
    assert told["inside"] == first["id"]
    assert (failed["parent"], failed["trace"]) == (mine["id"], mine["trace"])
    assert off["parent"] is None
    assert told["left"] is False

    ids = flow.rows(
        "SELECT module_instance_id, batch_instance_id, execution_status_code"
        " FROM omd.module_instance WHERE module_instance_id > 0 ORDER BY module_instance_id"
    )
    assert first["attributes"] == {
        "omd.code": "m",
        "omd.module_code": "m",
        "omd.status": "S",
        "omd.module_instance_id": ids[0]["module_instance_id"],
        "omd.batch_instance_id": ids[0]["batch_instance_id"],
        "omd.rows_input": 5,
        "omd.rows_inserted": 3,
    }
    assert batch["attributes"] == {
        "omd.code": "b",
        "omd.status": "S",
        "omd.batch_instance_id": ids[0]["batch_instance_id"],
    }
    assert (failed["status"], failed["told"], failed["events"]) == ("ERROR", "ValueError", 0)
    assert failed["attributes"]["omd.status"] == "F"
    assert (off["status"], off["attributes"]["omd.status"]) == ("UNSET", "C")
    assert off["attributes"]["omd.reason"] == "INACTIVE"
    assert "4711" not in done.stdout
    assert [row["execution_status_code"] for row in ids] == ["S", "S", "F", "C", "S"]


def test_the_page_of_documents_shows_what_is_exported(
    flow: Flow, dsn: str, tools_environment: Environment
) -> None:
    flow.batch("b_shop", "m_orders")
    page = Path(__file__).parents[2] / "docs/how-to/events/read-metrics.md"
    example = page.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    told = tools_environment.run("python", "-c", example, env={"OMD_DSN": dsn}).stdout
    assert told.index('"name": "omd.module"') < told.index('"name": "omd.batch"')
    assert '"omd.rows_inserted": 3' in told


def test_without_the_api_a_block_costs_nothing_more(flow: Flow, dsn: str) -> None:
    assert "opentelemetry" not in sys.modules
    flow.module("m")
    with omd.connect(dsn) as control, control.module("m") as run:
        assert run._span is None
    calls = 0

    def count(_frame: Any, event: str, _of: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    for _ in range(100):
        spans.begin("module", None, {})
    sys.setprofile(None)
    # It asks once whether the API is there, and that is kept.
    assert calls <= 2 * 100 + 1
