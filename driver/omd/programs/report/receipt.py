"""The receipt of a delivery in words: for a terminal, and as a page for people.

`omd_delivery.delivery_receipt` says what was counted and decided; here it is only put into
words. No row of the data is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from omd.programs.page.markup import (
    FINDING,
    Html,
    described,
    el,
    moment,
    name,
    number,
    page,
    section,
    table,
    verdict,
    zone,
)
from omd.programs.terminal.tables import show_pairs, show_table
from omd.programs.terminal.text import as_text, printable, short
from omd.rooms.delivery.rows import DeliveryEventsRow, DeliveryLogRow, DeliveryStateRow

if TYPE_CHECKING:
    from omd.doors.delivery import Delivery


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is known about a delivery.

    Attributes:
        document: what `omd_delivery.delivery_receipt` returned.
        log: its row of the log.
        last: what happened to it last.
        state: what it waits for; None at its end.
    """

    document: Mapping[str, Any]
    log: DeliveryLogRow
    last: DeliveryEventsRow
    state: DeliveryStateRow | None

    @property
    def is_rejected(self) -> bool:
        """Whether the verdict is that the data is not acceptable."""
        return self.log.verdict == "REJECTED"

    @property
    def entities(self) -> list[Mapping[str, Any]]:
        """The entities that were delivered."""
        return [e for e in self.document["entities"] if e["load"] is not None]

    def rules(self, *, broken: bool) -> list[tuple[str, Mapping[str, Any]]]:
        """Return entity and constraint of each rule that was counted, the worst ones first."""
        rules = [
            (entity["entity"], rule)
            for entity in self.document["entities"]
            for rule in entity["constraints"]
            if rule["level"] is not None and (rule["level"] != "NONE") == broken
        ]
        return sorted(rules, key=lambda f: -_LEVELS.index(f[1]["level"]))

    def findings(self) -> list[tuple[str, str, int]]:
        """Return entity, finding and count of what was found beside the rules."""
        return [
            (entity["entity"], finding, count)
            for entity in self.document["entities"]
            for finding, count in entity["findings"].items()
            if count
        ]


_LEVELS = ["NONE", "FINDING", "WARN", "REJECT"]


def read_receipt(room: Delivery, delivery_id: int) -> Receipt:
    """Return the receipt of a delivery.

    Raises:
        UnknownDelivery: there is none with this id.
    """
    document = room._calls.delivery_receipt(delivery_id)
    [log] = room._calls.report(DeliveryLogRow, delivery_id=delivery_id)
    [last] = room._calls.report(
        DeliveryEventsRow,
        delivery_id=delivery_id,
        order_by=["delivery_event_id"],
        descending=True,
        limit=1,
    )
    states = room._calls.report(DeliveryStateRow, delivery_id=delivery_id)
    return Receipt(document, log, last, states[0] if states else None)


# In words ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Explained:
    """A receipt in plain words; ``kind`` is the letter of its colour."""

    kind: str
    title: str
    why: list[str]
    next: list[str]


_ASK = "Ask whoever has received the delivery to show you the rows."


def explain(receipt: Receipt, rows: str = _ASK) -> Explained:
    """Return what became of a delivery, why, and what to do next; ``rows``: how to see rows."""
    status, verdict = receipt.log.delivery_status, receipt.log.verdict
    why = list(_reasons(receipt))
    by = f"{receipt.last.editor} said: {receipt.last.reason}"
    if status == "CHECKED":
        what = "be rejected" if receipt.is_rejected else "be accepted"
        more = ", with findings" if verdict == "ACCEPTED WITH FINDINGS" else ""
        return Explained(
            "F" if receipt.is_rejected else "S",
            f"This was a trial: the delivery would {what}{more}",
            [*why, "Nothing was stored."],
            [*_remedies(receipt, rows)]
            if receipt.is_rejected
            else ["Deliver it for good when you want to."],
        )
    if status == "REFUSED":
        return Explained(
            "F",
            "The delivery was rejected",
            [*why, "Nothing was stored."],
            [*_remedies(receipt, rows)],
        )
    if status == "REJECTED":
        return Explained(
            "F",
            "The delivery was turned away",
            [by, "Nothing was stored."],
            ["Correct the data and deliver again."],
        )
    if status == "CANCELLED":
        return Explained(
            "A",
            "The work on this delivery was cancelled",
            [by, "Nothing was stored."],
            ["Deliver again when it is wanted."],
        )
    if status == "REVERTED":
        return Explained(
            "A",
            "The delivery was accepted, and taken back later",
            [by, "All is as it was before this delivery."],
            ["Deliver again; the same time of the data may be used."],
        )
    if verdict is not None and not receipt.is_rejected and status != "VALIDATED":
        with_findings = verdict == "ACCEPTED WITH FINDINGS"
        effect = (
            "It is stored."
            if status == "ACCEPTED"
            else "It is stored, and the facts have it."
            if status.startswith("PERSISTED")
            else ""
        )
        return Explained(
            "S",
            f"The delivery was accepted{', with findings' if with_findings else ''}",
            [*(why if with_findings else ["No rule was broken."]), *filter(None, [effect])],
            [
                "Correct these rows at the source; the next delivery brings them again.",
                *_quarantine(receipt, rows),
            ]
            if any(_has_rows(rule) for _, rule in receipt.rules(broken=True))
            else ["Nothing has to be done."],
        )
    return _unfinished(receipt)


def _unfinished(receipt: Receipt) -> Explained:
    """Return the words for a delivery that is not decided, or not applied yet."""
    status, state = receipt.log.delivery_status, receipt.state
    waits = [f"It waits for {state.waits_for}."] if state is not None else []
    go_on = f"omd deliver --resume {receipt.log.delivery_id}"
    if status == "RECEIVED":
        return Explained("E", "The data of the delivery is still arriving", waits, [])
    if state is not None and state.is_running:
        return Explained("E", "The delivery is at work", waits, ["Wait for the end of the run."])
    if status == "VALIDATED":
        title = "The delivery is acceptable, and is not stored yet"
    elif receipt.log.attempt:
        title = "The delivery is not decided: its last run did not come to an end"
    else:
        title = "The delivery is not decided yet"
    return Explained("E", title, waits, [f"Go on with: {go_on}"])


def _reasons(receipt: Receipt) -> Iterator[str]:
    """Yield why a delivery was refused, or what was found, in sentences."""
    for reason in receipt.document["reasons"] or ():
        if "high_water_mark" in reason:
            mark = short(datetime.fromisoformat(reason["high_water_mark"]))
            yield (
                f"{reason['entity']} was delivered for {mark} already, which is the same time or "
                "later than this delivery."
            )
    counts = {e["entity"]: e["rows_delivered"] for e in receipt.document["entities"]}
    broken = receipt.rules(broken=True)
    rejecting = [(e, r) for e, r in broken if r["level"] == "REJECT"]
    lines = []
    for entity, rule in rejecting or broken:
        of = f" of {counts[entity]:,}" if counts[entity] and rule["type"] != "deletes" else ""
        old = f", of them {rule['existing']:,} that were there before" if rule["existing"] else ""
        limit = f"; allowed: {limit_of(rule)}" if rejecting else ""
        lines.append(f"{entity}: {words_of(entity, rule)}: {rule['violations']:,}{of}{old}{limit}.")
    if not rejecting:
        lines += [f"{e}: {_finding(code)}: {count:,}." for e, code, count in receipt.findings()]
    yield from lines[:_MOST]
    if len(lines) > _MOST:
        yield f"And {len(lines) - _MOST:,} more, which are listed below."


_MOST = 6


def _remedies(receipt: Receipt, rows: str) -> Iterator[str]:
    """Yield what may be done after a refusal."""
    broken = [(e, r) for e, r in receipt.rules(broken=True) if r["level"] == "REJECT"]
    if any("high_water_mark" in reason for reason in receipt.document["reasons"] or ()):
        yield "Deliver a later state of the data."
    if deleted := [entity for entity, rule in broken if rule["type"] == "deletes"]:
        yield (
            "If these rows are really gone, deliver again with: "
            + " ".join(f"--allow-deletes {entity}" for entity in deleted)
        )
    if len(broken) > len(deleted):
        yield "Correct the data and deliver again; the same time of the data may be used."
    yield from _quarantine(receipt, rows)


def _quarantine(receipt: Receipt, rows: str) -> Iterator[str]:
    if any(_has_rows(rule) for _, rule in receipt.rules(broken=True)):
        yield rows


def _has_rows(rule: Mapping[str, Any]) -> bool:
    """Whether a rule that was broken has rows that can be shown."""
    return rule["type"] not in ("columns", "row_count", "deletes")


_WORDS = {
    "columns": "columns that are missing",
    "row_count": "rows more or less than announced",
    "row_format": "rows that can't be read",
    "datatype": "values of {what} that are not of its type",
    "mandatory": "rows without {what}",
    "enumeration": "values of {what} that are not in its list",
    "primary_key": "rows without a key, or with the key of another row",
    "alternate_key": "rows that share the key {what} with another row",
    "parent_exists": "rows that refer to something that is not there ({what})",
    "child_exists": "rows without what belongs to them ({what})",
    "context": "rows outside of what the delivery is about",
    "deletes": "rows that would be deleted, since they are missing in the delivery",
}
_RULE = "rows that break the rule {what}"
_FINDINGS = {
    "UNKNOWN_COLUMN": "columns that are unknown, and were not read",
    "DELETE_OF_UNKNOWN_KEY": "rows to delete that were not there",
    "DELETES_SUPPRESSED": "rows without a readable key, so no missing row was deleted",
}
_ACTIONS = {
    "SKIP ROW": "the row is left out",
    "EMPTY COLUMN": "the value is emptied",
    "NO ACTION": "the row is kept",
}
_LOADS = {"FULL": "all rows", "DELTA": "changes"}
_LEVEL_TEXTS = {"NONE": "kept", "FINDING": "found", "WARN": "many", "REJECT": "too many"}
_COLOURS = {"NONE": "S", "FINDING": "C", "WARN": "A", "REJECT": "F"}


def words_of(entity: str, rule: Mapping[str, Any]) -> str:
    """Return what violates a rule, in words."""
    what = rule["constraint"].removeprefix(f"{entity}.")
    what = what.removesuffix(f".{rule['type']}")
    return _WORDS.get(rule["type"], _RULE).format(what=what)


def limit_of(rule: Mapping[str, Any]) -> str:
    """Return how many violations are allowed, in words."""
    count, percent = rule["threshold"], rule["threshold_percent"]
    limits = []
    if count is not None:
        limits.append("none" if count == 0 else f"{count:,}")
    if percent is not None:
        limits.append(f"{float(percent):g} %")
    return " and ".join(limits) or "any number"


def row_counts(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Return how many rows of each entity were new, changed and deleted, in words."""
    words = {"N": "new", "A": "changed", "R": "deleted"}
    return "; ".join(
        f"{entity}: " + ", ".join(f"{n:,} {words[kind]}" for kind, n in of.items() if n)
        for entity, of in sorted(counts.items())
        if any(of.values())
    )


def _finding(code: str) -> str:
    return _FINDINGS.get(code, code.lower().replace("_", " "))


# In a terminal ----------------------------------------------------------------------------------


def print_receipt(receipt: Receipt) -> None:
    """Print a receipt to stdout."""
    log = receipt.log
    explained = explain(
        receipt, f"The rows can be looked at with: omd show delivery:{log.delivery_id} --quarantine"
    )
    colour = {"S": "green", "F": "red", "A": "yellow"}.get(explained.kind)
    click.secho(f"{explained.title}.", bold=True, fg=colour)
    for line in explained.why:
        click.echo(printable(line))
    click.echo()
    show_pairs(
        {
            "delivery": str(log.delivery_id),
            "tenant": f"{log.tenant_code} ({log.tenant_name})",
            "agreement": log.agreement_code,
            "interface": log.interface_code + _version(log),
            "data of": log.snapshot_datetime,
            "status": _status(log),
            "verdict": log.verdict,
        }
    )
    _print("Entities", receipt.entities, _entity_columns(receipt))
    _print("Rules broken", receipt.rules(broken=True), _rule_columns(receipt))
    _print(
        "Other findings",
        receipt.findings(),
        {
            "entity": lambda f: f[0],
            "rows": lambda f: f[2],
            "finding": lambda f: f"{f[1]}: {_finding(f[1])}",
        },
    )
    if explained.next:
        click.echo()
    for line in explained.next:
        click.echo(printable(line))


def _print(title: str, rows: list[Any], columns: Mapping[str, Callable[[Any], Any]]) -> None:
    if rows:
        click.secho(f"\n{title}", bold=True)
        show_table(
            [{title.rstrip("#"): cell(row) for title, cell in columns.items()} for row in rows],
            [title.rstrip("#") for title in columns],
        )


def _status(log: DeliveryLogRow) -> str:
    return log.delivery_status + (" (trial)" if log.is_dry_run else "")


def _version(log: DeliveryLogRow) -> str:
    return "" if log.model_version is None else f" (version {log.model_version} of its model)"


def _entity_columns(receipt: Receipt) -> dict[str, Callable[[Any], Any]]:
    def count(key: str) -> Callable[[Any], Any]:
        return lambda e: e[f"rows_{key}"]

    return {
        "entity": lambda e: e["entity"],
        "delivered as": lambda e: _LOADS[e["load"]],
        **(
            {"announced#": count("announced")}
            if any(e["rows_announced"] is not None for e in receipt.entities)
            else {}
        ),
        "delivered#": count("delivered"),
        "left out#": count("skipped"),
        "new#": count("new"),
        "changed#": count("changed"),
        "deleted#": count("deleted"),
        "unchanged#": count("unchanged"),
    }


def _rule_columns(receipt: Receipt) -> dict[str, Callable[[Any], Any]]:
    columns: dict[str, Callable[[Any], Any]] = {
        "rule": lambda f: f[1]["constraint"],
        "found": lambda f: _LEVEL_TEXTS[f[1]["level"]],
        "rows#": lambda f: f[1]["violations"],
        "existing#": lambda f: f[1]["existing"],
        "allowed": lambda f: limit_of(f[1]),
    }
    if not receipt.is_rejected:  # else nothing is done to its rows: it is not stored
        columns["what is done"] = lambda f: _ACTIONS.get(f[1]["action"] or "")
    return columns


# As a page --------------------------------------------------------------------------------------


def as_page(receipt: Receipt) -> str:
    """Return a receipt as an HTML page (see `omd.programs.page.markup`)."""
    title = f"Receipt of delivery {receipt.log.delivery_id}"
    note = f"Times are local, in {zone()}. This page holds counts and no row of the data."
    return page(
        f"{title}: {explain(receipt).title}",
        el("header", el("h1", title), el("p", name(receipt.log.tenant_name))),
        *as_sections(receipt),
        el("p", note, cls="note"),
        style=_STYLE,
    )


def as_sections(receipt: Receipt, rows: str = _ASK) -> list[Html]:
    """Return a receipt as parts of a page; ``rows``: how to see the rows."""
    log, explained = receipt.log, explain(receipt, rows)
    broken, kept = receipt.rules(broken=True), receipt.rules(broken=False)
    pairs: dict[str, object] = {
        "From": [name(log.tenant_name), f" ({log.tenant_code})"],
        "Agreement": log.agreement_code,
        "Interface": log.interface_code + _version(log),
        "Data of": moment(log.snapshot_datetime),
        "Arrived": [moment(log.created_datetime), ", created by ", name(log.created_by)],
        "Decided" if receipt.state is None or log.verdict else "Status since": moment(
            log.status_datetime
        ),
        "Status": _status(log),
        "Verdict": log.verdict,
        "Complete": "yes, all that was agreed"
        if receipt.document["is_complete"]
        else "no, a part of what was agreed",
        "Message": _message(log.message),
    }
    findings = [
        (entity, count, _finding(finding), finding) for entity, finding, count in receipt.findings()
    ]
    body = [
        verdict(
            explained.kind,
            explained.title,
            *(el("p", line) for line in explained.why),
            *([el("h3", "What to do now")] if explained.next else []),
            *(el("p", line) for line in explained.next),
        ),
        section("delivery", "The delivery", described(pairs)),
        section(
            "entities", "What was delivered", _table(receipt.entities, _entity_columns(receipt))
        ),
    ]
    if broken:
        body.append(section("rules", "Rules that were broken", _rules(broken, receipt)))
    if findings:
        columns: dict[str, Callable[[Any], object]] = {
            "entity": lambda f: f[0],
            "count#": lambda f: number(f[1]),
            "what": lambda f: f[2],
        }
        body.append(section("findings", "Also noticed", table(findings, columns)))
    if kept:
        body.append(
            section(
                "kept",
                "Rules that were kept",
                el("details", el("summary", f"All {len(kept):,} of them"), _rules(kept, receipt)),
            )
        )
    return body


def _message(message: Any) -> object:
    if isinstance(message, dict) and message:
        return [
            el("span", f"{key}: {as_text(value)}", cls="line") for key, value in message.items()
        ]
    return None if message in (None, {}) else as_text(message)


def _table(rows: list[Any], columns: Mapping[str, Callable[[Any], Any]]) -> Html:
    def shown(title: str, cell: Callable[[Any], Any]) -> Callable[[Any], object]:
        if not title.endswith("#"):
            return cell
        return lambda row: "\N{EN DASH}" if cell(row) is None else number(cell(row))

    return table(rows, {title: shown(title, cell) for title, cell in columns.items()})


def _rules(rules: list[tuple[str, Mapping[str, Any]]], receipt: Receipt) -> Html:
    def badge(row: tuple[str, Mapping[str, Any]]) -> Html:
        level = row[1]["level"]
        return el("span", _LEVEL_TEXTS[level], cls=f"badge {_COLOURS[level]}")

    columns = _rule_columns(receipt)
    has_old = any(rule["existing"] for _, rule in rules)
    return _table(
        rules,
        {
            "found": badge,
            "entity": lambda f: f[0],
            "what": lambda f: el("span", words_of(*f), el("small", f[1]["constraint"])),
            "rows#": columns["rows#"],
            **({"of them old#": columns["existing#"]} if has_old else {}),
            **{title: columns[title] for title in ("allowed", "what is done") if title in columns},
        },
    )


_STYLE = f"""{FINDING}
h3 {{ font-size: 13px; margin: 12px 0 4px; }}
#rules td, #kept td {{ white-space: nowrap; }}
#rules td:nth-child(3), #kept td:nth-child(3) {{ white-space: normal; width: 100%; }}
#rules :is(th, td):last-child, #kept :is(th, td):last-child {{ width: auto; }}
@media screen and (max-width: 700px) {{
  #rules td, #kept td {{ white-space: normal; width: auto; }}
}}
"""
