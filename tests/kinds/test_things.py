"""A THING of the command line: found by its kind and key, shown, and run."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import click
import pytest

import omd
from omd.programs.cli.things import find

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from kinds.conftest import Platform

    Omd = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def control(platform: Platform, dsn: str) -> Iterator[omd.Control]:
    with omd.connect(dsn, lease=None) as control:
        yield control


@pytest.mark.parametrize(
    ("text", "among", "found"),
    [
        ("app.dst", None, "topic:app.dst"),  # its Module and its table have that name too
        ("module:app.dst", None, "module:app.dst"),
        ("app.dst", ["module", "batch"], "module:app.dst"),
        ("app.dst", ["table"], "table:app.dst"),
        ("app.a", None, "table:app.a"),  # a stage reads it
        ("s", None, "stage:s"),
        ("f", None, "ruleset:f"),
        ("made", None, "module:made"),
        ("night", None, "batch:night"),
        ("facts.shop", None, "module:facts.shop"),
        ("interface:shop", None, "interface:shop"),
    ],
)
def test_a_module_and_what_it_performs_are_one_thing(
    control: omd.Control, text: str, among: list[str] | None, found: str
) -> None:
    thing = find(control, text) if among is None else find(control, text, among)
    assert str(thing) == found
    performs = {"topic:app.dst": "app.dst", "stage:s": "s", "module:made": "made"}
    assert thing.module_code == performs.get(found, thing.module_code)


@pytest.mark.parametrize(
    ("text", "among", "told"),
    [
        ("batch:night", ["module", "topic"], "it must be module or topic"),
        ("run:made", ["run"], "'made' is no number of a run"),
    ],
)
def test_what_is_not_meant_is_wrong_usage(
    control: omd.Control, text: str, among: list[str], told: str
) -> None:
    with pytest.raises(click.UsageError, match=told):
        find(control, text, among)


def test_a_number_that_two_have_is_refused_with_both_spellings(
    platform: Platform, control: omd.Control
) -> None:
    platform.go("made")
    assert str(find(control, "1")) == "run:1"
    platform.go_batch("night")
    with pytest.raises(click.UsageError, match="1 is run:1 and batchrun:1: name one of them"):
        find(control, "1")
    assert str(find(control, "batchrun:1")) == "batchrun:1"


def test_digits_that_are_no_number_are_a_code(platform: Platform, control: omd.Control) -> None:
    platform.night("7")
    assert str(find(control, "7")) == "batch:7"
    with pytest.raises(omd.errors.CallerError, match="there is no batch 07"):
        find(control, "07", ["batch"])


def test_what_is_not_there_says_what_may_be_meant(control: omd.Control) -> None:
    for text in ("app.dts", "module:app.dts", "APP.DST"):
        with pytest.raises(omd.errors.CallerError) as caught:
            find(control, text, ["module", "batch"])
        assert "Did you mean app.dst?" in str(caught.value)


def test_each_kind_is_shown(platform: Platform, omd_here: Omd, dsn: str) -> None:
    platform.come(1, 2, 3)
    platform.conn.execute("INSERT INTO app.a VALUES (1, 1, 'x')")
    platform.go_batch("night")
    agreement = platform.one("SELECT agreement_code FROM omd_report.delivery_agreements")
    for thing, titles in {
        "made": ["Work", "Last runs"],
        "app.dst": ["Work", "Inputs", "Lag", "Reads", "Last runs"],
        "module:app.dst": ["Work", "Inputs", "Topic", "Last runs"],
        "s": ["Work", "Inputs", "Last runs"],
        "module:s": ["Work", "Inputs", "Stage", "Last runs"],
        "f": ["Versions"],
        "night": ["Holds", "Last runs"],
        "table:app.a": ["Read by"],
        "table:app.dst": ["Written by"],
        "interface:shop": ["Facts", "Agreements", "Marks", "Constraints"],
        f"agreement:{agreement}": [],
        "batchrun:1": ["Modules"],
        "run:1": [],
    }.items():
        done = omd_here("show", thing, dsn=dsn)
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        found = [after for line, after in itertools.pairwise(lines) if not line]
        assert found == titles, thing
        document = json.loads(omd_here("show", thing, "--output", "json", dsn=dsn).stdout)
        names = {title.lower().replace(" ", "_") for title in titles}
        assert names <= document.keys(), thing


def test_a_document_is_asked_of_what_has_one(platform: Platform, omd_here: Omd, dsn: str) -> None:
    assert "mermaid" in omd_here("show", "made", "--output", "mermaid", dsn=dsn).stderr
    for output in ("yaml", "odcs"):
        done = omd_here("show", "table:app.a", "--output", output, dsn=dsn)
        assert (done.returncode, done.stdout) == (2, "")
    assert omd_here("show", "s", "--output", "yaml", dsn=dsn).stdout.startswith("stage: s\n")
    assert omd_here("show", "made", "--receipt", dsn=dsn).returncode == 1
    assert omd_here("show", "made", "--html", "x.html", dsn=dsn).returncode == 2


def test_a_topic_is_run_until_nothing_is_left(platform: Platform, omd_here: Omd, dsn: str) -> None:
    platform.come(1, 2, 3, 4, 5, 6)

    def ran(*options: str) -> tuple[int, list[Any]]:
        done = omd_here("run", "app.dst", *options, "--output", "json", dsn=dsn)
        text, documents = done.stdout.lstrip(), []
        while text:
            document, end = json.JSONDecoder().raw_decode(text)
            documents.append(document)
            text = text[end:].lstrip()
        return done.returncode, documents

    code, [one] = ran()
    assert (code, one["kind"], one["status"], one["rows"]) == (0, "TOPIC", "S", 2)
    assert one["run"]["module_instance_id"] == one["instance_id"]
    code, more = ran("--until-done")
    assert (code, [step["status"] for step in more]) == (0, ["S"] * len(more))
    assert platform.values_of("dst") == [1, 2, 3, 4, 5]
    code, [nothing] = ran("--until-done")
    assert (code, nothing["status"], nothing["instance_id"]) == (3, "C", None)
    act = json.loads(
        omd_here("run", "topic:app.dst", "--dry-run", "--output", "json", dsn=dsn).stdout
    )
    assert (act["act"], act["status"]) == ("NOTHING", "C")
