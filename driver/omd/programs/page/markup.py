"""HTML pages without script, network or any other file.

Every text goes through `el`, which escapes it, so a hostile name can't become markup.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from omd.programs.terminal.text import as_text
from omd.rooms.control.codes import Status


class Html(str):
    """Markup, as opposed to text that has to be escaped."""

    __slots__ = ()


def text(value: object) -> str:
    """Return a value as escaped text; characters that HTML can't hold are replaced."""
    content = as_text(value) if not isinstance(value, str) else value
    return html.escape(_UNHELD.sub("\N{REPLACEMENT CHARACTER}", content))


_UNHELD = re.compile(r"[\x00-\x08\x0b-\x1f]")  # characters that HTML can't hold
_VOID = ("br", "hr", "img", "input", "link", "meta", "wbr")  # elements without an end


def el(tag: str, /, *children: object, **attributes: object) -> Html:
    """Return an element; its texts and attributes are escaped.

    The argument ``cls`` becomes ``class``; ``_`` in the name of an attribute becomes ``-``.
    """
    inside = "".join(c if isinstance(c, Html) else text(c) for c in children if c is not None)
    written = "".join(
        f' {_attribute(key)}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    end = "" if tag in _VOID else f"</{tag}>"
    return Html(f"<{tag}{written}>{inside}{end}")


@functools.cache
def _attribute(key: str) -> str:
    return "class" if key == "cls" else key.rstrip("_").replace("_", "-")


def join(parts: Iterable[Html]) -> Html:
    """Return pieces of markup, one after the other."""
    return Html("".join(parts))


def name(code: object) -> Html:
    """Return a code of the user's, isolated so that it can't turn the direction of the text."""
    return el("bdi", code)


def moment(value: datetime | str | None) -> Html:
    """Return an instant, in the local time of the machine that made the page."""
    if value is None:
        return Html("")
    if isinstance(value, str):  # Python can't hold it
        return el("span", value)
    if value.year == 1:  # the driver reads -infinity so
        return Html("-&infin;")
    if value.year == 9999:  # infinity, or the end of a row that is open
        return Html("&infin;")
    local = value.astimezone()
    return el("time", f"{local:%Y-%m-%d %H:%M:%S}", datetime=local.isoformat(timespec="seconds"))


def message(value: str | None, most: int = 300) -> Html:
    """Return a long text, of which only the first line is shown until it is opened."""
    lines = (value or "").strip().splitlines() or [""]
    if len(lines) == 1 and len(lines[0]) <= most:
        return el("span", *lines, cls="message")
    return el("details", el("summary", lines[0][:most]), el("pre", "\n".join(lines)))


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


# Titles of columns, and what makes a cell of a row, whose attributes are the columns of its view.
Columns = dict[str, Callable[[Any], object]]
# What makes a link, or only a name, of a kind, a key and perhaps a text.
To = Callable[..., Html]


def nowhere(_kind: str, key: object, text: object = None) -> Html:
    """Return the name of something on a page that has no place for it."""
    return name(key if text is None else text)


# A state is colour, sign and word, on every page.
STATUS = {letter: Status(letter).word for letter in "SFEAC"}
SIGNS = {
    "S": "\N{CHECK MARK}",
    "F": "\N{MULTIPLICATION X}",
    "E": "\N{CIRCLE WITH LEFT HALF BLACK}",
    "A": "!",
    "C": "\N{EN DASH}",
}


# What the rooms call their states, and which of the five it is.
_STATES = {
    **{code: (code, word) for code, word in STATUS.items()},
    "RUNNING": ("E", "running"),
    "CLAIMED": ("E", "claimed"),
    "FAILED": ("F", "failed"),
    "BACK_OFF": ("F", "backs off"),
    "DEAD": ("F", "dead"),
    "REJECTED": ("F", "rejected"),
    "WAITING": ("A", "waits"),
    "PAUSED": ("A", "paused"),
    "SUSPENDED": ("A", "suspended"),
    "ABORTED": ("A", "aborted"),
    "ACCEPTED WITH FINDINGS": ("A", "accepted with findings"),
    "ACCEPTED": ("S", "accepted"),
    "SUCCEEDED": ("S", "succeeded"),
    "DONE": ("S", "done"),
    "IDLE": ("S", "idle"),
}


def state(status: object) -> tuple[str, str]:
    """Return which of S, F, E, A and C a state of any room is, and its word."""
    known = _STATES.get(str(status))
    return known or ("C", str(status).replace("_", " ").lower())


def badge(status: object, word: object = None) -> Html:
    """Return a state of any room as colour, sign and word; ``word`` replaces its own."""
    if status is None:
        return Html("")
    code, its = state(status)
    return el(
        "span",
        el("i", SIGNS[code], aria_hidden="true"),
        el("span", its if word is None else word),
        cls=f"badge {code}",
        data_status=status,
    )


def light(status: object, failures: int | None, word: object = None) -> Html:
    """Return a state of work with the failures since its last success beside it."""
    shown = badge(status, word)
    if not failures or state(status)[0] == "F":
        return shown
    return join([shown, Html(" "), badge("F", failed_times(failures))])


def failed_times(failures: int) -> str:
    """Return how often something has failed, in words."""
    return "failed once" if failures == 1 else f"failed {failures:,} times"


def verdict(
    kind: str, title: str, *children: Html, id_: str = "verdict", level: str = "h2"
) -> Html:
    """Return the part that says what was found, in the colour of ``kind``: S, F, A, E or C."""
    sign = el("span", SIGNS[kind], cls="sign", aria_hidden="true")
    tag = "section" if level == "h2" else "div"
    return el(tag, sign, el(level, title), *children, id=id_, cls=f"verdict {kind}")


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


STYLE = "\n" + Path(__file__).with_name("page.css").read_text(encoding="utf-8")

# What a page has that tells one finding: `verdict` and `described`.
FINDING = "\n" + Path(__file__).with_name("finding.css").read_text(encoding="utf-8")
