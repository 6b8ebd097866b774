"""The page of omd status, and trace, status and log, as a user reads them."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from delivery.runs import Shop
from omd.programs.cli.log import since
from omd.programs.web import charts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE = (
    """</title><script>alert(1)</script> "q" 'q' & <img src=x onerror=alert(1)> \x1b[31m\u202e"""
)
VOID = {"meta"}


@pytest.fixture
def omd_(omd_here: Command, dsn: str) -> Iterator[Command]:
    """The command ``omd`` on a database with failures, a skip, and runs that execute and wait."""
    with psycopg.connect(dsn) as conn:
        conn.execute("CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
    with omd.connect(dsn, lease=None) as control:
        for code in ("b_top", "b_day", HOSTILE):
            control.calls.omd.register_batch(code, frequency_code="Adhoc")
        control.calls.omd.add_batch_to_parent_batch("b_day", "b_top")
        for code in ("m_good", "m_bad", HOSTILE):
            control.calls.omd.register_module(
                code, area_code="HSTG", table_code="dwh.t", platform_code="POSTGRES"
            )
        for batch, module in (("b_day", "m_good"), ("b_day", "m_bad"), (HOSTILE, HOSTILE)):
            control.calls.omd.add_module_to_batch(batch, module)
        top = control.calls.omd.begin_batch("b_top").batch_instance_id
        day = control.calls.omd.begin_batch("b_day", parent_batch_instance_id=top).batch_instance_id
        good = control.calls.omd.begin_module("m_good", batch_instance_id=day).module_instance_id
        control.calls.omd.create_load_window(good, end_id=17)
        control.calls.omd.log_event("half way", module_instance_id=good)
        control.calls.omd.module_success(good, rows_inserted=12345)
        bad = control.calls.omd.begin_module("m_bad", batch_instance_id=day).module_instance_id
        control.calls.omd.module_failure(bad, event_detail=f"first line\n{HOSTILE}")
        control.calls.omd.batch_failure(day, event_detail="m_bad failed")
        control.calls.omd.batch_failure(top, event_detail="b_day failed")
        control.calls.omd.begin_module("m_good")
        strange = control.calls.omd.begin_batch(HOSTILE).batch_instance_id
        failed = control.calls.omd.begin_module(
            HOSTILE, batch_instance_id=strange
        ).module_instance_id
        control.calls.omd.module_failure(
            failed, event_detail=HOSTILE, event_return_code_details=HOSTILE
        )
    return lambda *arguments, **options: omd_here(*arguments, dsn=dsn, **options)


class Page(HTMLParser):
    """Reads a page as strictly as HTML allows, and collects what it holds."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), (tag, attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def page(omd_: Command) -> Page:
    done = omd_("status", "--html", "-")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<!doctype html>\n")
    return Page(done.stdout)


# The page ---------------------------------------------------------------------------------------


def test_the_page_needs_nothing_but_itself(page: Page) -> None:
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "base", "form", "image", "use"}
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    style = "".join(t for t in page.texts if "color-scheme" in t)
    assert style
    assert "url(" not in style
    assert "@import" not in style
    [policy] = [m["content"] for m in page.of("meta") if m.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_every_link_and_every_id_is_one(page: Page) -> None:
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"] for a in page.of("a") if "href" in a} <= {f"#{id}" for id in ids}


def test_a_hostile_name_is_text_in_the_page(page: Page) -> None:
    shown = HOSTILE.replace("\x1b", "\N{REPLACEMENT CHARACTER}")
    assert page.texts.count(shown) >= 5
    assert {"bdi"} <= {tag for tag, _ in page.elements}
    assert not [t for t in page.texts if "\x1b" in t]


def test_the_timeline_has_a_bar_for_each_instance(page: Page) -> None:
    bars = [a["class"] for tag, a in page.elements if (a.get("class") or "").startswith("bar ")]
    # There are 3 Batch and 4 Module Instances.
    assert sorted(filter(None, bars)) == ["bar E"] * 2 + ["bar F"] * 4 + ["bar S"]
    titles = [t for t in page.texts if "m_good (Module Instance 1)" in t]
    assert len(titles) == 1
    assert "12,345 rows inserted" in titles[0]
    labels = [a["title"] for a in page.of("div") if a.get("class") in ("batch", "module")]
    assert labels[:4] == ["b_top", "b_day", "m_good", "m_bad"]
    assert labels[-2:] == ["on their own", "m_good"]


def test_the_page_tells_what_needs_a_look_first(page: Page) -> None:
    assert page.texts.index("Problems") < page.texts.index("Summary")
    assert any("m_bad failed" in t for t in page.texts)
    assert any(t.startswith("first line") for t in page.texts)


def test_the_page_of_an_empty_database(omd_here: Command, dsn: str) -> None:
    done = omd_here("status", "--html", "-", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert "Nothing ran." in Page(done.stdout).texts


def test_the_page_goes_to_a_file(omd_: Command, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = omd_("status", "--since", "7d", "--html", str(out))
    assert (done.returncode, done.stdout) == (0, f"{out}\n")
    assert "The last 7 days" in Page(out.read_text(encoding="utf-8")).texts
    assert omd_("status", "--since", "yesterday").returncode == 2


def test_a_part_that_can_not_be_read_says_so_and_the_others_are_there(
    omd_: Command, dsn: str
) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("SET ROLE omd_owner")
        conn.execute("ALTER VIEW omd_report.lineage_lag RENAME COLUMN lag TO slack")
    shown = Page(omd_("status", "--html", "-").stdout)
    assert any('column "lag" does not exist' in t for t in shown.texts)
    assert any("m_good (Module Instance 1)" in t for t in shown.texts)


@pytest.mark.parametrize("hours", [1 / 60, 1, 24, 24 * 7, 24 * 90, 24 * 3000])
def test_the_axis_has_a_readable_number_of_round_instants(hours: float) -> None:
    end = datetime(2026, 3, 5, 14, 37, 21, tzinfo=timezone.utc)
    start = end - timedelta(hours=hours)
    found = charts.ticks(start, end)
    assert all(start <= tick < end for tick in found)
    assert all(tick.second == 0 for tick in found)
    assert len(found) <= 10
    assert found or hours < 1


def test_deliveries_are_on_the_page(
    omd_here: Command, dsn: str, conn: psycopg.Connection[Any]
) -> None:
    shop = Shop(conn)
    shop.deploy()
    shop.call("register_tenant", tenant_code="t", tenant_name=HOSTILE)
    shop.accept(1, rows={"customer": [("N", 1, "a")]})
    bad = shop.run(2)
    bad.measure(1, {"orders.positive": 3})
    bad.verdict(1)
    shop.load(3)
    shown = Page(omd_here("status", "--html", "-", dsn=dsn).stdout)
    for text in ("Unfinished deliveries", "begin_delivery"):
        assert text in shown.texts, text
    tiles = {shown.texts[n + 1]: shown.texts[n] for n in range(len(shown.texts) - 1)}
    assert tiles["deliveries"] == "1"


# runs -------------------------------------------------------------------------------------------


def rows(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_run_shows_its_parents_its_window_and_its_events(omd_: Command) -> None:
    [found] = rows(omd_("report", "trace", "--where", "module_instance_id=1", "--output", "json"))
    assert [parent["batch_code"] for parent in found["parents"]] == ["b_day", "b_top"]
    assert [event["event_detail"] for event in found["events"]] == ["half way"]
    assert (found["window_end_id"], found["execution_status_code"]) == (17, "S")


def test_to_explain_nothing_is_an_error_with_a_hint(omd_: Command) -> None:
    for instance in ("run:999", "run:0", "999"):
        done = omd_("explain", instance)
        assert done.returncode in (1, 2)
        assert instance.removeprefix("run:") in done.stderr


def test_no_name_or_message_commands_the_terminal(omd_: Command) -> None:
    for arguments in (("explain", "run:4"), ("status",), ("log",), ("log", "--kind", "event")):
        done = omd_(*arguments)
        assert done.returncode == int(arguments == ("status",)), done.stderr
        assert "script" in done.stdout
        assert not set(done.stdout) & {"\x1b", "\u202e"}, arguments


# status and log ---------------------------------------------------------------------------------


def test_status_tells_exceptions_and_pending_rollbacks(omd_: Command) -> None:
    done = omd_("status", "--output", "json")
    assert done.returncode == 1, "runs have failed"
    found = json.loads(done.stdout)
    assert {
        (row["exception_code"], row["code"]) for row in found["exceptions"]
    } == {
        ("LAST_RUN_FAILED", code) for code in ("b_top", "b_day", "m_bad", HOSTILE)
    }  # fmt: skip
    pending = {row["module_code"] for row in found["rolled_back_by_the_next_begin"]}
    assert pending == {"m_bad", HOSTILE}
    assert "LAST_RUN_FAILED" in omd_("status").stdout


def test_the_log_since_an_instant_is_all_since_then(omd_: Command, dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("SET ROLE omd_owner")
        conn.execute("UPDATE omd.module_instance SET start_datetime = now() - interval '2 hours'"
                     " WHERE module_instance_id = 1")  # fmt: skip
        conn.execute("UPDATE omd.event_log SET event_datetime = now() - interval '2 hours'"
                     " WHERE event_id = 1")  # fmt: skip
    for kind, key, shown, hidden in (
        ("module", "module_instance_id", 4, 1),
        ("event", "event_id", 5, 1),
    ):
        ids = [
            row[key]
            for row in rows(omd_("log", "--kind", kind, "--since", "90m", "--output", "json"))
        ]
        assert ids[-1] >= shown
        assert hidden not in ids
        everything = rows(omd_("log", "--kind", kind, "--since", "3h", "--output", "json"))
        assert everything[0][key] == hidden
    assert omd_("log", "--since", "soon").returncode == 2


@pytest.mark.parametrize(
    ("text", "back"),
    [("90m", timedelta(minutes=90)), ("24h", timedelta(days=1)), ("2w", timedelta(weeks=2))],
)
def test_a_span_is_told_in_its_unit(text: str, back: timedelta) -> None:
    assert abs(datetime.now(timezone.utc) - back - since(text)) < timedelta(minutes=1)


def test_an_instant_is_local_unless_it_says_otherwise() -> None:
    assert since("2026-01-31T10:00:00Z") == datetime(2026, 1, 31, 10, tzinfo=timezone.utc)
    assert since("2026-01-31") == datetime(2026, 1, 31).astimezone()
