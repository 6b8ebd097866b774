"""``/facts/{interface}/{entity}?at=&key=``: the facts of an entity at a moment.

With a key there is its history, and with a column too where its value comes from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psycopg import sql

from omd.programs.page.markup import Html, described, el, join
from omd.programs.report import explained
from omd.programs.web import cells, linked, lists, parts
from omd.programs.web.section import Asked, Row, Screen, Section, Select
from omd.rooms.provenance.rows import ExplainRow

# The columns of the views of an entity; which of them are its key says the model.
_COLUMNS = """\
SELECT a.attname AS name, k.attribute_code IS NOT NULL AS is_attribute, k.key_position,
    t.typcategory = 'N' AS is_number
FROM pg_catalog.pg_attribute AS a
INNER JOIN pg_catalog.pg_class AS c ON a.attrelid = c.oid
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
INNER JOIN pg_catalog.pg_type AS t ON a.atttypid = t.oid
LEFT JOIN (
    SELECT t.attribute_code, t.key_position
    FROM omd_delivery.interface AS i
    INNER JOIN omd_delivery.entity AS e ON i.interface_id = e.interface_id
    INNER JOIN omd_delivery.attribute AS t ON e.entity_id = t.entity_id
    WHERE i.interface_code = %(interface)s AND e.entity_code = %(entity)s
) AS k ON a.attname = k.attribute_code
WHERE
    n.nspname = %(schema)s AND c.relname = %(entity)s AND c.relkind = 'v'
    AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum"""

_PAGED_BY = "acm_id"


class Entity:
    """An entity of an interface, as its views show it."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.interface, self.entity = asked.path["interface"], asked.path["entity"]
        self.at = asked.query.get("at") or None
        columns = asked.read(
            Select(
                _COLUMNS,
                {
                    "interface": self.interface,
                    "entity": self.entity,
                    "schema": f"asof_{self.interface}",
                },
            )
        )
        self.columns = [row["name"] for row in columns]
        self.numbers = {row["name"] for row in columns if row["is_number"]}
        self.attributes = {row["name"] for row in columns if row["is_attribute"]}
        keys = [row for row in columns if row["key_position"] is not None]
        self.keys = [row["name"] for row in sorted(keys, key=lambda row: row["key_position"])]
        self.key, self.problem = self._key()

    def named(self, prefix: str) -> str:
        """Return the view of the entity in one of the schemas, quoted where it needs to be."""
        return sql.Identifier(prefix + self.interface, self.entity).as_string(None)

    def shown(self, prefix: str) -> str:
        """Return the view as the mark data-view has it."""
        return f"{prefix}{self.interface}.{self.entity}"

    def _key(self) -> tuple[Mapping[str, Any] | None, str | None]:
        """Return the key that is asked for, and what is wrong with it."""
        text = self.asked.query.get("key")
        if not text:
            return None, None
        try:
            value = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
        except (ValueError, RecursionError):
            value = text
        if not isinstance(value, dict):  # of one column the value is enough
            value = {self.keys[0]: value} if len(self.keys) == 1 else {}
        unknown = [column for column in value if column not in self.columns]
        if unknown or not value:
            its = json.dumps(dict.fromkeys(self.keys, "…"), ensure_ascii=False)
            return None, f"A key of this entity looks like this: {its}"
        return value, None

    def condition(self) -> str:
        """Return the condition that finds the key; its values are `values`."""
        assert self.key is not None  # noqa: S101 - asked for by a key
        return " AND ".join(
            f"{quoted(column)} IS NULL" if value is None else f"{quoted(column)} = %(key_{at})s"
            for at, (column, value) in enumerate(self.key.items())
        )

    @property
    def values(self) -> dict[str, Any]:
        """The values of `condition`."""
        return {
            f"key_{at}": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for at, value in enumerate((self.key or {}).values())
            if value is not None
        }

    def key_of(self, row: Row) -> str:
        """Return the key of a row as a parameter of the URL."""
        return json.dumps(
            {
                column: None if row[column] is None else cells.plain(row[column])
                for column in self.keys
            },
            ensure_ascii=False,
        )


def quoted(column: str) -> str:
    """Return a column as a statement has it; a percent sign stands for itself."""
    return sql.Identifier(column).as_string(None).replace("%", "%%")


def screen(asked: Asked) -> Screen:
    """Return the facts of an entity."""
    it = Entity(asked)
    title = f"Facts of {it.entity}"
    if not it.columns:
        nothing = lists.nothing(f"{it.interface} has no entity {it.entity}, or it is not deployed.")
        none = Section("facts", "Facts", (), lambda: nothing)
        return Screen("facts", title, (none,), form=_form(it))
    if it.problem is not None:
        alert = el("p", it.problem, role="alert", data_sqlstate="22023", cls="alert")
        wrong = Section("facts", "Facts", (), lambda: alert)
        return Screen("facts", title, (wrong,), form=_form(it))
    if it.key is None:
        return Screen("facts", title, (_all(it),), form=_form(it))
    sections = [_one(it), _history(it)]
    if asked.query.get("column"):
        sections.insert(0, _explain(it, asked.query["column"]))
    return Screen("facts", title, tuple(sections), form=_form(it))


def _form(it: Entity) -> Html:
    its = json.dumps(dict.fromkeys(it.keys, "…"), ensure_ascii=False)
    asked = it.asked
    return lists.filters(
        lists.field(asked, "at", "as of", "now"),
        lists.field(asked, "key", "key", its),
        lists.field(asked, "column", "explain the column"),
    )


def _source(it: Entity) -> str:
    """Return what is read: the facts as of the moment that is asked for, or of the last load."""
    view = it.named("asof_").replace("%", "%%")
    return view if it.at is None else f"{view}(%(at)s::timestamptz)"


def _all(it: Entity) -> Section:
    after = it.asked.query.get("after") or None
    is_paged = _PAGED_BY in it.columns
    conditions = [f"{_PAGED_BY} > %(after)s"] if is_paged and after else []
    select = lists.select(
        it.asked,
        "SELECT *\nFROM {source}{where}{order}\nLIMIT %(limit)s".replace(
            "{source}", _source(it)
        ).replace("{order}", f"\nORDER BY {_PAGED_BY}" if is_paged else ""),
        100,
        conditions,
        {"at": it.at, "after": after},
    )
    columns = _columns(it)
    if it.keys:  # its first column leads to the row
        first = next(title for title in columns if title.rstrip("#") == it.keys[0])
        columns[first] = lambda r: parts.link(
            lists.here(it.asked, key=it.key_of(r), after=None), cells.value(r[it.keys[0]])
        )
    title = "All of them, as of the last load" if it.at is None else f"All of them, at {it.at}"
    return lists.listing(
        "facts", title, it.shown("asof_"), select, columns,
        key=tuple(it.keys) or None,
        paged=lists.Paged(it.asked, "after", _PAGED_BY, "Next") if is_paged else None,
        is_data=True,
    )  # fmt: skip


def _columns(it: Entity) -> dict[str, Callable[[Row], object]]:
    """Return the columns of a table; numbers stand to the right."""
    has_odd = any(column.endswith("#") for column in it.columns)
    return {
        column + ("#" if column in it.numbers and not has_odd else ""): _cell(column)
        for column in it.columns
    }


def _cell(column: str) -> Callable[[Row], object]:
    return lambda row: _value(column, row)


def _value(column: str, row: Row) -> object:
    if column == "acm_audit_id":  # the run that wrote it
        return cells.run(row[column])
    return cells.value(row[column])


def _one(it: Entity) -> Section:
    select = lists.select(
        it.asked,
        "SELECT *\nFROM {source}{where}\nLIMIT %(limit)s".replace("{source}", _source(it)),
        20,
        [it.condition()],
        {**it.values, "at": it.at},
    )

    def render(rows: Sequence[Row]) -> Html:
        if not rows:
            return lists.nothing("There was nothing with this key at that moment.")
        return join(
            el("div", described(_attributes(it, row)), data_key=it.key_of(row), cls="attributes")
            for row in rows
        )

    title = "As of the last load" if it.at is None else f"At {it.at}"
    return Section("facts", title, (select,), render, is_data=True)


def _attributes(it: Entity, row: Row) -> dict[str, object]:
    return {
        column: [
            _value(column, row),
            " ",
            parts.link(lists.here(it.asked, column=column), "explain", cls="soft"),
        ]
        if column in it.attributes
        else _value(column, row)
        for column in it.columns
    }


def _history(it: Entity) -> Section:
    order = "acm_start_dt" if "acm_start_dt" in it.columns else it.columns[0]
    select = lists.select(
        it.asked,
        "SELECT *\nFROM {source}{where}\nORDER BY {order}\nLIMIT %(limit)s".replace(
            "{source}", it.named("history_").replace("%", "%%")
        ).replace("{order}", quoted(order)),
        lists.MOST,
        [it.condition()],
        it.values,
    )
    columns = _columns(it)
    return lists.listing(
        "history", "Its history", it.shown("history_"), select, columns, is_data=True
    )


def _explain(it: Entity, column: str) -> Section:
    select = Select(
        "SELECT *\nFROM omd_provenance.explain(%(table)s, %(key)s::jsonb, %(column)s,"
        " %(at)s::timestamptz)\nORDER BY position\nLIMIT %(limit)s",
        {
            "table": it.named("gdal_"),
            "key": cells.plain(dict(it.key or {})),
            "column": column,
            "at": it.at,
            "limit": 1000,
        },
    )

    def render(rows: Sequence[Row]) -> Html:
        return join(explained.as_sections([ExplainRow(**row) for row in rows], linked.to))

    return Section("explain", f"Where {column} comes from", (select,), render, is_data=True)
