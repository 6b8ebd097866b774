"""Make the pictures of the page in docs/images/web again.

It plays thirty nights of a made-up shop into a database, once, and photographs the screens with
Chromium:

    omd embedded start
    OMD_DSN="$(omd embedded dsn)" python tools/screenshots.py

Play `omd demo platform` into that database before, so that rooms beside process control have
something to show. It needs the extra web, playwright, and /usr/bin/chromium. The pictures of the
repository were made where fontconfig takes Inter for system-ui and JetBrains Mono for ui-monospace.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

import psycopg
from playwright.sync_api import Page, sync_playwright
from psycopg import sql

import omd
from omd.programs.web.serving import Server, bound, configured
from omd.web import app

IMAGES = Path(__file__).parents[1] / "docs" / "images" / "web"
NIGHTS = 30

# The Batches of the shop, with when they start (minutes after midnight) and their Modules.
BATCHES = {
    "b_clicks": (5, ["stg.clicks", "core.sessions", "mart.funnel"]),
    "b_customers": (15, ["stg.customers", "core.customers", "core.addresses"]),
    "b_finance": (150, ["stg.ledger", "core.bookings", "mart.margin", "mart.cash"]),
    "b_forecast": (240, ["mart.demand", "mart.reorder"]),
    "b_orders": (
        30,
        ["stg.orders", "stg.order_lines", "core.orders", "core.baskets", "mart.sales"],
    ),
    "b_prices": (60, ["stg.prices", "core.prices"]),
    "b_products": (20, ["stg.products", "core.products", "core.categories"]),
    "b_returns": (90, ["stg.returns", "core.returns", "mart.return_rate"]),
    "b_shipments": (75, ["stg.shipments", "core.shipments", "mart.delivery_times"]),
    "b_stock": (120, ["stg.stock", "core.stock", "mart.stock_days"]),
    "b_suppliers": (100, ["stg.suppliers", "core.suppliers"]),
}
# What failed: Batch, Module, nights ago, and why.
FAILURES = {
    ("b_orders", "core.baskets", 11): ("23505", "duplicate key value violates unique constraint"),
    ("b_prices", "stg.prices", 3): ("58P01", "prices_eu.csv has no header"),
    ("b_finance", "mart.margin", 19): ("22012", "division by zero"),
    ("b_finance", "mart.cash", 0): ("57014", "canceling statement due to statement timeout"),
    ("b_returns", "stg.returns", 7): ("08006", "the server of returns closed the connection"),
    ("b_stock", "core.stock", 0): ("23514", "new row violates check constraint stock_not_negative"),
}
# What an administrator had skipped: Batch and nights ago.
SKIPPED = {("b_forecast", 5), ("b_suppliers", 14), ("b_suppliers", 13)}


def tables(conn: psycopg.Connection) -> None:
    """Create the targets."""
    for area in ("stg", "core", "mart"):
        conn.execute(f"CREATE SCHEMA IF NOT EXISTS {area}")
    for _, modules in BATCHES.values():
        for module in modules:
            conn.execute(
                f"CREATE TABLE {module} (id bigint, omd_insert_module_instance_id bigint NOT NULL)"
            )
    conn.execute("GRANT USAGE ON SCHEMA stg, core, mart TO omd_owner, omd_runner")
    conn.execute("GRANT ALL ON ALL TABLES IN SCHEMA stg, core, mart TO omd_owner, omd_runner")


def nights(dsn: str) -> None:
    """Play the nights of the shop, and then move each run to its time."""
    chance = random.Random(2013)  # noqa: S311 - for no secret
    area_of = {"stg": ("STG", None), "core": ("INT", "HUB"), "mart": ("INT", "LINK")}
    runs: list[tuple[str, int, datetime, datetime | None]] = []
    midnight = datetime.now(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    shift = timedelta(0)
    if datetime.now(timezone.utc) - midnight < timedelta(hours=5):
        shift = timedelta(days=1)  # the last night is over
    with omd.connect(dsn, lease=None) as control:
        for code, (_, modules) in BATCHES.items():
            control.calls.omd.register_batch(
                code,
                frequency_code="Adhoc",
                batch_description=f"The nightly load of {code.removeprefix('b_')}",
            )
            for number, module in enumerate(modules):
                area, kind = area_of[module.partition(".")[0]]
                control.calls.omd.register_module(
                    module,
                    area_code=area,
                    table_type_code=kind,
                    table_code=module,
                    module_description=f"Loads {module.partition('.')[2]} of the shop",
                )
                control.calls.omd.add_module_to_batch(code, module, sequence=10 * (number + 1))
        size = {m: chance.randint(40, 400_000) for _, ms in BATCHES.values() for m in ms}
        pace = {m: chance.uniform(8, 240) for m in size}
        for ago in reversed(range(NIGHTS)):
            for code, (start, modules) in BATCHES.items():
                at = midnight - shift - timedelta(days=ago) + timedelta(minutes=start)
                at += timedelta(seconds=chance.uniform(0, 40))
                began = at
                if (code, ago) in SKIPPED:
                    control.calls.omd.register_batch(code, inactive_indicator="Y")
                batch = control.calls.omd.begin_batch(code)
                if (code, ago) in SKIPPED:
                    control.calls.omd.register_batch(code, inactive_indicator="N")
                    runs.append(("batch", batch.batch_instance_id, at, at))
                    continue
                failed = False
                for module in modules:
                    run = control.calls.omd.begin_module(
                        module, batch_instance_id=batch.batch_instance_id
                    )
                    if str(run.processing_indicator) in "CA":  # done by a run that had failed
                        runs.append(("module", run.module_instance_id, at, at))
                        continue
                    grown = 1 + (NIGHTS - ago) / 60
                    ended = at + timedelta(seconds=pace[module] * grown * chance.uniform(0.8, 1.3))
                    why = FAILURES.get((code, module, ago))
                    if why:
                        control.calls.omd.module_failure(
                            run.module_instance_id,
                            event_return_code_details=why[0],
                            event_detail=why[1],
                        )
                    else:
                        rows = int(size[module] * grown * chance.uniform(0.7, 1.2))
                        control.calls.omd.module_success(
                            run.module_instance_id, rows_input=rows, rows_inserted=rows
                        )
                    runs.append(("module", run.module_instance_id, at, ended))
                    at = ended
                    failed = why is not None
                    if failed:
                        break
                if failed:
                    control.calls.omd.batch_failure(
                        batch.batch_instance_id, event_detail="a Module failed"
                    )
                else:
                    control.calls.omd.batch_success(batch.batch_instance_id)
                runs.append(("batch", batch.batch_instance_id, began, at))
        # Two that execute now.
        now = datetime.now(timezone.utc)
        batch = control.calls.omd.begin_batch("b_clicks")
        for module in ("stg.clicks", "core.sessions"):
            run = control.calls.omd.begin_module(module, batch_instance_id=batch.batch_instance_id)
            if module == "stg.clicks":
                control.calls.omd.module_success(run.module_instance_id, rows_inserted=212_480)
            began = now - timedelta(minutes=9 if module == "stg.clicks" else 4)
            ended = now - timedelta(minutes=4) if module == "stg.clicks" else None
            runs.append(("module", run.module_instance_id, began, ended))
        runs.append(("batch", batch.batch_instance_id, now - timedelta(minutes=9), None))
    with psycopg.connect(dsn, autocommit=True) as conn:
        move(conn, runs)


def move(conn: psycopg.Connection, runs: list[tuple[str, int, datetime, datetime | None]]) -> None:
    """Give each run and its events the times at which they would have been."""
    with conn.transaction():
        conn.execute("SET LOCAL session_replication_role = replica")
        for kind in ("module", "batch"):
            of = [(start, end, run) for its, run, start, end in runs if its == kind]
            change = sql.SQL(
                "UPDATE omd.{} SET start_datetime = %s, end_datetime = %s WHERE {} = %s"
            )
            names = (sql.Identifier(f"{kind}_instance"), sql.Identifier(f"{kind}_instance_id"))
            conn.cursor().executemany(change.format(*names), of)
        conn.execute(
            "UPDATE omd.event_log AS e SET event_datetime = i.end_datetime"
            " FROM omd.module_instance AS i WHERE e.module_instance_id = i.module_instance_id"
            " AND e.module_instance_id <> 0 AND i.end_datetime IS NOT NULL"
        )
        conn.execute(
            "UPDATE omd.event_log AS e SET event_datetime = i.end_datetime"
            " FROM omd.batch_instance AS i WHERE e.batch_instance_id = i.batch_instance_id"
            " AND e.module_instance_id = 0 AND e.batch_instance_id <> 0"
            " AND i.end_datetime IS NOT NULL"
        )
    conn.execute("ANALYZE")


@contextmanager
def page_of(dsn: str) -> Iterator[tuple[str, str]]:
    """Run a page on a free port; yield its address and a link that logs in."""
    application = app(dsn)
    listening = bound("127.0.0.1", 0)
    server = Server(configured(application))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
    thread.start()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        yield address, address + application.site.login.link()  # type: ignore[attr-defined]
    finally:
        server.should_exit = True
        thread.join(10)
        application.site.close()


SHOTS = {  # name: path, scheme, width and height
    "now": ("/", "light", 1280, 860),
    "now-phone": ("/", "light", 360, 740),
    "todo": ("/todo", "light", 1280, 420),
    "grid": ("/grid?open=b_orders", "light", 1280, 720),
    "grid-dark": ("/grid?open=b_orders", "dark", 1280, 720),
    "module": ("/module/core.orders", "light", 1280, 860),
    "run": ("/run/module/39", "light", 1280, 800),
    "graph": ("/graph?of=nyc_night", "light", 1280, 620),
}


def take(page: Page, address: str, name: str) -> None:
    """Take one picture."""
    path, scheme, width, height = SHOTS[name]
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": height})
    page.goto(address + path)
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")
    if pngquant := shutil.which("pngquant"):  # makes it a third of its size
        image = str(IMAGES / f"{name}.png")
        options = ["--force", "--strip", "--output", image]
        subprocess.run([pngquant, *options, "128", image], check=True)


def main() -> None:
    """Fill the database where that was not done yet, and take the pictures."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("names", nargs="*", help="some of the pictures; by default all")
    names = arguments.parse_args().names or list(SHOTS)
    dsn = os.environ["OMD_DSN"]
    with psycopg.connect(dsn, autocommit=True) as conn:
        is_filled = conn.execute("SELECT to_regclass('mart.sales')").fetchone() != (None,)
        if not is_filled:
            tables(conn)
    if not is_filled:
        nights(dsn)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with page_of(dsn) as (address, link), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(timezone_id="UTC", locale="en")
        page.goto(link)
        for name in names:
            take(page, address, name)
        browser.close()


if __name__ == "__main__":
    main()
