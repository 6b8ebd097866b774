"""HTML pages without script, network or any other file.

Every text goes through `el`, which escapes it, so a hostile name can't become markup.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from omd._terminal.text import as_text


class Html(str):
    """Markup, as opposed to text that has to be escaped."""

    __slots__ = ()


def text(value: object) -> str:
    """Return a value as escaped text; characters that HTML can't hold are replaced."""
    content = as_text(value) if not isinstance(value, str) else value
    kept = "".join(c if c >= " " or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in content)
    return html.escape(kept)


def el(tag: str, /, *children: object, **attributes: object) -> Html:
    """Return an element; its texts and attributes are escaped.

    The argument ``cls`` becomes ``class``; ``_`` in the name of an attribute becomes ``-``.
    """
    inside = "".join(c if isinstance(c, Html) else text(c) for c in children if c is not None)
    written = "".join(
        f' {"class" if key == "cls" else key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    end = "" if tag == "meta" else f"</{tag}>"
    return Html(f"<{tag}{written}>{inside}{end}")


def join(parts: Iterable[Html]) -> Html:
    """Return pieces of markup, one after the other."""
    return Html("".join(parts))


def name(code: object) -> Html:
    """Return a code of the user's, isolated so that it can't turn the direction of the text."""
    return el("bdi", code)


def moment(value: datetime | None) -> Html:
    """Return an instant, in the local time of the machine that made the page."""
    if value is None:
        return Html("")
    if value.year == 1:  # the driver reads -infinity so
        return Html("-&infin;")
    local = value.astimezone()
    return el("time", f"{local:%Y-%m-%d %H:%M:%S}", datetime=local.isoformat(timespec="seconds"))


def message(value: str | None) -> Html:
    """Return a long text, of which only the first line is shown until it is opened."""
    lines = (value or "").strip().splitlines()
    if len(lines) <= 1 and len(value or "") <= 300:
        return el("span", *lines, cls="message")
    return el("details", el("summary", lines[0][:300]), el("pre", "\n".join(lines)))


def number(value: float | None) -> str:
    """Return a number with separated thousands."""
    return "" if value is None else f"{value:,}"


def table(rows: Sequence[Any], columns: dict[str, Callable[[Any], object]]) -> Html:
    """Return a table; a column whose title ends in # holds numbers."""
    if not rows:
        return el("p", "None.", cls="none")
    kinds = {title: "num" if title.endswith("#") else None for title in columns}
    head = (el("th", title.rstrip("#"), scope="col", cls=kinds[title]) for title in columns)
    body = (
        el(
            "tr",
            *(
                el("td", cell(row), cls=kinds[title], data_t=title.rstrip("#"))
                for title, cell in columns.items()
            ),
        )
        for row in rows
    )
    inside = el("table", el("thead", el("tr", *head)), el("tbody", *body))
    return el("div", inside, cls="scroll", tabindex=0)


def section(id_: str, title: str, *children: object) -> Html:
    """Return a part of the page with its heading."""
    return el("section", el("h2", title), *children, id=id_)


_SIGNS = {
    "S": "\N{HEAVY CHECK MARK}",
    "F": "\N{HEAVY BALLOT X}",
    "A": "!",
    "E": "\N{HORIZONTAL ELLIPSIS}",
}


def verdict(kind: str, title: str, *children: Html) -> Html:
    """Return the part that says what was found, in the colour of ``kind``: S, F, A or E."""
    sign = el("span", _SIGNS[kind], cls="sign", aria_hidden="true")
    return el("section", sign, el("h2", title), *children, id="verdict", cls=f"verdict {kind}")


def described(pairs: Mapping[str, object]) -> Html:
    """Return a list of terms; a list of pieces describes one, and None leaves a term out."""
    return el(
        "dl",
        *(
            el("div", el("dt", term), el("dd", *(value if isinstance(value, list) else [value])))
            for term, value in pairs.items()
            if value is not None
        ),
    )


def zone() -> str:
    """Return the name of the local time."""
    now = datetime.now().astimezone()
    name, offset = f"{now:%Z}", f"{now:%z}"
    return name if offset == "+0000" else f"{name} (UTC{offset[:3]}:{offset[3:]})"


def page(title: str, *body: Html, style: str = "") -> str:
    """Return a whole page; ``style`` is added to what every page has."""
    head = [
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        # The browser loads nothing and executes nothing, whatever a name holds.
        el("meta", http_equiv="Content-Security-Policy",
           content="default-src 'none'; style-src 'unsafe-inline'"),
        el("title", title),
        Html(f"<style>{STYLE}{style}</style>"),
    ]  # fmt: skip
    whole = el("html", el("head", *head), "\n", el("body", el("main", *body)), lang="en")
    return f"<!doctype html>\n{whole}\n"


STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --ink: #1c2128; --soft: #5c6673; --line: #dfe3e8; --lane: #eef1f5;
  --s: #3f9d76; --f: #d1372c; --e: #2f6fd6; --a: #c27803; --c: #8a94a3; --rows: #7667c7;
  --f-soft: #fdecea; --e-soft: #e8f0fd; --a-soft: #fdf3dc; --s-soft: #e4f4ec; --c-soft: #eceff3;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2027; --ink: #e4e8ee; --soft: #98a3b2; --line: #2c343e;
    --lane: #222a33; --s: #4fb58c; --f: #f2655a; --e: #6aa0f5; --a: #e0a53c; --c: #7f8b9b;
    --rows: #9c8ff0; --f-soft: #3b1f1f; --e-soft: #1b2c4a; --a-soft: #3a2d12; --s-soft: #17342a;
    --c-soft: #28303a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 1400px; margin: 0 auto; padding: 24px clamp(12px, 3vw, 32px) 48px; }
header { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: baseline; }
h1 { font-size: 22px; margin: 0; overflow-wrap: anywhere; }
header p { margin: 0; color: var(--soft); }
h2 { font-size: 15px; margin: 0 0 12px; }
:focus-visible { outline: 2px solid var(--e); outline-offset: 2px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 16px clamp(12px, 2vw, 20px); margin-bottom: 16px; }
.none, .note { color: var(--soft); margin: 0; }
.note { margin-top: 10px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; color: var(--soft); font-weight: 500; font-size: 12px; white-space: nowrap; }
th, td { padding: 5px 16px 5px 0; vertical-align: top; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
th:last-child, td:last-child { padding-right: 0; }
th:last-child:not(.num), td:last-child:not(.num) { width: 100%; }
time, .num, .nowrap { font-variant-numeric: tabular-nums; white-space: nowrap; }
.num { text-align: right; }
.message { overflow-wrap: anywhere; }
.code { display: block; max-width: 28ch; overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap; }
td bdi { display: inline-block; max-width: 40ch; overflow-wrap: break-word; }
.message, td details { display: block; min-width: 24ch; max-width: 80ch; }
summary { cursor: pointer; overflow-wrap: anywhere; }
section > details > summary, .charts + details > summary { color: var(--soft); }
details > .scroll { margin-top: 10px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 6px 0 0; padding: 8px 10px;
  background: var(--lane); border-radius: 6px; max-height: 24em; overflow-y: auto;
  font: 12px/1.4 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.badge, .kind { display: inline-block; padding: 0 8px; border-radius: 9px; font-size: 12px;
  line-height: 18px; white-space: nowrap; background: var(--c-soft); }
.badge.S { background: var(--s-soft); } .badge.F { background: var(--f-soft); color: var(--f); }
.badge.E { background: var(--e-soft); } .badge.A { background: var(--a-soft); }
@media screen and (max-width: 700px) { /* a row becomes a card */
  thead { display: none; }
  table, tbody, tr, td, .message, td details { display: block; max-width: none; min-width: 0; }
  tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
  tr:last-child { border-bottom: 0; padding-bottom: 0; }
  td { display: grid; grid-template-columns: 88px minmax(0, 1fr); padding: 1px 0; border: 0; }
  td.num { text-align: left; }
  td > * { justify-self: start; }
  td:empty { display: none; }
  td::before { content: attr(data-t); color: var(--soft); font-size: 12px; }
}
@media print {
  :root { color-scheme: light; --page: #fff; }
  body { font-size: 11px; } main { padding: 0; max-width: none; }
  section { break-inside: auto; border: 0; border-top: 1px solid var(--line); border-radius: 0;
    padding: 10px 0; }
  h2 { break-after: avoid; } tr { break-inside: avoid; }
  .scroll { overflow: visible; }
  pre { max-height: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""

# What a page has that tells one finding: `verdict` and `described`.
FINDING = """
main { max-width: 960px; }
header { margin-bottom: 16px; }
.verdict { border-left: 6px solid var(--e); background: var(--e-soft); padding-left: 60px;
  position: relative; overflow-wrap: anywhere; }
.verdict h2 { font-size: 20px; margin: 0 0 8px; }
.verdict p { margin: 2px 0; max-width: 80ch; }
.verdict.S { border-left-color: var(--s); background: var(--s-soft); }
.verdict.F { border-left-color: var(--f); background: var(--f-soft); }
.verdict.A { border-left-color: var(--a); background: var(--a-soft); }
.sign { position: absolute; left: 16px; top: 14px; width: 30px; height: 30px; border-radius: 50%;
  background: var(--e); color: var(--card); text-align: center;
  font-size: 16px; line-height: 30px; }
.S > .sign { background: var(--s); } .F > .sign { background: var(--f); }
.A > .sign { background: var(--a); }
dl { margin: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr));
  gap: 6px 24px; }
dl div { display: grid; grid-template-columns: 88px minmax(0, 1fr); }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.line { display: block; }
small { display: block; color: var(--soft); }
@media screen and (max-width: 700px) {
  .verdict { padding-left: 16px; } .verdict h2 { padding-left: 40px; min-height: 30px; }
}
"""
