"""Tiles, a timeline and charts, as parts of a page (see `omd.programs.page.markup`)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from omd.programs.page.markup import SIGNS, STATUS, Html, el, name
from omd.programs.terminal.text import as_text


def compact(value: int) -> str:
    """Return a number shortened for a tile: 9,999, 12.3 k, 4.5 M."""
    if value < 10_000:
        return f"{value:,}"
    unit, size = next((u, s) for u, s in _UNITS if value >= s)
    return f"{value / size:.3g} {unit}"


_UNITS = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


def tiles(shown: Iterable[tuple[str, str, str, str | None]]) -> Html:
    """Return counts in large letters: where each leads to, its word, the count, its state.

    A count of nothing has no state.
    """
    return el(
        "nav",
        *(_tile(href, word, count, None if count == "0" else kind)
          for href, word, count, kind in shown),
        cls="tiles",
        aria_label="Summary",
    )  # fmt: skip


def _tile(href: str, word: str, count: str, kind: str | None) -> Html:
    sign = el("i", SIGNS[kind], aria_hidden="true") if kind else None
    shown = f"tile {kind}" if kind else "tile"
    return el("a", el("b", count), el("span", word), sign, href=href, cls=shown, data_status=kind)


# The timeline -----------------------------------------------------------------------------------


@dataclass
class Bar:
    """One instance on the timeline."""

    start: datetime
    end: datetime
    status: str
    title: str
    href: str | None = None


@dataclass
class Lane:
    """A line of the timeline: a Batch, or a Module under it."""

    label: str
    depth: int
    is_batch: bool
    href: str | None = None
    bars: list[Bar] = field(default_factory=list)


# Where something leads to: of a kind (MODULE, BATCH, MODULE_INSTANCE, BATCH_INSTANCE) and a key.
Path_ = Callable[[str, object], "str | None"]


def _nowhere(_kind: str, _key: object) -> None:
    return None


def lanes(
    batches: Sequence[Any], modules: Sequence[Any], now: datetime, path: Path_ = _nowhere
) -> list[Lane]:
    """Return the Batches by their first start, with child Batches and Modules below them."""
    batch_of = {run.batch_instance_id: run.batch_code for run in batches}
    bars: dict[str | None, list[Bar]] = defaultdict(list)
    beneath: dict[str | None, dict[str, list[Bar]]] = defaultdict(dict)
    parents: dict[str, str | None] = {}
    for run in batches:
        its = run.batch_instance_id
        bar = _bar(run, "Batch", its, run.batch_code, now, path("BATCH_INSTANCE", its))
        bars[run.batch_code].append(bar)
        parents[run.batch_code] = batch_of.get(run.parent_batch_instance_id)
    for run in modules:
        its = run.module_instance_id
        bar = _bar(run, "Module", its, run.module_code, now, path("MODULE_INSTANCE", its))
        beneath[run.batch_code].setdefault(run.module_code, []).append(bar)
        if run.batch_code is not None:
            parents.setdefault(run.batch_code, None)

    children: dict[str | None, list[str]] = defaultdict(list)
    for code, parent in parents.items():
        children[parent].append(code)

    lanes: list[Lane] = []

    def add_modules(of: str | None, depth: int) -> None:
        lanes.extend(
            Lane(code, depth, False, path("MODULE", code), its) for code, its in beneath[of].items()
        )

    def add(code: str, depth: int) -> None:
        lanes.append(Lane(code, depth, True, path("BATCH", code), bars[code]))
        add_modules(code, depth + 1)
        for child in children[code]:
            add(child, depth + 1)

    for code in children[None]:
        add(code, 0)
    if beneath[None]:
        lanes.append(Lane("on their own", 0, True))
        add_modules(None, 1)
    return lanes


def _bar(run: Any, kind: str, instance: int, code: str, now: datetime, href: str | None) -> Bar:
    end = run.end_datetime or now
    status = str(run.execution_status_code)
    began = f"{run.start_datetime.astimezone():%Y-%m-%d %H:%M:%S}"
    until = "now"
    if run.end_datetime:
        until = f"{end.astimezone():%H:%M:%S}, {as_text(end - run.start_datetime)}"
    lines = [
        f"{code} ({kind} Instance {instance})",
        STATUS[status] + (f": {run.reason_code}" if run.reason_code else ""),
        f"{began} to {until}"
        + (f", {as_text(end - run.start_datetime)}" if run.end_datetime else ""),
    ]
    if inserted := getattr(run, "rows_inserted", 0):
        lines.append(f"{inserted:,} rows inserted")
    return Bar(run.start_datetime, end, status, "\n".join(lines), href)


_STEPS = [
    *(timedelta(minutes=m) for m in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=h) for h in (1, 2, 3, 6, 12)),
    *(timedelta(days=d) for d in (1, 2, 7, 14, 28, 91, 364)),
]


def ticks(start: datetime, end: datetime) -> list[datetime]:
    """Return at most ten instants between two others, which are round in local time."""
    step = next((s for s in _STEPS if (end - start) / s <= 10), _STEPS[-1])
    local = start.astimezone()
    first = local.replace(hour=0, minute=0, second=0, microsecond=0)
    first += math.ceil((local - first) / step) * step
    return [first + n * step for n in range(math.ceil((end - first) / step))]


AXIS, LANE, GAP = 24, 24, 6  # as in charts.css


def timeline(lanes: Sequence[Lane], start: datetime, end: datetime) -> Html:
    """Return the lanes as a chart: names in a column, bars in an SVG as wide as the window allows.

    If nothing ran in the first half of the span, the chart begins with the first run.
    """
    first = min(bar.start for lane in lanes for bar in lane.bars)
    if first - start > end - first:
        start = first - (end - first) / 50 - timedelta(seconds=1)
    span = (end - start).total_seconds()

    def x(at: datetime) -> float:
        return min(100.0, max(0.0, (at - start).total_seconds() / span * 100))

    labels: list[Html] = []
    backs: list[Html] = []
    shapes: list[Html] = []
    y = 0
    for index, lane in enumerate(lanes):
        if lane.is_batch and index:
            y += GAP
        kind = "batch" if lane.is_batch else "module"
        labels.append(
            el(
                "div",
                name(lane.label)
                if lane.href is None
                else el("a", name(lane.label), href=lane.href),
                cls=kind,
                data_depth=min(lane.depth, 5),
                title=lane.label,
            )
        )
        backs.append(
            el("rect", cls="lane batch" if lane.is_batch else "lane", x=0, y=y, width="100%",
               height=LANE)
        )  # fmt: skip
        # A run that was skipped or aborted is a ring; it is drawn last, so that no bar hides it.
        for bar in sorted(lane.bars, key=lambda b: b.status in "AC"):
            left, right = x(bar.start), x(bar.end)
            if bar.status in "AC":
                place: dict[str, object] = {"cx": f"{left:.3f}%", "cy": y + LANE / 2, "r": 3.5}
                shape = "circle"
            else:
                inset = 4 if lane.is_batch else 6
                wide = max(right - left, 0.25)
                place = {
                    "x": f"{min(left, 100 - wide):.3f}%",
                    "y": y + inset,
                    "width": f"{wide:.3f}%",
                    "height": LANE - 2 * inset,
                }
                shape = "rect"
            drawn = el(shape, el("title", bar.title), cls=f"bar {bar.status}", **place)
            shapes.append(_linked(drawn, bar.href, bar.title))
        y += LANE

    axis: list[Html] = []
    lines: list[Html] = []
    shown = ticks(start, end)
    by_day = len(shown) > 1 and shown[1] - shown[0] >= timedelta(days=1)
    for index, tick in enumerate(shown):
        at = f"{x(tick):.3f}%"
        midnight = (tick.hour, tick.minute) == (0, 0)
        label = f"{tick:%b %d}" if by_day or midnight else f"{tick:%H:%M}"
        lines.append(el("line", cls="tick", x1=at, x2=at, y1=0, y2=y))
        axis.append(
            el("text", label, cls="odd" if index % 2 else None, x=at, y=AXIS - 9,
               data_time=tick.isoformat(timespec="seconds"))
        )  # fmt: skip
    now = el("line", cls="now", x1="100%", x2="100%", y1=0, y2=y)
    plot = el(
        "svg", *backs, *lines, *shapes, now, width="100%", height=y,
        role="group" if any(bar.href for lane in lanes for bar in lane.bars) else "img",
        aria_label="Timeline of Batch and Module Instances; the table below has the same data.",
    )  # fmt: skip
    instants = el("svg", *axis, width="100%", height=AXIS, aria_hidden="true")
    legend = (el("span", el("i", cls=f"key {status}"), word) for status, word in STATUS.items())
    return el(
        "figure",
        el("figcaption", *legend, cls="legend"),
        el(
            "div",
            el("div", cls="axis"),
            el("div", instants, cls="axis plot"),
            el("div", *labels, cls="labels"),
            el("div", plot, cls="plot"),
            cls="timeline",
            tabindex=0,
        ),
    )


# Charts of columns ------------------------------------------------------------------------------

Stack = Sequence[tuple[str, float]]  # the parts of a column from below: class of colour, value


def columns_chart(
    caption: str,
    stacks: Sequence[Stack],
    titles: Sequence[str],
    labels: Sequence[str | None],
    hrefs: Sequence[str | None] | None = None,
) -> Html:
    """Return a chart of columns, each with a text that the pointer shows and perhaps a label."""
    height, foot = 120, 20
    most = max((sum(value for _, value in stack) for stack in stacks), default=0)
    width = 100 / max(len(stacks), 1)
    shapes = [el("line", cls="tick", x1=0, x2="100%", y1=height, y2=height)]
    for index, (stack, title, label) in enumerate(zip(stacks, titles, labels, strict=True)):
        top = float(height)
        for status, value in stack:
            if not value:
                continue
            tall = max(value / most * (height - 14), 1.5)
            top -= tall
            shapes.append(
                el("rect", cls=f"bar {status}", x=f"{index * width + width * 0.12:.3f}%",
                   y=f"{top:.1f}", width=f"{width * 0.76:.3f}%", height=f"{tall:.1f}")
            )  # fmt: skip
        # The whole column reacts to the pointer.
        touch = el("rect", el("title", title), cls="touch", x=f"{index * width:.3f}%", y=0,
                   width=f"{width:.3f}%", height=height)  # fmt: skip
        shapes.append(_linked(touch, hrefs[index] if hrefs else None, title))
        if label is not None:
            at = f"{(index + 0.5) * width:.3f}%"
            shapes.append(el("text", label, x=at, y=height + foot - 6))
    return el(
        "figure",
        el("figcaption", caption),
        el("svg", *shapes, width="100%", height=height + foot,
           role="group" if hrefs else "img", aria_label=caption),
        cls="days",
    )  # fmt: skip


def _linked(shape: Html, href: str | None, title: str) -> Html:
    """Return a shape that leads somewhere; keys reach the same by the table beside the chart."""
    if href is None:
        return shape
    return el("a", shape, href=href, tabindex=-1, aria_label=title)


# What a page has that holds such parts.
STYLE = "\n" + Path(__file__).with_name("charts.css").read_text(encoding="utf-8")
