"""The language of checks: what it has, what it refuses, and that PostgreSQL evaluates nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from conftest import Room

TYPES = {
    "delay": "integer",
    "big": "bigint",
    "small": "smallint",
    "amount": "numeric(12,2)",
    "wide": "numeric(38,10)",
    "rate": "double precision",
    "name": "character varying(80)",
    "note": "text",
    "day": "date",
    "at": "timestamp without time zone",
    "seen": "timestamp with time zone",
    "ok": "boolean",
    "order": "text",
    "user": "text",
    "date": "date",
}
# Each check, and what it is in Spark where that is worth a look.
GOOD = {
    "delay BETWEEN -120 AND 1800": "(`delay` BETWEEN (-120) AND 1800)",
    "DELAY > 1 and not (delay >= 3)": None,
    "delay > 0 AND NOT delay = 5 OR name IS NULL": (
        "(((`delay` > 0) AND (NOT (`delay` = 5))) OR (`name` IS NULL))"
    ),
    "name IN ('a','b''c','\\d')": (
        "(`name` IN ('a', CAST(X'622763' AS STRING), CAST(X'5C64' AS STRING)))"
    ),
    "name LIKE 'A\\%%' OR note NOT LIKE '\\a_'": (
        "((`name` LIKE CAST(X'415C2525' AS STRING)) OR (`note` NOT LIKE 'a_'))"
    ),
    "CASE WHEN delay > 0 THEN 'x' ELSE name END = 'x'": None,
    "CASE delay WHEN 1 THEN TRUE WHEN 2 THEN FALSE END": None,
    "delay IS NOT DISTINCT FROM 5": "(`delay` <=> 5)",
    "name IS DISTINCT FROM NULL": "(NOT (`name` <=> NULL))",
    "day >= DATE '2013-01-01' AND at < TIMESTAMP '2014-01-01 00:00:00'": None,
    "seen < TIMESTAMP '2014-01-01 00:00:00'": "(`seen` < TIMESTAMP_LTZ'2014-01-01 00:00:00Z')",
    "seen > day AND at > day AND seen = at": None,
    "day > '2013-01-01'": "(`day` > DATE'2013-01-01')",
    "day + 1 <= delivery_date()": "(date_add(`day`, CAST(1 AS INT)) <= delivery_date())",
    "day - DATE '2013-01-01' < 30": None,
    "date > DATE '2013-01-01'": None,
    "big * big > 5": "((CAST(`big` AS DECIMAL(19,0)) * CAST(`big` AS DECIMAL(19,0))) > 5)",
    "amount * (1 - amount) * (1 + amount) > 0": None,
    "coalesce(delay, 0) + nullif(small, 3) > 1.5": None,
    "rate > 0.5 AND rate * 2 < amount": None,
    "amount = 1e2": "(`amount` = 100BD)",
    "length(trim(name)) > 0 AND substring(name, 0, 2) = 'ab'": None,
    "lower(name) = 'a' AND upper(note) <> 'X'": None,
    "matches(name, '^[A-Z]{2}(-[0-9]+)?\\.$')": None,
    "\"order\" = 'x' AND \"user\" <> ''": None,
    "name || '-' || note = 'a' || 'b'": "(concat(concat(`name`, '-'), `note`) = concat('a', 'b'))",
    "ok": "`ok`",
    "NULL": None,
    "delay = '5'": "(`delay` = 5)",
    "name='a'or name='b'": None,
}
BAD = """
delay | delay / 2 > 1 | delay > (SELECT 1) | random() > 1 | pg_sleep(5) IS NULL | other > 1
delay > 1; DROP TABLE x | delay > 1 -- c | delay /* c */ > 1 | delay::text = 'x' | user = 'x'
order = 'x' | delay = 'abc' | name > 5 | day > '2013-02-30' | day > DATE '2013-02-30'
DATE 'today' < day | day > 'now' | name = E'x' | name = U&'x' | name = $$x$$ | delay != 5
delay > 1 AND | (delay > 1 | delay > 1) | name LIKE note | matches(name, '\\d+')
matches(name, '(?=a)b') | matches(name, '(a)\\1') | matches(name, '[[:alpha:]]')
matches(name, '[a&&b]') | matches(name, 'a++') | matches(name, '(') | matches(name, note)
name LIKE 'a\\' | name LIKE 'a' ESCAPE 'b' | delay BETWEEN 1 | delay = 1 = TRUE | a.delay = 1
delay IS TRUE | delay IN () | delay IN (SELECT 1) | at - at IS NULL | at + 1 > at
substring(name from 1 for 2) = 'x' | substring(name, 2) = 'x' | length(delay) > 1
abs(name) > 1 | wide * wide > 1 | delay > 123456789012345678901234567890123456789 | CASE END
CASE WHEN delay THEN TRUE END | current_user = 'x' | name ILIKE 'x' | name ~ 'x' | ok > 5
ok AND delay | NOT delay | name COLLATE "C" = 'x' | delay = ANY (ARRAY[1]) | :x = 1 | ? | 'x'
delay ISNULL | "Delay" = 1 | extract(year from day) > 1 | omd_delivery.matches(name, 'x')
name = 'x' 'y' | - name = 'x' | delay - day > 1 | delay > . | delay > 1.2.3 | delay > 1x | "
name || 1 = 'x' | 'x | matches(name, 'a**') | name = 5 || 'x' | length() > 1 | ok = 'maybe'
"""


def test_a_check_is_written_in_the_words_of_spark(room: Room) -> None:
    for check, expected in GOOD.items():
        spark = room.one(
            "SELECT omd_delivery._spark_check(%s, %s::jsonb)", check, json.dumps(TYPES)
        )
        assert expected in (None, spark)
        assert problem(room, check) is None, check


def problem(room: Room, check: str) -> str | None:
    found: str | None = room.one(
        "SELECT omd_delivery._check_problem(%s, NULL, %s::jsonb)", check, json.dumps(TYPES)
    )
    return found


def test_what_is_not_in_the_language_is_refused(room: Room) -> None:
    bad = [check.strip() for line in BAD.strip().splitlines() for check in line.split(" | ")]
    bad = [check for check in bad if check] + ["(" * 70 + "ok" + ")" * 70, "ok OR " * 5000 + "ok"]
    assert [check for check in bad if not problem(room, check)] == []
    assert not room.rows("SELECT FROM pg_prepared_statements WHERE name = 'omd_delivery_check'")


def test_a_check_is_not_evaluated(room: Room) -> None:
    """Each of these fails when it is computed, and none of them when it is typed."""
    for check in ("2147483647 + 1 > 5", "substring('a', 1, -1) = ''", "abs(-2147483648) * 3 > 1"):
        assert problem(room, check) is None


@pytest.mark.parametrize(
    ("value", "pattern", "whole"),
    [("ab", "a|ab", True), ("xab", "ab", False), ("ab\n", "ab", False), ("", "", True)],
)
def test_matches_is_about_the_whole_value(
    room: Room, value: str, pattern: str, whole: bool
) -> None:
    assert room.one("SELECT omd_delivery.matches(%s, %s)", value, pattern) is whole


QUICK = [
    *("[A-Z]{2}[0-9]{4}", "([0-9]{1,3}\\.){3}[0-9]{1,3}", "([a-z]+-)*[a-z]+", "(foo|bar)*", "a*"),
    *("[a-z0-9._-]+@[a-z0-9-]+(\\.[a-z0-9-]+)+", "([0-9]{4} ?){4}", ".*foo.*bar.*", "a|b|"),
    *("[+-]?[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?", "[^,]*(,[^,]*)*", "([A-Z][a-z]* ?)+"),
    *("[A-Z][a-z]+( [A-Z][a-z]+)*", "(?:EUR|USD) [0-9]{1,9}", "[0-9]*x|[a-z]*", "", "^a$"),
    *("|".join(f"word{n}" for n in range(40)), "[0-9]{5}(-[0-9]{4})?", "red|rose|rust|ruby"),
]
ENDLESS = [
    *("(a+)+", "(a*)*b", "((a+)*)*b", "(a|a)*b", "(a|aa)+b", "(a?){30}a{30}", "(a+?)+?b"),
    *("a?" * 30 + "a" * 30, "(.*,){11}x", "([a-z0-9]+[._-]?)*[a-z0-9]+", ".*.*.*.*.*x", "(.*)*"),
    *("(x+x+)+y", "(a|b|ab)*c", "([a-zA-Z]+)*[0-9]", "(a*){2,30}", "([0-9]{1,3}){4,}"),
]


def test_a_pattern_that_may_never_end_on_spark_is_refused(room: Room) -> None:
    for pattern in QUICK:
        assert problem(room, f"matches(name, '{pattern}')") is None, pattern
    for pattern in ENDLESS:
        assert "very long" in str(problem(room, f"matches(name, '{pattern}')")), pattern


def test_what_a_check_may_not_hold_is_named(room: Room) -> None:
    for check, said in {
        "delay / 60 < 30": "/ is not allowed in a check",
        "delay % 2 = 0": "% is not allowed in a check",
        "delay::text = 'x'": ": is not allowed in a check",
        "delay = 5 -- c": "-- is not allowed in a check",
        "name = 'x": "a quote is not closed",
    }.items():
        assert problem(room, check) == said
    model = {
        "interface": "i",
        "entities": [
            {
                "name": "e",
                "key": ["k"],
                "attributes": [{"name": "k", "type": "integer"}],
                "constraints": [{"name": "odd", "type": "record", "check": "k % 2 = 1"}],
            }
        ],
    }
    detail = room.refused("OM030", "deploy_model", model=Jsonb(model))
    assert detail["first"] == "entities[0].constraints[0].check (e.odd)"
    assert [p["object"] for p in detail["problems"]] == ["e.odd"]
