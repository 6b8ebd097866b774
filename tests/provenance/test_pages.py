"""The pages of `omd explain`, and the command that explains a value."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from datetime import datetime, timezone
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from facts.conftest import store
from facts.store import PERSON
from omd.programs.report import explained, traced
from omd.programs.report.way import MOST_RUNS
from omd.rooms.provenance.rows import ExplainRow, TraceRow

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from facts.store import Store

    Command = Callable[..., subprocess.CompletedProcess[str]]

__all__ = ["store"]

HOSTILE = "<img src=x onerror=alert(1)>\"'&`\u202e\x1b[31m</svg>--><script>"
THEN = datetime(2020, 1, 2, tzinfo=timezone.utc)
OPEN = datetime(9999, 12, 31, tzinfo=timezone.utc)


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def checked(html: str) -> Page:
    """Check that a page loads and executes nothing; return what is in it."""
    page = Page(html)
    assert not {*page.tags} & {"script", "img", "link", "iframe", "object", "a", "form"}
    assert {name for name, _ in page.attributes}.isdisjoint({"src", "href", "xlink:href"})
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes
    assert not re.search(r"url\((?!#)|@import", html)
    assert "\x1b" not in html
    for picture in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        ET.fromstring(picture)
    return page


def run(id: int, /, **more: Any) -> TraceRow:
    given: dict[str, Any] = {
        "direction": "SELF",
        "distance": 0,
        "module_instance_id": id,
        "module_code": HOSTILE,
        "module_kind_code": "PART",
        "table_code": HOSTILE,
        "because_of": None,
        "is_exact": True,
        "stands": True,
        "delivery_id": 7,
        "delivery_status": "PERSISTED",
        "files": [f"/in/{HOSTILE}{n}" for n in range(9)],
        "text": HOSTILE,
        **more,
    }
    return TraceRow(**given)


def step(position: int, name: str, /, **more: Any) -> ExplainRow:
    given: dict[str, Any] = {
        "position": position,
        "step": name,
        "value": HOSTILE,
        "valid_from": THEN,
        "valid_until": OPEN,
        "module_instance_id": position,
        "delivery_id": 7,
        "file": None,
        "line": None,
        "text": HOSTILE,
        "detail": {},
        **more,
    }
    return ExplainRow(**given)


def of_run(**more: Any) -> dict[str, Any]:
    return {
        "module_code": HOSTILE, "table_code": HOSTILE, "because_of": None, "is_exact": True,
        "stands": True, **more,
    }  # fmt: skip


STEPS = [
    step(1, "VALUE", detail={"column": HOSTILE, "table_code": HOSTILE, "key": {HOSTILE: HOSTILE}}),
    step(2, "ROW"),
    step(3, "RUN", detail=of_run()),
    step(4, "SOURCE", detail=of_run(is_exact=False)),
    step(5, "SOURCE", detail=of_run(stands=False, because_of=4)),
    step(6, "DECISION"),
    step(7, "RULE"),
    step(8, "INPUT"),
    step(9, "DELIVERY"),
    step(10, "FILE", file=HOSTILE, line=3, detail={"table_code": HOSTILE}),
    step(11, "VERDICT"),
    step(12, "HISTORY", detail={"record_ind": "N"}),
    step(13, "HISTORY", value=None, delivery_id=None, detail={"record_ind": "R"}),
    step(14, "HISTORY", value=None, detail={"record_ind": "A"}),
]


def test_no_name_or_value_becomes_markup() -> None:
    for html in (
        explained.as_page(STEPS),
        traced.as_page(
            [
                run(1),
                run(2, direction="UP", distance=1, stands=False, files=None),
                run(3, direction="DOWN", distance=1, because_of=1, is_exact=False),
            ]
        ),
    ):
        page = checked(html)
        assert "<img src=x onerror=alert(1)>" in page.text
        assert html.count("<bdi>") == html.count("</bdi>") > 5


def test_a_page_says_what_stands_and_what_may_have_been_read() -> None:
    html = explained.as_page(STEPS)
    assert all(f'<g class="{kind}">' in html for kind in ("ready", "waiting", "failed", "source"))
    text = checked(html).text
    for words in ("deleted", "empty", "now", "delivery 7", "run 13", ", line 3", "does not stand"):
        assert words in text
    assert "The run that wrote it does not stand." not in text
    steps = [step(3, "RUN", detail=of_run(stands=False)) if s.step == "RUN" else s for s in STEPS]
    assert "The run that wrote it does not stand." in checked(explained.as_page(steps)).text


def test_a_row_of_nobody_has_a_page_without_a_picture() -> None:
    html = explained.as_page([*STEPS[:2], step(3, "RUN", module_instance_id=None)])
    assert "<svg" not in html
    assert checked(html)


def test_a_long_way_has_the_nearest_in_its_picture_and_all_in_its_list() -> None:
    sources = [
        run(n, direction="UP", distance=n - 1, because_of=n - 1, files=None, module_code="m")
        for n in range(2, 200)
    ]
    html = traced.as_page([run(1, module_code="m"), *sources])
    text = checked(html).text
    assert f"The picture has the {MOST_RUNS} nearest of 199 runs." in text
    assert html.count('<rect class="box"') == MOST_RUNS + 5 + 1  # five files, and the rest
    assert html.count("<tr>") == 1 + len(sources)


def test_the_command_explains_a_value(
    store: Store, omd_here: Command, dsn: str, tmp_path: Path
) -> None:
    store.set_up(PERSON)
    store.put(1, person=[("N", 1, "a@x", "1990", "<b>ann</b>", None)])
    store.put(2, person=[("A", 1, "a@x", "1990", "anna", None)])
    cell = ("explain", "gdal_shop.person", '{"nbr": 1}', "--column", "name")
    done = omd_here(*cell, dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("name of person with nbr 1 is anna, from 2020-01-02")
    for title in ("How it was made", "How it came", "History"):
        assert f"\n{title}\n" in done.stdout
    one = ("explain", "gdal_shop.person", "1", "--column", "name")
    assert omd_here(*one, dsn=dsn).stdout == done.stdout
    steps = json.loads(omd_here(*cell, "--output", "json", dsn=dsn).stdout)["steps"]
    assert steps[0]["value"] == "anna"
    page = tmp_path / "why.html"
    done = omd_here(*cell, "--at", "2020-01-01T12:00:00+00:00", "--html", str(page), dsn=dsn)
    assert (done.returncode, str(page) in done.stderr) == (0, True)
    assert "<b>ann</b>" in checked(page.read_text()).text
    run = str(steps[0]["module_instance_id"])
    done = omd_here("explain", f"run:{run}", "--html", str(page), dsn=dsn)
    assert (done.returncode, str(page) in done.stderr) == (0, True)
    assert f"Run {run} of facts.shop" in checked(page.read_text()).text
    done = omd_here("explain", "gdal_shop.person", "9", "--column", "x", dsn=dsn)
    assert (done.returncode, "OM093" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a.b", "--column", "c"),
        ("m", "--at", "2020-01-01"),
        ("m", "--wave", "w"),
        ("a.b", "{}", "--column", "c", "--up"),
        ("a.b", "{}", "--at", "2020-01-01"),
        ("a.b", "{}", "--batch-instance", "1"),
        ("stage:s", "{}", "--column", "c"),
        ("stage:s", "--instance", "1", "--depth", "1"),
        ("a.b", "5"),
        ("1", "--depth", "-1"),
    ],
)
def test_what_is_of_another_explanation_is_wrong_usage(
    conn: Any, omd_here: Command, dsn: str, arguments: tuple[str, ...]
) -> None:
    assert conn
    assert omd_here("explain", *arguments, dsn=dsn).returncode == 2
