"""The commands of models and deliveries, run as a user runs them."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import omd
from support.documents import document

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from delivery.conftest import Room
    from delivery.runs import Shop

    Command = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE = """Wrong </p><script>alert(1)</script> "q" 'q' & <img src=x> $(d) \x1b[31m\u202e"""

MODEL = """
interface: shop
entities:
  - name: customer
    key: [nbr]
    attributes:
      - {name: nbr, type: integer}
      - {name: country, type: text(2), values: [NO, SE]}
  - name: orders
    key: [nbr]
    attributes:
      - {name: nbr, type: integer}
      - {name: customer, type: integer}
      - {name: amount, type: "numeric(12,2)"}
    relationships: [{name: of, parent: customer, columns: [customer]}]
    constraints: [{name: positive, type: value, attribute: amount, check: amount > 0}]
settings:
  orders.positive: {action: NO ACTION, threshold_percent: 50}
tenants:
  - {tenant: t, name: The tenant}
agreements:
  - {agreement: a, tenant: t, effective_from: 2020-01-01, entities: [customer, orders]}
"""


@pytest.fixture
def omd_(omd_here: Command, dsn: str) -> Command:
    """``omd …`` on a database without interfaces."""
    return lambda *arguments, **options: omd_here(*arguments, dsn=dsn, **options)


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    """A function that writes the file of the model, with texts replaced, and returns its path."""

    def write(**replaced: str) -> str:
        text = MODEL
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "shop.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def told(done: subprocess.CompletedProcess[str], code: int = 0) -> str:
    """Return what a command has printed to stdout, after a look at its exit code."""
    assert done.returncode == code, done.stderr
    return done.stdout


def found(done: subprocess.CompletedProcess[str], code: int = 0) -> Any:
    return json.loads(told(done, code))


# Models -----------------------------------------------------------------------------------------


def test_a_file_is_compared_applied_shown_and_then_changes_nothing(
    omd_: Command, file: Callable[..., str], room: Room, dsn: str
) -> None:
    """Also: NO is a country, and tenants and agreements are registered with the model."""
    path = file()
    expected = found(omd_("diff", path, "--output", "json"), 1)
    assert room.rows("SELECT FROM omd_delivery.interface") == []
    added = {"document": "agreement:a", "path": "NEW", "old": None, "new": None}
    assert added in expected
    done = omd_("apply", path, "--no-spark", "--output", "json")
    assert found(done) == expected
    counts = f"Files: 1; changes: {len(expected)}.\n"
    assert done.stderr == f"Model shop has version 1.\n{counts}"
    assert told(omd_("diff", path)) == ""
    assert "no change" in omd_("apply", path).stderr  # nor is Spark asked then

    shown = document(dsn, "interface", "shop")
    assert "values: ['NO', SE]" in shown
    copy = Path(file())
    copy.write_text(shown, encoding="utf-8")
    assert told(omd_("diff", str(copy))) == ""
    assert yaml.safe_load(shown) | room.document("shop") == yaml.safe_load(shown)
    assert document(dsn, "agreement", "a") == shown

    more = file(**{"The tenant": "Another name", "threshold_percent: 50": "threshold: 3"})
    [*changes] = found(omd_("diff", more, "--output", "json"), 1)
    assert {
        "document": "tenant:t", "path": "name", "old": "The tenant", "new": "Another name"
    } in changes  # fmt: skip
    agreement = found(omd_("show", "agreement:a", "--output", "json"))
    assert agreement["entities"] == ["customer", "orders"]


def test_a_key_of_many_digits_keeps_them(omd_: Command, tmp_path: Path, dsn: str) -> None:
    """A float has 15 digits; the key that is named must be found among the rows."""
    digits = "1234567890123456.7891"
    path = tmp_path / "coin.yaml"
    path.write_text(
        "{interface: coin, entities: [{name: coin, key: [nbr],"
        " attributes: [{name: nbr, type: 'numeric(20,4)'}]}], tenants: [{tenant: t}],"
        f" agreements: [{{agreement: a, tenant: t, context: {{coin: [{{nbr: {digits}}}]}}}}]}}",
        encoding="utf-8",
    )
    told(omd_("apply", str(path)))
    shown = document(dsn, "interface", "coin")
    assert digits in shown
    path.write_text(shown, encoding="utf-8")
    assert told(omd_("diff", str(path))) == ""
    with omd.connect(dsn) as control:
        room = control.delivery
        made = room._calls.create_delivery("a", context={"coin": [{"nbr": Decimal(digits)}]})
        room._calls.report_loaded(made.delivery_id)
        room._calls.begin_delivery(made.delivery_id)
        (planned,) = room._calls.validation_plan(made.delivery_id, 2)["entities"]
        assert planned["context"]["named"] == [{"nbr": Decimal(digits)}]


def test_every_problem_of_a_file_is_told_with_its_line(
    omd_: Command, file: Callable[..., str], room: Room, dsn: str
) -> None:
    bad = {
        "nbr, type: integer": "nbr, type: int",
        "amount > 0": "amont > 0",
        "key: [nbr]": "keys: []",
    }
    done = omd_("apply", file(**bad), "--no-spark")
    assert told(done, 1) == ""
    assert f"omd diff {file(**bad)}" in done.stderr  # the next command, not one of psql
    for line in (
        "shop.yaml:7: entities[0].attributes[0].type: expected: boolean",
        "shop.yaml:5: entities[0].keys: unknown key",
        'shop.yaml:16: entities[1].constraints[0].check: "amont" is no attribute',
        "SQLSTATE: OM030",
    ):
        assert line in done.stderr
    done = omd_("diff", file(**{'"numeric(12,2)"': "money"}))
    assert done.stderr.count("shop.yaml:") == 1
    done = omd_("diff", file(**{"orders.positive: {": "orders.negative: {"}))
    assert 'shop.yaml:18: settings["orders.negative"]: there is no such' in done.stderr
    for replaced, hint in (
        ({"tenant: t, name": "tenant: t, called"}, "shop.yaml:20: called is not known"),
        (
            {"agreement: a,": "agreement: [a],"},
            "an entry of agreements is a mapping with agreement",
        ),
        ({"settings:": "entities:"}, "shop.yaml:17: entities stands here twice"),
        ({"interface: shop": "[interface"}, "shop.yaml:3: it is no YAML: while parsing"),
    ):
        done = omd_("apply", file(**replaced))
        assert (done.returncode, hint in done.stderr) == (2, True), done.stderr
    # An agreement that is refused takes the model back with it.
    done = omd_("apply", file(**{"entities: [customer, orders]": "entities: [x]"}), "--no-spark")
    assert "SQLSTATE: OM036" in done.stderr
    assert room.rows("SELECT FROM omd_delivery.interface") == []
    with pytest.raises(omd.errors.lookup("OM031")):
        document(dsn, "interface", "shop")


# Deliveries -------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Reads a page as strictly as HTML allows, and collects what it holds."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def __contains__(self, text: str) -> bool:
        return any(text in part for part in self.texts)


@pytest.fixture
def page(omd_: Command, tmp_path: Path) -> Callable[[int], Page]:
    """A function that returns the receipt of a delivery as a page, after a look at its safety."""

    def read(delivery_id: int) -> Page:
        path = tmp_path / "receipt.html"
        done = omd_("show", f"delivery:{delivery_id}", "--receipt", "--html", str(path))
        shown = Page(path)
        # The terminal and the page say the same.
        title = told(done).partition("\n")[0]
        assert title.removesuffix(".") in shown
        assert not set(done.stdout) & {"\x1b", "\u202e"}
        tags = {tag for tag, _ in shown.elements}
        assert not tags & {"script", "link", "img", "iframe", "object", "base", "form"}
        for _, attributes in shown.elements:
            assert not [name for name in attributes if name.startswith("on") or name == "src"]
        return shown

    return read


def test_a_receipt_says_what_became_of_a_delivery_why_and_what_to_do(
    shop: Shop, omd_: Command, page: Callable[[int], Page]
) -> None:
    shop.deploy()
    shop.call("register_tenant", tenant_code="t", tenant_name=HOSTILE)
    good, _ = shop.accept(1, rows={"customer": [("N", 1, "a@b"), ("N", 2, None)]})
    for text in ("The delivery was accepted", "No rule was broken.", "Nothing has to be done."):
        assert text in page(good.id)
    assert HOSTILE.replace("\x1b", "\N{REPLACEMENT CHARACTER}") in page(good.id).texts

    shop.agree("a", settings={"orders.positive": {"action": "EMPTY COLUMN", "threshold": 2}})
    found_ = shop.run(2, message={"from": HOSTILE})
    found_.validate(
        violations={"orders.positive": 2, "orders.of": 0},
        orders={"findings": {"UNKNOWN_COLUMN": 3}},
    )
    shown = page(found_.id)
    for text in (
        "The delivery is at work",
        "rows that break the rule positive",
        "the value is emptied",
        "columns that are unknown, and were not read",
    ):
        assert text in shown, text
    found_.apply()
    assert "The delivery was accepted, with findings" in page(found_.id)

    bad = shop.run(3, entities={"customer": {"rows": 11}, "orders": "FULL"})
    bad.measure(1, {"orders.positive": 3, "customer.primary_key": {"rows": 1, "existing": 1}})
    bad.verdict(1)
    shown = page(bad.id)
    for text in (
        "The delivery was rejected",
        "orders: rows that break the rule positive: 3 of 10; allowed: 2.",
        "announced",
        "customer: rows without a key, or with the key of another row: 2 of 10, of them 1 that",
        "Correct the data and deliver again",
        "Ask whoever has received the delivery to show you the rows.",
    ):
        assert text in shown, text
    said = told(omd_("show", f"delivery:{bad.id}", "--receipt"))
    assert f"omd show delivery:{bad.id} --quarantine" in said
    assert "left out" not in said.partition("Rules broken")[2]  # nothing is done to its rows
    receipt = found(omd_("show", f"delivery:{bad.id}", "--receipt", "--output", "json"))
    assert receipt == shop.receipt(bad.id)

    trial = shop.run(3, dry_run=True)
    trial.validate()
    assert "This was a trial: the delivery would be accepted" in page(trial.id)
    trial = shop.run(3, dry_run=True)
    trial.measure(1)
    trial.verdict(1)
    trial.measure(2, orders={"rows_delivered": 0, "rows_implicit_deletes": 5, "rows_in_scope": 5})
    trial.verdict(2)
    shown = page(trial.id)
    assert "This was a trial: the delivery would be rejected" in shown
    assert "deliver again with: --allow-deletes orders" in shown

    shop.agree("b")
    late = shop.load(4, code="b")
    shop.accept(5)
    assert shop.ask(late)["outcome"] == "REFUSED"
    assert "Deliver a later state of the data." in page(late)

    for event in ("reject_delivery", "cancel_delivery"):
        id_ = shop.load(6)
        assert "The delivery is not decided yet" in page(id_)
        ending = ("call", f"omd_delivery.{event}", "--delivery-id", str(id_), "--reason")
        assert told(omd_(*ending, HOSTILE)) == ""
        assert HOSTILE.replace("\x1b", "\N{REPLACEMENT CHARACTER}") in page(id_)
        assert "SQLSTATE: OM130" in omd_(*ending, "x").stderr
    last, _ = shop.accept(7)
    shop.call("revert_delivery", delivery_id=last.id, reason="by mistake")
    assert "The delivery was accepted, and taken back later" in page(last.id)
    died = shop.run(8)
    assert "The delivery is at work" in page(died.id)
    shop.call("fail_delivery", delivery_id=died.id, attempt=died.attempt)
    assert f"omd deliver --resume {died.id}" in page(died.id)
    shop.begin(died.id, lease="10 milliseconds")
    shop.conn.execute("SELECT pg_sleep(0.01)")
    shown = page(died.id)
    assert "It waits for begin_delivery, since its run is dead." in shown
    assert f"omd deliver --resume {died.id}" in shown


def test_deliveries_are_created_listed_shown_and_purged(shop: Shop, omd_: Command) -> None:
    call = partial(_call, omd_)
    call("register_tenant", tenant_code="t", tenant_name="T")
    shop.deploy()
    call("register_agreement", agreement_code="a", entities='["orders"]')
    made = call("create_delivery", agreement_code="a", snapshot_datetime="2020-01-01T00:00Z")
    assert made["delivery_status"] == "RECEIVED"
    id_ = str(made["delivery_id"])
    done = omd_("call", "omd_delivery.create_delivery", "--agreement-code", "a")
    assert "SQLSTATE: OM131" in done.stderr
    [row] = found(omd_("report", "delivery_state", "--output", "json"))
    assert row["waits_for"] == "its data: report_loaded"
    assert call("report_loaded", delivery_id=id_) == {"delivery_status": "LOADED"}
    run = shop.begin(int(id_))
    shop.call(
        "register_samples",
        delivery_id=run.id,
        attempt=run.attempt,
        entity_code="orders",
        samples=[
            {
                "record_key": {"nbr": n},
                "origin": "DELIVERED",
                "constraint_codes": codes,
                "is_skipped": True,
                "raw": {"nbr": str(n), "amount": HOSTILE},
                "staged_from": "file:/somewhere/orders.csv",
            }
            for n, codes in enumerate((["orders.positive"], ["orders.of", "orders.positive"]))
        ],
    )
    run.validate(violations={"orders.positive": 0})
    run.write("orders", ("N", 1, None, 2))
    run.apply()
    quarantine = ("show", f"delivery:{id_}", "--quarantine")
    sampled = found(omd_(*quarantine, "--output", "json"))
    assert [row["record_key"] for row in sampled] == [{"nbr": 0}, {"nbr": 1}]
    assert sampled[1]["raw"] == {"nbr": "1", "amount": HOSTILE}
    table = told(omd_(*quarantine))
    assert not set(table) & {"\x1b", "\u202e"}
    assert re.search(r"orders\.of, orders\.positive +True .* file:/somewhere/orders\.csv\n", table)

    accepted = ("report", "delivery_log", "--where", "delivery_status=ACCEPTED")
    [row] = found(omd_(*accepted, "--output", "json"))
    assert (row["agreement_code"], row["verdict"]) == ("a", "ACCEPTED")
    shown = found(omd_("show", f"delivery:{id_}", "--output", "json"))
    [counts] = shown["entities"]
    assert (counts["rows_delivered"], counts["rows_new"]) == (10, 1)
    [item] = shown["queue"]
    [state] = shown["state"]
    assert state["waits_for"] == f"the facts: item {item['queue_id']} is QUEUED"
    assert [e["event"] for e in shown["events"]] == [
        "create_delivery",
        "report_loaded",
        "begin_delivery",
        "stage_verdict",
        "apply_delta",
    ]
    assert re.search(r"verdict +ACCEPTED\n", told(omd_("show", f"delivery:{id_}")))
    agreement = found(omd_("show", "agreement:a", "--output", "json"))
    assert agreement["entities"] == ["orders"]
    assert [d["delivery_id"] for d in agreement["deliveries"]] == [run.id]
    assert re.search(rf"{id_} .* ACCEPTED ", told(omd_("show", "agreement:a")))
    interface = found(omd_("show", "interface:shop", "--output", "json"))
    assert {m["entity_code"]: m["delivery_id"] for m in interface["marks"]} == {
        "customer": None,
        "orders": run.id,
    }
    assert "orders.positive" in told(omd_("show", "interface:shop"))
    purge = ("call", "purge", "--keep", "0 days", "--room", "omd_delivery")
    told(omd_(*purge))
    assert shop.status(run.id) == "ACCEPTED"
    assert call("persist_deliveries", interface_code="shop") == {"persisted": 1}
    told(omd_(*purge))
    done = omd_(*quarantine, "--output", "json")
    assert (found(done), done.stderr) == (
        [],
        f"Run 1 of delivery {id_} has registered no samples.\n",
    )
    done = omd_("call", "omd_delivery.remove_tenant", "--tenant-code", "t")
    assert "SQLSTATE: OM136" in done.stderr
    for more in ((), ("--receipt",), ("--quarantine",)):
        assert omd_("show", "delivery:999999", *more).returncode == 1


def _call(omd_: Command, routine: str, **values: str) -> Any:
    """Return what a routine of the room answers."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in values.items()]
    return found(omd_("call", f"omd_delivery.{routine}", *options, "--output", "json"))


def test_wrong_use_is_told_before_anything_is_done(omd_: Command, tmp_path: Path) -> None:
    (tmp_path / "context.yaml").write_text("- 1\n")
    files = str(tmp_path)
    for arguments, hint in {
        (): "Name AGREEMENT and FOLDER, or --arrived, or --resume ID.",
        ("a",): "Name AGREEMENT and FOLDER, or --arrived, or --resume ID.",
        ("a", "/nowhere"): "There is no folder /nowhere",
        ("--resume", "1", "/nowhere"): "There is no folder /nowhere",
        ("a", files, "--resume", "1"): "--resume ID takes FOLDER, --wait",
        ("--resume", "1", "--dry-run"): "--resume ID takes FOLDER, --wait",
        ("--resume", "1", "--arrived"): "--resume ID takes FOLDER, --wait",
        ("a", files, "--arrived"): "--arrived takes AGREEMENT, --dry-run",
        ("a", "--arrived", "--message", "x"): "--arrived takes AGREEMENT, --dry-run",
        ("a", files, "--snapshot", "soon"): "soon is not like",
        ("a", files, "--load", "=DELTA"): "=DELTA names no entity",
        ("a", files, "--load", "e", "--load", "e=DELTA"): "e is given twice",
        ("a", files, "--load", "e={"): "is no JSON",
        ("a", files, "--wait", "-1"): "x>=0",
        ("a", files, "--context", str(tmp_path / "context.yaml")): "a mapping is expected",
        ("a", files, "--receipt", files): "is a directory",
        ("--resume", "one"): "not a valid integer",
    }.items():
        done = omd_("deliver", *arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert hint in done.stderr, done.stderr
