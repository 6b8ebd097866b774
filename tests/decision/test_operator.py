"""The operator of Spark gives what the model says, however the records are cut; without Spark."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pyarrow as pa
import pytest

from decision.cases import random_case
from decision.model import Call, EmptyBufferLink, Link, Reject, Stage
from decision.sort_keys import sort_key
from omd.errors import lookup
from omd.rooms.decision.rules import NoJson, answers_of
from omd.spark.decision import operator, waiting
from omd.spark.decision.operator import CLUSTERED, RECORDS, Buffers, LinkShape, Shape, decided
from support.lots import SEED, draws

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from decision.cases import Case
    from decision.model import Record

CASES = draws(1000)


def plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def shape_of(case: Case, **changed: Any) -> Shape:
    stage = case.stage
    links = [
        LinkShape(number, link.name, f"p {link.name}", link.array)
        for number, link in enumerate(stage.links, start=1)
    ]
    settings: dict[str, Any] = {
        "stage": "s",
        "ruleset": "r",
        "is_key": stage.mode == "KEY",
        "size": stage.size,
        "most": 100,
        "wave": "wave" if case.wave_type else None,
        "keys": tuple(f"k{n}" for n, _ in enumerate(case.key_types, start=1)),
        "links": tuple(
            shape for shape, link in zip(links, stage.links, strict=True) if not link.buffer
        ),
        "buffers": buffers_of(case, links),
    }
    return Shape(**settings | changed)


def wave_key(case: Case, wave: Any) -> str:
    return sort_key(wave, case.wave_type) if case.wave_type else ""


def record(case: Case, link: Link, wave: Any, found: Record) -> str:
    fields = {"id": found.arrival}
    if link.name not in case.without_wave and case.wave_type:
        fields["wave"] = plain(wave)
    if not link.buffer:
        fields |= {f"k{n}": plain(value) for n, value in enumerate(found.key, start=1)}
    return json.dumps(fields)


def buffers_of(case: Case, links: list[LinkShape]) -> Buffers:
    texts = {}
    for shape, link in zip(links, case.stage.links, strict=True):
        for wave, records in case.waves.items() if link.buffer else ():
            found = sorted(records.get(link.name, []), key=lambda r: r.arrival)
            rows = [record(case, link, wave, r) for r in found]
            place = (shape.number, None if link.name in case.without_wave else wave_key(case, wave))
            if link.array:
                texts[place] = f"[{', '.join(rows)}]"
            elif rows:
                texts[place] = rows[0]
    return Buffers(
        tuple(s for s, link in zip(links, case.stage.links, strict=True) if link.buffer), texts
    )


def records_of(case: Case) -> list[tuple[str, str, int, int, str]]:
    rows = []
    stage = case.stage
    for wave, links in case.waves.items():
        first = wave_key(case, wave)
        for number, link in enumerate(stage.links, start=1):
            found = [] if link.buffer else links.get(link.name, [])
            for place, r in enumerate(sorted(found, key=lambda r: r.arrival)):
                if stage.mode == "BATCH":
                    batch = place // stage.size if stage.size else 0
                    key = f"{first}{batch:016x}"
                else:
                    key = first + "".join(
                        sort_key(value, type_, direction)
                        for value, type_, direction in zip(
                            r.key, case.key_types, stage.directions, strict=True
                        )
                    )
                rows.append((first, key, number, r.arrival, record(case, link, wave, r)))
    return rows


def batches(
    rows: Sequence[tuple[Any, ...]], rng: random.Random, shape: Shape, clusters: int = 0
) -> Iterator[pa.RecordBatch]:
    """Cut rows into batches of any size, sorted, or in so many clusters."""
    rows = sorted(rows, key=lambda row: row[1:4])
    schema = RECORDS
    if clusters:
        schema = CLUSTERED

        def place(key: str, link: int) -> int:
            return (crc32(key.encode()) % clusters - 1 << shape.link_bits) + link

        # The records of two groups in a cluster come in turns.
        rows = sorted(
            ((place(key, link), key, arrival, text) for _, key, link, arrival, text in rows),
            key=lambda row: (row[0], row[2], row[1]),
        )
    while rows:
        size = rng.choice([1, 2, 3, 7, 100])
        columns = zip(*rows[:size], strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema
        )
        rows = rows[size:]


def cut(case: Case, shape: Shape, number: int, rng: random.Random) -> list[list[Any]]:
    """Deal the records out to partitions, as Spark does."""
    by = 0 if shape.is_key and shape.size > 1 else 1
    places: dict[str, int] = {}
    parts: list[list[Any]] = [[] for _ in range(number)]
    for row in records_of(case):
        parts[places.setdefault(row[by], rng.randrange(number))].append(row)
    return parts


def echo(texts: Sequence[str]) -> list[tuple[str, None]]:
    return [(text, None) for text in texts]


def told(
    shape: Shape, parts: list[list[Any]], rng: random.Random, clusters: int = 0
) -> list[dict[str, Any]]:
    """Return the rows of all partitions, with the codes that the bounds of all give."""
    rows = [
        row
        for part in parts
        for batch in decided(shape, echo, batches(part, rng, shape, clusters))
        for row in batch.to_pylist()
    ]
    bounds: dict[Any, str] = {}
    for row in rows:
        if row["kind"] == operator.BOUND:
            place = (row["wave_key"], row["bound_link"], row["bound"])
            bounds[place] = max(bounds.get(place, ""), row["sort_key"])
    for row in rows:
        if row["kind"] == operator.REJECT and row["code"] is None:
            bound = bounds.get((row["wave_key"], row["bound_link"], row["bound"]), "")
            row["code"] = operator.KEY_MISMATCH if row["bound_key"] < bound else operator.LEFTOVER
    return rows


def answered(case: Case, shape: Shape, rows: list[dict[str, Any]]) -> tuple[Any, Any]:
    calls: Counter[Any] = Counter()
    rejects: Counter[Any] = Counter()
    for row in rows:
        key = None if row["key"] is None else tuple(json.loads(row["key"])[k] for k in shape.keys)
        if row["kind"] == operator.REJECT:
            assert json.loads(row["params"])["id"] == row["arrival"]
            reject = Reject(
                row["link"], key, row["arrival"], row["code"], row["cycle_no"], row["cause_link"]
            )
            rejects[row["wave"], reject] += 1
        elif row["kind"] == operator.CALL:
            params = json.loads(row["params"])
            assert json.loads(row["result"]) == params
            assert params.keys() == {f"p {link.name}" for link in case.stage.links}
            ids = {
                name: [r["id"] for r in value] if isinstance(value, list) else value["id"]
                for name, value in params.items()
            }
            inputs = json.loads(row["inputs"])
            assert inputs == {f"p {link.name}": ids[f"p {link.name}"] for link in shape.links}
            given = tuple(
                (name.removeprefix("p "), tuple(value) if isinstance(value, list) else value)
                for name, value in sorted(inputs.items())
            )
            calls[row["wave"], Call(key, row["cycle_no"], row["invocation_no"], given)] += 1
    return calls, rejects


def expected(case: Case) -> tuple[Counter[Any], Counter[Any]]:
    calls: Counter[Any] = Counter()
    rejects: Counter[Any] = Counter()
    buffers = {link.name for link in case.stage.links if link.buffer}
    for wave, links in case.waves.items():
        text = None if wave is None else str(wave)
        found = case.stage.run(links)
        for row in found[0]:
            key = row.key and tuple(map(plain, row.key))
            calls[text, Call(key, row.cycle_no, row.invocation_no, row.inputs)] += 1
        for row in found[1]:
            if row.link not in buffers:  # the driver of Spark rejects these
                key = row.key and tuple(map(plain, row.key))
                told = (row.arrival, row.code, row.cycle_no, row.cause_link)
                rejects[text, Reject(row.link, key, *told)] += 1
    return calls, rejects


@pytest.mark.random
def test_the_operator_gives_what_the_model_says_at_any_parallelism(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(SEED)
    done = 0
    while done < CASES:
        seed = rng.getrandbits(64)
        case = random_case(random.Random(seed), 20)
        done += max(len(case.waves), 1)
        # Small bounds lead through the file and through several batches of calls.
        monkeypatch.setattr(operator, "_WAITING_BYTES", rng.choice([0, 600, 1 << 26]))
        monkeypatch.setattr(operator, "_CALLS", rng.choice([1, 3, 1000]))
        monkeypatch.setattr(operator, "_ROWS", rng.choice([1, 4, 5000]))
        shape = shape_of(case)
        try:
            wanted = expected(case)
        except EmptyBufferLink:
            rows = told(shape, cut(case, shape, 1, rng), rng)
            assert [r["code"] for r in rows if r["kind"] == operator.ERROR] == ["OM285"]
            continue
        for number in (1, 3, 8):
            rows = told(shape, cut(case, shape, number, rng), rng)
            assert not [r for r in rows if r["kind"] == operator.ERROR], f"seed {seed}"
            found = answered(case, shape, rows)
            assert found[0] == wanted[0], f"seed {seed}, {number} partitions"
            assert found[1] == wanted[1], f"seed {seed}, {number} partitions"
            counts = {
                name: sum(r[name] for r in rows if r["kind"] == operator.WAVE)
                for name in ("rows", "attempts", "cycles", "invocations", "rejects")
            }
            by_key = shape.is_key and shape.size <= 1
            attempts = {
                (wave, row.key if by_key else None, row.cycle_no)
                for wave, row in [*wanted[0], *wanted[1]]
                if row.cycle_no
            }
            assert counts == {
                "rows": len(records_of(case)),
                "attempts": len(attempts),
                "cycles": sum(1 for _, call in wanted[0] if call.invocation_no == 1),
                "invocations": sum(wanted[0].values()),
                "rejects": sum(wanted[1].values()),
            }, f"seed {seed}"


@pytest.mark.random
def test_groups_in_clusters_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(SEED)
    done = 0
    while done < CASES // 4:
        seed = rng.getrandbits(64)
        case = random_case(random.Random(seed), 1)
        case.wave_type, case.without_wave = None, set()
        case.waves = dict.fromkeys([None][: len(case.waves)], *case.waves.values())
        if rng.random() < 0.5:
            case.stage.links = [replace(link, array=True) for link in case.stage.links]
        shape = shape_of(case)
        if shape.is_key and shape.size > 1:
            continue
        try:
            wanted = expected(case)
        except EmptyBufferLink:
            continue
        done += 1
        monkeypatch.setattr(operator, "_WAITING_BYTES", rng.choice([0, 600, 1 << 26]))
        for number, clusters in ((1, 1), (1, 3), (3, 2), (3, 1000)):
            rows = told(shape, cut(case, shape, number, rng), rng, clusters)
            assert answered(case, shape, rows) == wanted, f"seed {seed}, {clusters} clusters"
            counted = sum(r["rows"] for r in rows if r["kind"] == operator.WAVE)
            assert counted == len(records_of(case)), f"seed {seed}, {clusters} clusters"


@pytest.mark.random
def test_records_wait_in_order_in_memory_and_in_a_file() -> None:
    rng = random.Random(SEED)
    for limit in (0, 1000, 1 << 20):
        held = waiting.Waiting(limit)
        given: list[int] = []
        taken: list[int] = []
        for number in range(2000):
            size = rng.randint(1, 4)
            arrivals = list(range(len(given), len(given) + size))
            given += arrivals
            held.put(waiting.Segment("", str(number), 0, arrivals, [str(a) for a in arrivals]))
            for _ in range(rng.randint(0, min(held.count, 4))):
                _, arrival, text = held.pop()
                assert text == str(arrival)
                taken.append(arrival)
        taken += held.pop_all()[0]
        assert taken == given
        assert held.count == 0


@pytest.mark.random
@pytest.mark.parametrize(
    ("arrivals", "text", "sqlstate"),
    [
        ([None, 1], "", "OM289"),
        ([1, 2], "\0", "OM289"),
        ([1, 1], "", "OM290"),
        ([1, 2, 3, 4], "", "OM291"),
    ],
)
def test_records_that_do_not_fit_are_told_with_wave_and_key(
    arrivals: list[int | None], text: str, sqlstate: str
) -> None:
    stage = Stage("KEY", 0, ["ASC"], [Link("l1")])
    case = random_case(random.Random(1), 1)
    case.stage, case.key_types, case.wave_type, case.waves = stage, ["integer"], None, {}
    key = sort_key(7, "integer")
    rows = [("", key, 1, a, json.dumps({"id": a, "k1": 7, "v": text})) for a in arrivals]
    (row,) = [
        row
        for batch in decided(shape_of(case, most=3), echo, one_by_one(rows))
        for row in batch.to_pylist()
        if row["kind"] == operator.ERROR
    ]
    assert row["code"] == sqlstate
    detail = json.loads(row["params"])
    assert (detail["link"], detail["wave"], detail["key"]) == ("l1", None, {"k1": 7})


def one_by_one(rows: list[tuple[Any, ...]]) -> Iterator[pa.RecordBatch]:
    """Each record in a batch of its own."""
    for row in rows:
        yield pa.RecordBatch.from_arrays(
            [pa.array([v], f.type) for v, f in zip(row, RECORDS, strict=True)], schema=RECORDS
        )


def test_a_model_tells_which_rules_were_hit_when_it_is_asked() -> None:
    pytest.importorskip("zen")
    model = {
        "nodes": [
            {"id": "i", "name": "in", "type": "inputNode"},
            {"id": "o", "name": "out", "type": "outputNode"},
        ],
        "edges": [{"id": "e", "sourceId": "i", "targetId": "o", "type": "edge"}],
    }
    ((result, trace),) = answers_of("JDM", model, with_trace=True)(['{"a": [1]}'])
    assert json.loads(result) == {"a": [1]}
    assert json.loads(trace or "").keys() == {"i", "o"}
    assert answers_of("JDM", model)(['{"a": 2}']) == [('{"a":2}', None)]


def test_an_answer_that_postgresql_has_no_json_for_is_refused() -> None:
    answers = answers_of("PYTHON", "copy:deepcopy")
    for given in ("NaN", "1e400", '["\\u0000"]', '{"a": {"\\ud83d": 1}}'):
        with pytest.raises(NoJson):
            answers([given])
    for text in ("\\u0000", "\\ud83d", "\U0001f600"):  # six characters, and one
        given = json.dumps(text)
        assert answers([given]) == [(given, None)]


def test_numbers_reach_the_rules_as_they_are() -> None:
    answers = answers_of("PYTHON", "copy:deepcopy")
    for text in ("-9223372036854775809", "18446744073709551616", "1" * 40, "0.1", "1e+22", "-0.0"):
        assert answers([text]) == [(text, None)]


@pytest.mark.random
def test_a_ruleset_that_fails_is_told_with_its_first_call() -> None:
    rng = random.Random(3)
    stage = Stage("BATCH", 1, [], [Link("l1")])
    case = random_case(random.Random(1), 1)
    case.stage, case.key_types, case.wave_type, case.waves = stage, [], None, {}
    rows = [("", f"{n:016x}", 1, n, json.dumps({"id": n})) for n in range(9)]

    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError

    raised: list[tuple[BaseException, str]] = [
        (LookupError("no such rule"), "LookupError: no such rule"),
        (SystemExit(3), "SystemExit: 3"),
        (lookup("OM132")("ended"), "ended (OM132)"),
        (MuteError(), "MuteError: it has no text"),
        (ValueError("\0\ud800"), "ValueError: \\0\\ud800"),
    ]
    for error, told in raised:

        def fails(texts: Sequence[str], error: BaseException = error) -> list[tuple[str, None]]:
            for text in texts:
                if json.loads(text)["p l1"][0]["id"] >= 5:
                    raise error
            return echo(texts)

        found = [
            row
            for batch in decided(shape_of(case), fails, batches(rows, rng, shape_of(case)))
            for row in batch.to_pylist()
        ]
        (row,) = [row for row in found if row["kind"] == operator.ERROR]
        assert row["code"] == "OM283"
        detail = json.loads(row["params"])
        assert (detail["cycle_no"], detail["error"]) == (6, told)
