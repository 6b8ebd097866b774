"""``/delivery/{id}``: what became of a delivery and why, and what of it went where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from omd.programs.page.markup import Html, join, moment, number
from omd.programs.report import receipt
from omd.programs.report.receipt import row_counts
from omd.programs.web import cells, linked, lists
from omd.programs.web.screens import deliveries
from omd.programs.web.section import Asked, Row, Screen, Section, Select
from omd.rooms.delivery.rows import DeliveryEventsRow, DeliveryLogRow, DeliveryStateRow


def screen(asked: Asked) -> Screen:
    """Return a delivery."""
    lists.require(
        asked,
        "SELECT FROM omd_report.delivery_log WHERE delivery_id = %(id)s::bigint",
        f"delivery {asked.path['id']}",
    )
    return Screen(
        "delivery",
        f"Delivery {asked.path['id']}",
        (
            _receipt(asked),
            linked.actions(asked, "DELIVERY", asked.path["id"]),
            _events(asked),
            _items(asked),
            _loads(asked),
            _exports(asked),
            _removals(asked),
            _quarantine(asked),
        ),
    )


def _select(asked: Asked, text: str, limit: int = lists.MOST) -> Select:
    return Select(text, {"delivery_id": asked.path["id"], "limit": limit})


def _receipt(asked: Asked) -> Section:
    selects = (
        _select(
            asked,
            "SELECT omd_delivery.delivery_receipt(%(delivery_id)s::bigint) AS receipt"
            " LIMIT %(limit)s",
            1,
        ),
        _select(
            asked,
            "SELECT * FROM omd_report.delivery_log WHERE delivery_id = %(delivery_id)s::bigint"
            " LIMIT %(limit)s",
            1,
        ),
        _select(
            asked,
            "SELECT * FROM omd_report.delivery_events"
            " WHERE delivery_id = %(delivery_id)s::bigint"
            " ORDER BY delivery_event_id DESC LIMIT %(limit)s",
            1,
        ),
        _select(
            asked,
            "SELECT * FROM omd_report.delivery_state WHERE delivery_id = %(delivery_id)s::bigint"
            " LIMIT %(limit)s",
            1,
        ),
    )
    return Section("receipt", "The receipt", selects, _as_receipt)


def _as_receipt(
    document: Sequence[Row], log: Sequence[Row], events: Sequence[Row], state: Sequence[Row]
) -> Html:
    if not log or not events:
        return lists.nothing("The delivery was removed meanwhile.")
    it = receipt.Receipt(
        document[0]["receipt"],
        DeliveryLogRow(**log[0]),
        DeliveryEventsRow(**events[0]),
        DeliveryStateRow(**state[0]) if state else None,
    )
    return join(receipt.as_sections(it, "The rows stand below, for who has omd_data_reader."))


def _events(asked: Asked) -> Section:
    select = _select(
        asked,
        """\
SELECT delivery_event_id, event_datetime, from_status, to_status, event, attempt, reason, editor
FROM omd_report.delivery_events
WHERE delivery_id = %(delivery_id)s::bigint
ORDER BY delivery_event_id
LIMIT %(limit)s""",
    )
    return lists.listing(
        "events", "What happened to it", "omd_report.delivery_events", select,
        {
            "when": lambda r: moment(r["event_datetime"]),
            "was": lambda r: r["from_status"] and deliveries.status(r["from_status"]),
            "is": lambda r: deliveries.status(r["to_status"]),
            "by the call": lambda r: cells.text(r["event"]),
            "run no.#": lambda r: r["attempt"],
            "who": lambda r: cells.text(r["editor"]),
            "why": lambda r: cells.words(r["reason"]),
        },
        key="delivery_event_id",
    )  # fmt: skip


def _items(asked: Asked) -> Section:
    select = _select(
        asked,
        """\
SELECT queue_id, queue_status, delete_type, row_counts, queued_datetime, started_datetime,
    finished_datetime, module_instance_id
FROM omd_report.delivery_queue
WHERE delivery_id = %(delivery_id)s::bigint
ORDER BY queue_id
LIMIT %(limit)s""",
    )
    return lists.listing(
        "queue", "In the queue of the facts", "omd_report.delivery_queue", select,
        {
            "item#": lambda r: r["queue_id"],
            "status": lambda r: deliveries.queue_status(r["queue_status"]),
            "deletes": lambda r: r["delete_type"].lower(),
            "rows": lambda r: row_counts(r["row_counts"] or {}),
            "queued": lambda r: moment(r["queued_datetime"]),
            "began": lambda r: moment(r["started_datetime"]),
            "stored": lambda r: moment(r["finished_datetime"]),
            "run#": lambda r: cells.run(r["module_instance_id"]),
        },
        key="queue_id",
    )  # fmt: skip


def _loads(asked: Asked) -> Section:
    select = _select(
        asked,
        """\
SELECT module_instance_id, load_kind, transaction_datetime, row_counts, loaded_datetime, undone_by
FROM omd_report.facts_loads
WHERE delivery_id = %(delivery_id)s::bigint
ORDER BY module_instance_id
LIMIT %(limit)s""",
    )
    return lists.listing(
        "loads", "Loaded into the facts", "omd_report.facts_loads", select,
        {
            "run#": lambda r: cells.run(r["module_instance_id"]),
            "kind": lambda r: r["load_kind"].lower(),
            "time of its rows": lambda r: moment(r["transaction_datetime"]),
            "rows": lambda r: _written(r["row_counts"]),
            "loaded": lambda r: moment(r["loaded_datetime"]),
            "undone by#": lambda r: cells.run(r["undone_by"]),
        },
        key="module_instance_id",
    )  # fmt: skip


def _written(counts: Mapping[str, Mapping[str, int]] | None) -> str:
    """Return how many rows of each entity a load wrote."""
    return "; ".join(
        f"{entity}: {of.get('rows', 0):,}" for entity, of in sorted((counts or {}).items())
    )


def _exports(asked: Asked) -> Section:
    select = _select(
        asked,
        """\
SELECT delivery_status, export_mode, as_of, target_uri, entity_codes, attempt, module_instance_id,
    manifest, exported_datetime
FROM omd_report.facts_exports
WHERE delivery_id = %(delivery_id)s::bigint
LIMIT %(limit)s""",
    )
    return lists.listing(
        "export", "Exported as files", "omd_report.facts_exports", select,
        {
            "status": lambda r: deliveries.status(r["delivery_status"]),
            "mode": lambda r: r["export_mode"].lower(),
            "as of": lambda r: moment(r["as_of"]),
            "entities": lambda r: cells.codes(r["entity_codes"]),
            "to": lambda r: cells.text(r["target_uri"]),
            "manifest": lambda r: cells.document(r["manifest"]),
            "done": lambda r: moment(r["exported_datetime"]),
            "run#": lambda r: cells.run(r["module_instance_id"]),
        },
    )  # fmt: skip


def _removals(asked: Asked) -> Section:
    select = _select(
        asked,
        """\
SELECT removal_id, entity_code, layer, table_name, key_count, row_count, removed_datetime,
    module_instance_id
FROM omd_report.facts_removals
WHERE delivery_id = %(delivery_id)s::bigint
ORDER BY removal_id
LIMIT %(limit)s""",
    )
    return lists.listing(
        "removals", "Removed for good", "omd_report.facts_removals", select,
        {
            "entity": lambda r: cells.text(r["entity_code"]),
            "layer": lambda r: r["layer"].lower(),
            "table": lambda r: cells.text(r["table_name"]),
            "keys#": lambda r: number(r["key_count"]),
            "rows#": lambda r: number(r["row_count"]),
            "when": lambda r: moment(r["removed_datetime"]),
            "run#": lambda r: cells.run(r["module_instance_id"]),
        },
        key="removal_id",
    )  # fmt: skip


def _quarantine(asked: Asked) -> Section:
    select = _select(
        asked,
        """\
SELECT attempt, entity_code, record_key, origin, constraint_codes, is_skipped, raw, staged_from
FROM omd_report.delivery_quarantine
WHERE delivery_id = %(delivery_id)s::bigint
ORDER BY attempt DESC, entity_code, record_key
LIMIT %(limit)s""",
        50,
    )
    return lists.listing(
        "quarantine", "Rows that break a rule", "omd_report.delivery_quarantine", select,
        {
            "run no.#": lambda r: r["attempt"],
            "entity": lambda r: cells.text(r["entity_code"]),
            "key": lambda r: cells.pairs(r["record_key"]),
            "breaks": lambda r: cells.codes(r["constraint_codes"]),
            "row": lambda r: cells.document(r["raw"]),
            "what came of it": lambda r: "left out" if r["is_skipped"] else r["origin"].lower(),
            "from": lambda r: cells.file(r["staged_from"]),
        },
        is_data=True,
    )  # fmt: skip
