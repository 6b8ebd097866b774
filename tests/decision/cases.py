"""Random stages with random waves: the same cases for the database and for Spark."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any

from decision.model import Link, Record, Stage

if TYPE_CHECKING:
    import random

UTC = timezone.utc
# Values that sort differently by code point, by locale and by sign.
VALUES: dict[str, list[Any]] = {
    "boolean": [False, True],
    "smallint": [-32768, -1, 0, 7, 32767],
    "integer": [-(2**31), -3, 0, 5, 2**31 - 1],
    "bigint": [-(2**63), -1, 0, 9, 2**63 - 1],
    "text": ["", "A", "a", "a\u00e9", "ab", "\u00e9", "\uffff", "\U0001f600"],
    "varchar(20)": ["Z", "a b", "a", "b", "\u00fc"],
    "date": [date(1, 1, 1), date(1999, 12, 31), date(2000, 1, 1), date(9999, 12, 31)],
    "timestamp": [
        datetime(1970, 1, 1, 2, 30, tzinfo=None),  # noqa: DTZ001 - a timestamp has no zone
        datetime(2000, 1, 1, 1, tzinfo=None),  # noqa: DTZ001
        datetime(2024, 3, 10, 2, 30, tzinfo=None),  # noqa: DTZ001
    ],
    "timestamptz": [
        datetime(1969, 1, 1, tzinfo=UTC),
        datetime(2000, 1, 1, tzinfo=UTC),
        datetime(2024, 10, 27, 1, 30, tzinfo=UTC),
    ],
    "uuid": [uuid.UUID(int=0), uuid.UUID(int=1 << 100), uuid.UUID(int=(1 << 128) - 1)],
}
WAVES: dict[str, list[Any]] = {
    "integer": [-1000, -5, *range(16), 40, 200],
    "text": ["", "\u00e4", "\uffff", "\U0001f600", *"aBcDeFgH0_"],
    "date": [date(1990, 1, 1), *(date(2024, 1, n) for n in range(15, 30))],
}


@dataclass
class Case:
    """A stage, the types of its columns, and its waves."""

    stage: Stage
    key_types: list[str]
    wave_type: str | None
    waves: dict[Any, dict[str, list[Record]]] = field(default_factory=dict)
    without_wave: set[str] = field(default_factory=set)

    def document(self, code: str, schema: str = "app") -> dict[str, Any]:
        document: dict[str, Any] = {
            "stage": code,
            "mode": self.stage.mode,
            "batch_size": self.stage.batch_size,
            "ruleset": "r",
            "links": [
                {
                    "name": link.name,
                    "source": f"{schema}.{link.name}",
                    "arrival": "id",
                    "array": link.array,
                    "buffer": link.buffer,
                    "parameter": f"p {link.name}",
                    "reject": {"on": ["LEFTOVER", "KEY_MISMATCH"]},
                }
                for link in self.stage.links
            ],
            "outputs": [{"name": "out", "table": f"{schema}.out"}],
        }
        if self.stage.mode == "KEY":
            document["keys"] = [
                {"column": f"k{n}", "direction": d}
                for n, d in enumerate(self.stage.directions, start=1)
            ]
        if self.wave_type:
            document["wave"] = "wave"
        return document

    def tables(self, schema: str = "app") -> str:
        """The SQL that creates the sources."""
        statements = []
        for link in self.stage.links:
            columns = ["id bigint"]
            if self.wave_type and link.name not in self.without_wave:
                columns.append(f"wave {self.wave_type}")
            if not link.buffer:
                columns += [f"k{n} {t}" for n, t in enumerate(self.key_types, start=1)]
            name = f"{schema}.{link.name}"
            statements.append(
                f"DROP TABLE IF EXISTS {name} CASCADE; CREATE TABLE {name} ({', '.join(columns)})"
            )
        return "; ".join(statements)

    def rows(self, link: Link) -> list[tuple[Any, ...]]:
        """The rows of a link, each in the order of the columns."""
        if link.name in self.without_wave:
            some = next(iter(self.waves.values()), {})
            return [(record.arrival,) for record in some.get(link.name, [])]
        rows = []
        for wave, links in self.waves.items():
            for record in links.get(link.name, []):
                row: tuple[Any, ...] = (record.arrival,)
                row += (wave,) if self.wave_type else ()
                rows.append(row + (() if link.buffer else record.key))
        return rows


def random_case(rng: random.Random, waves: int) -> Case:
    """Make a stage and at most so many waves of it."""
    mode = rng.choice(["BATCH", "KEY", "KEY", "KEY"])
    links = [Link("l1", rng.random() < 0.7)]
    links += [
        Link(f"l{n}", rng.random() < 0.5, rng.random() < 0.1)
        for n in range(2, rng.choice([1, 2, 3, 3, 3, 4, 5]) + 1)
    ]
    width = rng.choice([1, 1, 2]) if mode == "KEY" else 0
    key_types = [rng.choice(list(VALUES)) for _ in range(width)]
    stage = Stage(
        mode,
        rng.choice([0, 0, 1, 2, 3, 5]),
        [rng.choice(["ASC", "DESC"]) for _ in key_types],
        links,
    )
    wave_type = rng.choice([*WAVES, *WAVES, None])
    case = Case(stage, key_types, wave_type)
    if wave_type:
        case.without_wave = {link.name for link in links if link.buffer and rng.random() < 0.5}
    names = [*WAVES[wave_type], None] if wave_type else [None]
    shared = {
        name: [Record((), n) for n in rng.sample(range(-9, 99), rng.randint(0, 3))]
        for name in case.without_wave
    }
    pools = [[None, *rng.sample(VALUES[t], min(len(VALUES[t]), 3))] for t in key_types]
    for wave in rng.sample(names, min(len(names), waves)):
        records: dict[str, list[Record]] = {}
        for link in links:
            if link.name in shared:
                records[link.name] = shared[link.name]
                continue
            taken: set[Any] = set()
            found = []
            for _ in range(rng.choice([0, 1, 2, 4, 7, 10])):
                key = () if link.buffer else tuple(rng.choice(pool) for pool in pools)
                arrival = rng.randint(-20, 60)
                # In KEY the arrival tells the records of one key apart.
                if (key, arrival) not in taken:
                    taken.add((key, arrival))
                    found.append(Record(key, arrival))
            records[link.name] = found
        # A wave exists where a link that is no buffer link has a record.
        if any(records[link.name] for link in links if not link.buffer):
            case.waves[wave] = records
    return case
