"""The commands of decision, run as a user runs them."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from omd.programs.report import decision as explained
from omd.rooms.decision import rows
from support.documents import document

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from decision.conftest import Room

    Command = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE = """</p><script>alert(1)</script> "q" 'q' & <img src=x> \x1b[31m\u202e"""

RULESET = """
ruleset: care
kind: FUNCTION
content: app.care
tests:
  - {name: late, input: {a: [{v: late}]}, expected: {out: {k: 1}}}
"""
STAGE = """
stage: s
mode: KEY
keys: [{column: k}]
ruleset: care
keep: TRACE
links:
  - {name: a, source: app.a, arrival: id}
  - {name: b, source: app.b, arrival: id, array: false, reject: {on: [LEFTOVER, KEY_MISMATCH]}}
outputs:
  - {name: out, table: app.out}
"""


@pytest.fixture
def omd_(omd_here: Command, dsn: str) -> Command:
    """``omd …`` on a database without stages."""
    return lambda *arguments, **options: omd_here(*arguments, dsn=dsn, **options)


def report_of(omd_: Command, view: str, *conditions: str) -> Any:
    """Return rows of a view of decision."""
    where = (word for condition in conditions for word in ("--where", condition))
    return found(omd_("report", f"decision_{view}", *where, "--output", "json"))


def switch(
    omd_: Command, verb: str, ruleset: str, version: int
) -> subprocess.CompletedProcess[str]:
    """Activate or deactivate a version."""
    routine = f"omd_decision.{verb}_ruleset"
    return omd_("call", routine, "--ruleset-code", ruleset, "--version", str(version))


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    """A function that writes a file, with texts replaced, and returns its path."""

    def write(name: str, text: str, **replaced: str) -> str:
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def scene(room: Room) -> Room:
    """Two links, an output and the function of a ruleset; nothing is defined."""
    room.scene()
    room.function("jsonb_build_object('out', jsonb_build_object('k', 1))", "app.care")
    return room


def told(done: subprocess.CompletedProcess[str], code: int = 0) -> str:
    """Return what a command has printed to stdout, after a look at its exit code."""
    assert done.returncode == code, done.stderr
    return done.stdout


def found(done: subprocess.CompletedProcess[str], code: int = 0) -> Any:
    return json.loads(told(done, code))


class Page(HTMLParser):
    """Reads a page as strictly as HTML allows, and collects what it holds."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def __contains__(self, text: str) -> bool:
        return any(text in part for part in self.texts)


def test_files_are_compared_defined_shown_and_then_change_nothing(
    omd_: Command, file: Callable[..., str], scene: Room, dsn: str
) -> None:
    """Also: all files or none, a ruleset before its stage, and an empty diff after the show."""
    stage, ruleset = file("s.yaml", STAGE, **{"stage: s": "stage: t"}), file("r.yaml", RULESET)
    expected = found(omd_("diff", stage, ruleset, "--output", "json"), 1)
    assert expected[0] == {
        "document": "ruleset:care", "path": "version", "old": None, "new": 1
    }  # fmt: skip
    assert {"links.b", "keep"} < {c["path"] for c in expected if c["document"] == "stage:t"}
    assert "; changes to come: " in omd_("apply", stage, ruleset, "--dry-run").stderr
    assert report_of(omd_, "stage_list")[0]["stage_code"] == "s"  # of the scene
    done = omd_("apply", stage, ruleset, "--activate", "--output", "json")
    assert found(done) == expected
    assert told(omd_("diff", stage, ruleset)) == ""
    assert omd_("apply", stage, ruleset).stderr == "Files: 2; no change.\n"

    shown = told(omd_("show", "stage:t", "--output", "yaml"))
    assert shown.startswith("stage: t\nmode: KEY\n")
    assert told(omd_("diff", file("copy.yaml", shown))) == ""
    as_json = json.dumps(report_of(omd_, "stage_list", "stage_code=t")[0]["definition"])
    assert told(omd_("diff", file("copy.json", as_json))) == ""
    assert document(dsn, "stage", "t") == document(dsn, "module", "t") == shown
    assert told(omd_("diff", file("r.yaml", document(dsn, "ruleset", "care")))) == ""

    [change] = found(
        omd_("diff", file("s.yaml", shown, **{"array: false": "array: true"}), "--output", "json"),
        1,
    )
    assert (change["path"], change["old"], change["new"]) == ("links.b.array", False, True)
    unknown = omd_("show", "stage:nix").stderr
    assert "there is no stage nix" in unknown
    assert unknown.count("Hint: ") == 1


def test_every_problem_of_a_file_is_told_with_its_line(
    omd_: Command, file: Callable[..., str], scene: Room
) -> None:
    bad = file("s.yaml", STAGE, **{"app.b, arrival: id": "app.b, arival: id", "app.out": "app.no"})
    done = omd_("apply", file("r.yaml", RULESET), bad)
    assert told(done, 1) == ""
    for line in ("s.yaml:9: links.b.arival: ", "s.yaml:11: outputs.out.table: "):
        assert line in done.stderr
    assert "SQLSTATE: OM082" in done.stderr
    assert report_of(omd_, "ruleset_list", "ruleset_code=care") == []  # all files or none
    for text, hint in (
        ("mode: KEY", "mode is not known"),
        ("stage: [x", "while parsing"),
        ("{ruleset: r, kind: JDM, content: '@nix.json'}", "nix.json: "),
    ):
        done = omd_("apply", file("x.yaml", text))
        assert (done.returncode, hint in done.stderr) == (2, True), done.stderr


def test_a_stage_is_tested_run_and_explained(
    omd_: Command, file: Callable[..., str], scene: Room, tmp_path: Path
) -> None:
    """Also: the page holds hostile texts as texts, and says the same as the terminal."""
    stage, ruleset = file("s.yaml", STAGE), file("r.yaml", RULESET)
    told(omd_("apply", stage, ruleset))
    done = omd_("run", "s")
    assert (done.returncode, "SQLSTATE: OM286" in done.stderr) == (1, True), done.stderr
    assert "passed" in told(omd_("test", "care"))
    [test] = report_of(omd_, "test_list", "ruleset_code=care")
    assert (test["test_name"], test["passed"]) == ("late", True)
    told(switch(omd_, "activate", "care", 1))
    early = omd_("run", "s", "--effective-at", "2000-01-01T00:00Z")
    assert (early.returncode, "SQLSTATE: OM286" in early.stderr) == (1, True), early.stderr
    scene.fill("a", (1, 5, HOSTILE), (2, 6, "alone"))
    scene.fill("b", (1, 5, "x"), (2, 9, "y"))

    preview = ("call", "omd_decision.cycles", "--stage-code", "s", "--output", "json")
    cycles = found(omd_(*preview))
    assert [c["code"] for c in cycles if c["link"]] == ["KEY_MISMATCH", "LEFTOVER"]
    done = omd_("run", "s")
    assert (done.returncode, "SQLSTATE" in done.stderr, "F" in done.stdout) == (1, False, True)
    assert "records without a match (KEY_MISMATCH)" in done.stderr
    told(omd_("apply", file("s.yaml", STAGE, **{"id}\n": "id, reject: {on: [KEY_MISMATCH]}}\n"})))
    ran = found(omd_("run", "s", "--output", "json"))
    assert (ran["status"], ran["cycles"], ran["rows_output"], ran["rows_rejected"]) == (
        "S",
        1,
        1,
        2,
    )
    instance = str(ran["instance_id"])
    scene.conn.execute("UPDATE omd.module SET inactive_indicator = 'Y'")
    skipped = omd_("run", "s")
    assert skipped.returncode in (3, 4)
    assert "INACTIVE" in skipped.stdout
    assert int(instance) in [
        r["module_instance_id"] for r in report_of(omd_, "run_log", "stage_code=s")
    ]
    rejects = [r["code"] for r in report_of(omd_, "reject_log", "stage_code=s")]
    assert sorted(rejects) == ["KEY_MISMATCH", "LEFTOVER"]
    of_b = report_of(omd_, "reject_log", "stage_code=s", "link=b")
    assert [r["code"] for r in of_b] == ["LEFTOVER"]

    for key, said in (
        ({"k": 5}, "It was decided by the rules “care”, version 1, called once"),
        ({"k": 6}, "It was not decided: its records were rejected"),
        ({"k": 7}, "Nothing is known about it"),
    ):
        path = tmp_path / "why.html"
        done = omd_("explain", "s", json.dumps(key), "--html", str(path))
        assert told(done).startswith(said)
        assert not set(done.stdout) & {"\x1b", "\u202e"}
        page = Page(path.read_text(encoding="utf-8"))
        assert said in page
        assert not page.tags & {"script", "img", "link", "a"}
        if key["k"] == 5:
            assert "<script>alert(1)</script>" in page
        if key["k"] == 6:
            assert "a: one record was rejected, because “b” has no record with this key" in page
    whole = found(omd_("explain", "stage:s", "--instance", instance, "--output", "json"))
    assert (len(whole["calls"]), len(whole["rejects"])) == (1, 2)
    assert whole["calls"][0]["result"] == {"out": {"k": 1}}
    assert omd_("explain", "stage:s", "--instance", "999").returncode == 1
    assert "these columns: k" in omd_("explain", "s", '{"j": 5}').stderr
    # A newer run that has not seen the key hides nothing: the last one that decided it is told.
    scene.conn.execute("UPDATE omd.module SET inactive_indicator = 'N'")
    scene.fill("a", (7, 7, "new"))
    scene.fill("b", (7, 7, "new"))
    scene.conn.execute("DELETE FROM app.a WHERE k <> 7; DELETE FROM app.b WHERE k <> 7")
    newer = found(omd_("run", "s", "--output", "json"))
    for key, run in ((5, int(instance)), (6, int(instance)), (7, newer["instance_id"])):
        told_of = omd_("explain", "s", json.dumps({"k": key}), "--output", "json")
        assert found(told_of)["run"]["module_instance_id"] == run


MODEL = {
    "nodes": [
        {"id": "1", "type": "inputNode", "name": "in"},
        {
            "id": "2",
            "type": "expressionNode",
            "name": "e",
            "content": {"expressions": [{"id": "x", "key": "out.n", "value": "len(a) + 1"}]},
        },
        {"id": "3", "type": "outputNode", "name": "out"},
    ],
    "edges": [
        {"id": "a", "sourceId": "1", "targetId": "2"},
        {"id": "b", "sourceId": "2", "targetId": "3"},
    ],
}
CASE = {"name": "one", "input": {"a": [{}]}, "expected": {"out": {"n": 2}}}


def test_functions_of_python_are_tested_in_this_process(
    omd_: Command,
    file: Callable[..., str],
    room: Room,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = ModuleType("rules_of_a_test")
    rules.good = lambda calls: [{"out": {"n": len(c["a"]) + 1}} for c in calls]  # type: ignore[attr-defined]
    rules.bad = lambda calls: [*calls, {}]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "rules_of_a_test", rules)
    document = {"ruleset": "p", "kind": "PYTHON", "content": "rules_of_a_test:bad", "tests": [CASE]}
    told(omd_("apply", file("p.json", json.dumps(document))))
    done = omd_("test", "p", "--output", "json")
    assert "a list of 1 items" in found(done, 1)[0]["error"]
    assert "SQLSTATE: OM180" in switch(omd_, "activate", "p", 1).stderr
    document["content"] = "rules_of_a_test:good"
    told(omd_("apply", file("p.json", json.dumps(document))))
    assert found(omd_("test", "p", "--output", "json"))[0]["passed"]
    told(omd_("test", "p", "1"), 1)
    told(switch(omd_, "activate", "p", 2))
    told(switch(omd_, "deactivate", "p", 2))
    document["content"] = "rules_of_a_test:nix"
    told(omd_("apply", file("p.json", json.dumps(document))))
    assert "PYTHONPATH" in omd_("test", "p").stderr
    unknown = omd_("test", "nix").stderr
    assert "SQLSTATE: OM081" in unknown
    assert 'there is no ruleset "nix"' in unknown


def test_models_are_tested_with_zen_engine(
    omd_: Command, file: Callable[..., str], room: Room
) -> None:
    pytest.importorskip("zen")
    file("m.json", json.dumps(MODEL))
    document = {"ruleset": "m", "kind": "JDM", "content": "@m.json", "tests": [CASE]}
    told(omd_("apply", file("r.json", json.dumps(document))))
    told(omd_("test", "m"))
    told(switch(omd_, "activate", "m", 1))
    wrong = json.dumps(MODEL).replace("len(a) + 1", "1 +")
    file("m.json", wrong)
    told(omd_("apply", file("r.json", json.dumps(document))))
    assert (
        "node 2: Failed to evaluate" in found(omd_("test", "m", "--output", "json"), 1)[0]["error"]
    )


def test_of_a_decision_table_the_row_that_decided_is_told_beside_each_record() -> None:
    zen: Any = pytest.importorskip("zen")
    table = {
        "hitPolicy": "first",
        "executionMode": "loop",
        "inputField": "a",
        "outputPath": "out",
        "passThrough": False,
        "inputs": [{"id": "i", "name": "w", "field": "w"}],
        "outputs": [{"id": "o", "name": "n", "field": "n"}],
        "rules": [
            {"_id": "r1", "i": ">= 2", "o": "1", "_description": "much"},
            {"_id": "r2", "i": "", "o": "0"},
        ],
    }
    node = {"id": "2", "type": "decisionTableNode", "name": "t", "content": table}
    model = {**MODEL, "nodes": [MODEL["nodes"][0], node, MODEL["nodes"][2]]}
    engine = zen.ZenEngine({"loader": {"type": "static", "content": {"m": model}}})
    call = {"a": [{"k": 5, "id": n, "w": w} for n, w in ((1, 3), (2, None), (3, 2))]}
    told_by = engine.evaluate("m", json.dumps(call).encode(), {"trace": True})
    row = rows.ExplainRow(
        wave=None,
        key={"k": 5},
        cycle_no=1,
        invocation_no=1,
        link=None,
        arrival=None,
        code=None,
        cause_link=None,
        inputs={"a": [1, 2, 3]},
        params=call,
        stage_version=1,
        ruleset_version=1,
        content_hash="",
        result=told_by["result"],
        trace=told_by["trace"],
        outputs={"out": 3},
    )
    run: Any = None
    found = explained.Explanation(run, row.key, None, "a", {"out": "a"}, [row], [])
    assert [*explained.rules_hit(row)] == [
        ("t", "row 1: w >= 2: much (2 times)"),
        ("t", "row 2: in all other cases"),
    ]
    assert [*explained.results(row, found)] == [
        (
            "out",
            [
                {"id": 1, "w": 3, "n": 1, "by the rule": "row 1"},
                {"id": 2, "w": None, "n": 0, "by the rule": "row 2"},
                {"id": 3, "w": 2, "n": 1, "by the rule": "row 1"},
            ],
        )
    ]


def test_wrong_use_is_told_before_anything_is_done(omd_: Command, scene: Room) -> None:
    for arguments, hint in {
        ("apply",): "Missing argument 'FILE...'",
        ("apply", "/nowhere.yaml"): "does not exist",
        ("run", "s", "--engine", "LISP"): "is not one of",
        ("run", "s", "--effective-at", "2026-01-01", "--dry-run"): "is for the run of a stage",
        ("run", "s", "--end-value", "soon"): "soon is not like",
    }.items():
        done = omd_(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert hint in done.stderr, done.stderr
    assert "SQLSTATE: OM080" in omd_("explain", "stage:nix", "{}").stderr
    assert omd_("run", "nix").returncode == 1
    assert scene.rows("SELECT * FROM omd_report.decision_run_log") == []
