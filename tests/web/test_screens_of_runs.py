"""The screens of work and runs, over an empty database and over hostile names."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
import pytest

import omd
from omd.programs.web import linked, parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from web.conftest import Answer, Page

    Connection = psycopg.Connection[dict[str, Any]]

HOSTILE = {
    "markup": "<script>alert(1)</script>\"><img src=x onerror=alert(1) <td '?&#%2F/"
    "\N{RIGHT-TO-LEFT OVERRIDE}\N{ARABIC LETTER ALEF}",
    "long": "x" * 2_600,  # no code is longer; texts are four times as long
}
NAMES = {"/": "now"}
VOID = {"meta", "input", "link"}


class Read(HTMLParser):
    """A page, read as strictly as HTML allows."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(answer.text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(attrs) == len(dict(attrs)), (tag, attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of(self, tag: str, attribute: str | None = None) -> list[dict[str, str | None]]:
        return [a for t, a in self.elements if t == tag and (attribute is None or attribute in a)]


def read(page: Page, path: str, status: int = 200) -> Read:
    """Look at a screen; it keeps to the CSP, and every id and every anchor is there once."""
    answer = page.get(path)
    assert answer.status == status, (path, answer.text[:2000])
    shown = Read(answer)
    for tag, attributes in shown.elements:
        assert "style" not in attributes, (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert tag != "style"
        assert tag != "script" or attributes.get("src")
    ids = [a["id"] for _, a in shown.elements if "id" in a]
    assert len(ids) == len(set(ids)), path
    return shown


def fill(dsn: str, code: str) -> dict[str, int]:
    """Let a Batch and a Module of this name fail, and run again."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)")
    with omd.connect(dsn, lease=None) as control:
        control.calls.omd.register_batch(code, frequency_code="Adhoc", batch_description=code)
        control.calls.omd.register_module(
            code, area_code="HSTG", table_code="dwh.t", platform_code="POSTGRES",
            module_description=4 * code,
        )  # fmt: skip
        control.calls.omd.add_module_to_batch(code, code)
        batch = control.calls.omd.begin_batch(code).batch_instance_id
        run = control.calls.omd.begin_module(
            code, batch_instance_id=batch, execution_context={code[:99]: code}
        ).module_instance_id
        control.calls.omd.module_failure(
            run, event_detail=4 * code, event_return_code_details=code[:50]
        )
        control.calls.omd.batch_failure(batch, event_detail=code)
        open_ = control.calls.omd.begin_batch(code).batch_instance_id
        again = control.calls.omd.begin_module(code, batch_instance_id=open_).module_instance_id
        control.calls.omd.set_parameter(code, code, module_code=code)
    return {"batch": batch, "run": run, "open": open_, "again": again}


def paths(code: str, ids: dict[str, int]) -> list[str]:
    key, part = quote(code, safe=""), quote(code[:8], safe="")
    return [
        "/", "/todo", "/work", f"/work?code={key}", f"/grid?open={key}&like={part}", "/grid",
        f"/module/{key}", f"/batch/{key}", f"/run/module/{ids['run']}",
        f"/run/module/{ids['again']}", f"/run/batch/{ids['batch']}", f"/run/batch/{ids['open']}",
        "/graph", f"/graph?of={key}", "/graph?of=dwh.t",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_name_is_text_on_every_screen(page: Page, dsn: str, kind: str) -> None:
    code = HOSTILE[kind]
    ids = fill(dsn, code)
    for path in paths(code, ids):
        shown = read(page, path)
        [main] = shown.of("main")
        assert main["data-screen"]
        codes = [text for text in shown.texts if code in text]
        assert codes or path.startswith("/graph?of=dwh"), path
    module = read(page, f"/module/{quote(code, safe='')}")
    assert code in module.texts
    assert 4 * code in module.texts
    assert "bdi" in {tag for tag, _ in module.elements}


@pytest.mark.parametrize("path", ["/", "/todo", "/work", "/grid", "/graph"])
def test_an_empty_database_has_every_screen(page: Page, path: str) -> None:
    shown = read(page, path)
    [main] = shown.of("main")
    assert main["data-screen"] == NAMES.get(path, path.strip("/"))
    assert shown.of("section", "id")
    assert not shown.of("div", "data-sqlstate")
    assert not shown.of("tr", "data-key")


def test_what_is_not_there_is_not_found(page: Page) -> None:
    for path in (
        "/module/m_x", "/batch/b_x", "/run/module/7", "/run/batch/7", "/run/module/x",
        "/run/batch/99999999999999999999", "/run/module/-1", "/run/batch/%C2%B2",
    ):  # fmt: skip
        read(page, path, 404)
    assert "Nothing in the platform is called" in "".join(read(page, "/graph?of=x").texts)


def test_each_table_has_its_mark_its_sql_and_its_csv(
    page: Page, dsn: str, conn: Connection
) -> None:
    ids = fill(dsn, "m_x")
    asked: set[str] = set()
    for path in paths("m_x", ids):
        shown = read(page, path)
        assert shown.of("table", "data-view"), path
        assert shown.of("tr", "data-key"), path
        sections = [str(a["id"]) for a in shown.of("section")]
        assert len(shown.of("a", "data-csv")) == len(sections)
        texts = [text for text in shown.texts if text.startswith("SELECT")]
        assert len(texts) == len(sections)
        for text in {*texts} - asked:
            assert text.endswith(";")
            conn.execute(text.encode())
        asked.update(texts)
        csv = page.get(f"{path}{'&' if '?' in path else '?'}csv={sections[-1]}")
        assert csv.text.partition("\n")[0].count(",") >= 1, path


def test_the_states_and_the_links_of_a_run(page: Page, dsn: str) -> None:
    ids = fill(dsn, "m_x")
    grid = read(page, "/grid?open=m_x")
    cells = [(a["data-status"], a["href"]) for a in grid.of("a", "data-status")]
    assert cells == [
        ("F", f"/run/batch/{ids['batch']}"),
        ("E", f"/run/batch/{ids['open']}"),
        ("F", f"/run/module/{ids['run']}"),
        ("E", f"/run/module/{ids['again']}"),
    ]
    assert [a["data-key"] for a in grid.of("tr", "data-key")] == ["m_x", "m_x/m_x"]
    run = read(page, f"/run/module/{ids['run']}")
    assert {"F", "E"} >= {a["data-status"] for a in run.of("span", "data-status")} >= {"F"}
    links = {a.get("href") for a in run.of("a")}
    assert {"/module/m_x", f"/run/batch/{ids['batch']}"} <= links
    now = read(page, "/")
    assert f"/run/module/{ids['again']}" in {a.get("href") for a in now.of("a")}
    assert [t for t in now.of("time") if t.get("data-since")]
    assert "/run/module/" in str([a.get("href") for a in now.of("a", "aria-label")])


def test_work_says_where_a_program_outside_was(page: Page, dsn: str) -> None:
    with omd.connect(dsn, lease=None) as control:
        control.calls.omd.register_module("m_out", area_code="HSTG", table_code="dwh.t")
        assert "outside" in read(page, "/work").texts
        for platform in ("airflow", HOSTILE["markup"]):
            run = control.calls.omd.begin_module("m_out", execution_context={"platform": platform})
            control.calls.omd.module_success(run.module_instance_id)
            texts = read(page, "/work").texts
            assert texts[texts.index("outside, on ") + 1] == platform


def test_the_same_rows_give_the_same_markup(page: Page, dsn: str) -> None:
    """A watch is sent only when its HTML has changed, so no time that passes is in it."""
    ids = fill(dsn, "m_x")
    for path in ("/todo", "/work", "/grid?open=m_x", "/module/m_x", f"/run/module/{ids['again']}"):
        first, second = (
            re.findall("<section.*?</section>", page.get(path).text, re.DOTALL) for _ in range(2)
        )
        assert first
        assert first == second, path


def test_actions_are_offered_to_those_who_may(
    page: Page, new_page: Callable[..., Page], dsn: str, conn: Connection
) -> None:
    ids = fill(dsn, "m_x")
    every = {a["data-action"]: a["href"] for a in read(page, "/module/m_x").of("a", "data-action")}
    assert every["DEACTIVATE"] == "/do/DEACTIVATE/m_x"
    run = read(page, f"/run/module/{ids['again']}")
    assert "END" in {a["data-action"] for a in run.of("a", "data-action")}
    todo = read(page, "/todo")
    assert todo.of("a", "data-action")
    conn.execute("DROP ROLE IF EXISTS web_looks")
    conn.execute("CREATE ROLE web_looks LOGIN IN ROLE omd_reader")
    try:
        looks = new_page(dsn=psycopg.conninfo.make_conninfo(dsn, user="web_looks"))
        for path in ("/module/m_x", f"/run/module/{ids['again']}", "/todo"):
            assert not read(looks, path).of("a", "data-action")
    finally:
        conn.execute("DROP ROLE web_looks")


def test_a_begin_is_asked_for_and_undone(page: Page, dsn: str, conn: Connection) -> None:
    ids = fill(dsn, "m_x")
    before = conn.execute("SELECT max(module_instance_id) FROM omd.module_instance").fetchone()
    text = " ".join(read(page, "/module/m_x").texts)
    assert "A begin would be aborted" in text
    assert str(ids["again"]) in text
    assert (
        before == conn.execute("SELECT max(module_instance_id) FROM omd.module_instance").fetchone()
    )


def test_each_kind_of_object_has_its_link(conn: Connection) -> None:
    kinds = conn.execute("SELECT object_kind, path FROM omd_web.object_kind").fetchall()
    assert {row["object_kind"]: row["path"] for row in kinds} == linked.PATHS
    assert linked.path_of("MODULE", "a/b?") == "/module/a%2Fb%3F"
    assert linked.path_of("TASK_TYPE", "WORK/SPARK") == "/queue?type=WORK%2FSPARK"
    assert linked.path_of("SINK", "x") is None
    with parts.under("/omd"):
        assert linked.path_of("BATCH", "b") == "/omd/batch/b"


# The look ---------------------------------------------------------------------------------------


def _luminance(colour: str) -> float:
    values = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_have_contrast(page: Page) -> None:
    html = page.get("/work").text
    found = re.search(r'href="([^"]+page[^"]+css)"', html)
    assert found
    css = page.get(found[1]).text
    tokens = re.findall(r"--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\)", css)
    for scheme in (1, 2):
        colour = {token[0]: token[scheme] for token in tokens}
        for state in "sefac":
            for ground in (f"{state}-soft", "card"):
                assert _contrast(colour[f"{state}-ink"], colour[ground]) >= 4.5, (state, ground)
            assert _contrast(colour[state], colour["card"]) >= 3, state
        for ground in ("page", "card", "lane"):
            assert _contrast(colour["ink"], colour[ground]) >= 7
            assert _contrast(colour["soft"], colour[ground]) >= 4.5
    assert "url(" not in css
    assert "@import" not in css
