"""Batches by runs, each run a cell with its status; a Batch opens into its Modules."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from omd.programs.page.markup import SIGNS, STATUS, Html, el, moment
from omd.programs.web import linked, parts
from omd.programs.web.linked import to
from omd.programs.web.section import Asked, Row, Screen, Section, Select

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_RUNS = {"10": "10", "30": "30", "60": "60", "120": "120"}
_BATCHES = 50

_GRID = """\
SELECT batch_code, position, batch_instance_id, execution_status_code, reason_code,
    start_datetime, end_datetime
FROM omd_web.grid(p_like => %(like)s, p_runs => %(runs)s, p_limit => %(limit)s,
    p_after => %(after)s)"""

_MODULES = """\
SELECT module_code, position, module_instance_id, execution_status_code, reason_code,
    start_datetime, end_datetime
FROM omd_web.grid_modules(p_batch_code => %(batch)s, p_runs => %(runs)s)"""


def screen(asked: Asked) -> Screen:
    """Return the screen."""
    like, after, opened = (asked.query.get(field) or None for field in ("like", "after", "open"))
    runs = asked.query.get("runs", "")
    runs = runs if runs in _RUNS else "30"
    grid = Select(
        _GRID,
        # Without a wildcard it is a part of the code.
        {"like": like if like is None or "%" in like else f"%{_plain(like)}%",
         "runs": int(runs), "limit": _BATCHES, "after": after},
    )  # fmt: skip
    modules = [Select(_MODULES, {"batch": opened, "runs": int(runs)})] if opened else []
    here = {"like": like, "runs": runs if runs != "30" else None, "after": after}

    def render(rows: Sequence[Row], of_modules: Sequence[Row] = ()) -> Html:
        return _grid(rows, of_modules, int(runs), opened, here)

    form = linked.form(
        parts.path("/grid"),
        linked.entry("Batch", "like", like, "a part of its code, or LIKE"),
        linked.choice("Runs", "runs", _RUNS.items(), runs),
    )
    section = Section("grid", "Batches and their runs", (grid, *modules), render)
    return Screen("grid", "Grid", (section,), form)


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace("_", "\\_")


def _grid(
    rows: Sequence[Row],
    modules: Sequence[Row],
    runs: int,
    opened: str | None,
    here: Mapping[str, str | None],
) -> Html:
    if not rows:
        return parts.table("omd_web.grid", rows, {})
    batches = _grouped(rows, "batch_code")
    most = max(_positions(its) for its in batches.values())
    lines = []
    for code, its in batches.items():
        is_open = code == opened
        ask = {**here, "open": None if is_open else code}
        fold = el(
            "a", "\N{BLACK DOWN-POINTING SMALL TRIANGLE}" if is_open
            else "\N{BLACK RIGHT-POINTING SMALL TRIANGLE}",
            href=f"{parts.path('/grid', ask)}#grid",
            cls="fold", aria_label=f"{'Close' if is_open else 'Open'} {code}",
            aria_expanded="true" if is_open else "false",
        )  # fmt: skip
        lines.append(_line(Html(fold + to("BATCH", code)), code, its, most, "BATCH_INSTANCE"))
        if is_open:
            lines += [
                _line(to("MODULE", module), f"{code}/{module}", cells, most, "MODULE_INSTANCE")
                for module, cells in _grouped(modules, "module_code").items()
            ]
    head = [("Batch", None), (f"its last {runs} runs, the newest at the right", None),
            ("started", None), ("took", "num")]  # fmt: skip
    table = el(
        "table",
        el("thead", el("tr", *(el("th", title, scope="col", cls=cls) for title, cls in head))),
        el("tbody", *lines),
        data_view="omd_web.grid",
    )
    legend = (
        el("span", _cell_of(status), f" {word}", cls="nowrap") for status, word in STATUS.items()
    )
    more = None
    if len(batches) >= _BATCHES:
        ask = {**here, "after": list(batches)[-1]}
        more = el("p", el("a", "The next Batches", href=parts.path("/grid", ask)), cls="note")
    return el(
        "div",
        el("p", *legend, cls="legend"),
        el("div", table, cls="scroll grid", tabindex=0),
        more,
    )


def _grouped(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    groups = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


def _positions(rows: Sequence[Row]) -> int:
    return max(row["position"] or 0 for row in rows)


def _line(what: Html, key: str, rows: Sequence[Row], most: int, kind: str) -> Html:
    by_position = {row["position"]: row for row in rows if row["position"] is not None}
    column = f"{kind.lower()}_id"
    cells = [
        _cell(by_position[place], kind, by_position[place][column])
        if place in by_position
        else el("i", cls="cell gap")
        for place in range(most, 0, -1)
    ]
    newest = by_position[min(by_position)] if by_position else None
    depth = "batch" if kind == "BATCH_INSTANCE" else "module"
    return el(
        "tr",
        el("th", what, scope="row"),
        el("td", el("span", *cells, cls="cells"), data_t="runs")
        if newest
        else el("td", "It never ran.", cls="none", data_t="runs"),
        el("td", moment(newest["start_datetime"]) if newest else None, data_t="started"),
        el(
            "td",
            linked.took(newest["start_datetime"], newest["end_datetime"]) if newest else None,
            cls="num",
            data_t="took",
        ),
        data_key=key,
        id=parts.id_of(key),
        cls=depth,
    )


def _cell(row: Row, kind: str, instance: int) -> Html:
    status = row["execution_status_code"]
    title = f"{STATUS[status]}, run {instance}, {row['start_datetime'].astimezone():%Y-%m-%d %H:%M}"
    if row["end_datetime"]:
        title += f", {linked.took(row['start_datetime'], row['end_datetime'])}"
    if row["reason_code"]:
        title += f", {row['reason_code']}"
    return el(
        "a", SIGNS[status], cls=f"cell {status}", href=linked.path_of(kind, instance),
        title=title, aria_label=title, data_status=status,
    )  # fmt: skip


def _cell_of(status: str) -> Html:
    return el("i", SIGNS[status], cls=f"cell {status}", aria_hidden="true")
