"""cron_next against a model that tries every minute of every matching day, and what it refuses."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import psycopg
import pytest

from support.lots import SEED, draws

if TYPE_CHECKING:
    from conftest import Room

UTC = timezone.utc
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
RANGES: list[tuple[int, int, list[str]]] = [
    (0, 59, []),
    (0, 23, []),
    (1, 31, []),
    (1, 12, MONTHS),
    (0, 7, WEEKDAYS),
]
NEXT = "SELECT extract(epoch FROM omd_dispatch.cron_next(%s, %s, %s))::bigint"
# Zones with a change of the clocks, the instants near it, and the month.
CHANGES = [
    ("Europe/Paris", "2026-03-29 01:00"),
    ("Europe/Paris", "2026-10-25 01:00"),
    ("America/New_York", "2026-03-08 07:00"),
    ("America/New_York", "2026-11-01 06:00"),
    ("Australia/Lord_Howe", "2026-04-04 15:00"),
    ("Australia/Lord_Howe", "2026-10-03 15:30"),
    ("Africa/Casablanca", "2024-03-10 02:00"),
    ("Africa/Casablanca", "2024-04-14 02:00"),
    ("America/Havana", "2026-11-01 05:00"),  # from 01:00 back to 00:00
    ("Africa/Cairo", "2026-04-23 22:00"),  # from 00:00 to 01:00
    ("Pacific/Apia", "2011-12-30 10:00"),  # a whole day
]


WRONG = """-1 * * * *|1- * * * *|-5 * * * *|1-2-3 * * * *|*/ * * * *|*/-1 * * * *|*/1.5 * * * *
    |, * * * *|1, * * * *|*5 * * * *|5* * * * *|** * * * *|? * * * *|* * L * *|* * 15W * *
    |* * * * 5#2|* * * * 5L|JAN * * * *|* * * MON *|* * * * JAN|* * * JANUARY *|* * * JA *
    |* * 32 * *|* * * 0 *|* * * * SUN-8|* * * * SAT-SUN|* * * DEC-JAN *|1..5 * * * *
    |* * * * * *|* * * *|*|@|@reboot|@every 5m|@daily *|99999999999 * * * *|0x1 * * * *
    |0 0 31 2 *|0 0 30 2 *|0 0 31 4,6,9,11 *|\u0663 * * * *|\uff11 * * * *"""
RARE = [
    ("0 0 29 2 *", "2096-03-01", "2104-02-29"),  # 2100 has none
    ("0 0 31 * *", "2026-01-31", "2026-03-31"),
    ("0 0 31 */2 *", "2026-01-31", "2026-03-31"),
    ("0 0 29 2 1", "2026-01-01", "2026-02-02"),  # the 29th or a Monday
    ("0 0 * 2 1", "2026-01-01", "2026-02-02"),
    ("0 0 */2 2 1", "2026-02-03", "2026-02-09"),  # both
    ("59 23 31 12 *", "2026-12-31 23:59:00", "2027-12-31 23:59"),
    ("59 23 31 12 *", "2026-12-31 23:58:59.999999", "2026-12-31 23:59"),
    ("0 0 * * 5-7", "2026-01-03", "2026-01-04"),
    ("0 0 * * 0-0,7", "2026-01-03", "2026-01-04"),
    ("@HOURLY", "2026-01-03 00:00:01", "2026-01-03 01:00"),
    ("@daily", "2026-01-03", "2026-01-04"),
    ("@midnight", "2026-01-03", "2026-01-04"),
    ("@weekly", "2026-01-03", "2026-01-04"),
    ("@annually", "2026-01-03", "2027-01-01"),
    ("  00  07,08   *\t* * ", "2026-01-03 07:00", "2026-01-03 08:00"),
    ("0-59/100 0 * * *", "2026-01-03", "2026-01-04"),
]


def numbers(field: str, low: int, high: int, names: list[str]) -> set[int]:
    found: set[int] = set()
    for item in field.upper().split(","):
        part, _, every = item.partition("/")
        first, _, last = part.partition("-")
        bounds = (first, last or first) if part != "*" else (str(low), str(high))
        begin, end = (names.index(b) + low if b in names else int(b) for b in bounds)
        found.update(range(begin, end + 1, int(every or 1)))
    return found


def instants(local: datetime, zone: ZoneInfo, *, is_each_hour: bool) -> set[datetime]:
    meant = {local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)}
    real = {i for i in meant if i.astimezone(zone).replace(tzinfo=None) == local}
    if is_each_hour:
        return real
    if real:
        return {min(real)}
    at = min(meant).replace(minute=0) - timedelta(hours=26)
    while at.astimezone(zone).replace(tzinfo=None) < local:
        at += timedelta(minutes=15)
    return {at}


def model(cron: str, zone: ZoneInfo, after: datetime) -> datetime | None:
    fields = cron.split()
    minutes, hours, days, months, weekdays = (
        numbers(f, *r) for f, r in zip(fields, RANGES, strict=True)
    )
    is_both = "*" in {fields[2][0], fields[4][0]}

    def matches(day: date) -> bool:
        is_day = day.day in days
        is_weekday = bool({day.isoweekday(), day.isoweekday() % 7} & weekdays)
        return day.month in months and (
            (is_day and is_weekday) if is_both else (is_day or is_weekday)
        )

    day = after.astimezone(zone).date() - timedelta(days=2)
    left, found = 3700, None
    while left:
        if matches(day):
            for minute in range(24 * 60):
                if minute // 60 in hours and minute % 60 in minutes:
                    local = datetime.combine(day, datetime.min.time()) + timedelta(minutes=minute)
                    for at in instants(local, zone, is_each_hour=fields[1][0] == "*"):
                        if at > after and (found is None or at < found):
                            found, left = at, 3
        day += timedelta(days=1)
        left -= 1
    return found


def expression(chance: random.Random) -> str:
    def item(low: int, high: int, names: list[str]) -> str:
        first = chance.randint(low, high)
        last = chance.randint(first, high)

        def name(number: int) -> str:
            if names and number - low < len(names) and chance.random() < 0.5:
                return chance.choice([str.lower, str.upper])(names[number - low])
            return str(number)

        return chance.choice(
            [
                name(first),
                name(first),
                f"{name(first)}-{name(last)}",
                f"{first}-{last}/{chance.randint(1, high)}",
                f"*/{chance.randint(1, high)}",
            ]
        )

    def field(number: int) -> str:
        if chance.random() < (0.1, 0.3, 0.6, 0.7, 0.6)[number]:
            return "*"
        return ",".join(item(*RANGES[number]) for _ in range(chance.choice([1, 1, 2])))

    return " ".join(field(n) for n in range(5))


@pytest.mark.random
def test_occurrences_are_those_of_the_model(room: Room) -> None:
    chance = random.Random(SEED)
    room.conn.execute("SET timezone = 'America/Los_Angeles'")
    for _ in range(draws(20)):
        for zone, change in CHANGES:
            cron = expression(chance)
            after = datetime.fromisoformat(change).replace(tzinfo=UTC) + timedelta(
                minutes=chance.randint(-3000, 300), seconds=chance.choice([0, 0, 59])
            )
            expected = model(cron, ZoneInfo(zone), after)
            if expected is None:
                with pytest.raises(psycopg.Error, match="10 years"):
                    room.one(NEXT, cron, zone, after)
                continue
            found = datetime.fromtimestamp(room.one(NEXT, cron, zone, after), UTC)
            assert found == expected, (cron, zone, after)


def test_what_is_rare(room: Room) -> None:
    at = "(%s || '+00')::timestamptz"
    for cron, after, expected in RARE:
        query = f"SELECT omd_dispatch.cron_next(%s, 'UTC', {at}) = {at}"
        assert room.one(query, cron, after, expected), cron


def test_what_is_no_cron_is_refused(room: Room) -> None:
    refused = [("OM013", w.strip(), "UTC", "now") for w in WRONG.split("|")]
    for sqlstate, *arguments in (
        *refused,
        ("OM013", "", "UTC", "now"),
        ("OM005", None, "UTC", "now"),
        ("OM005", "* * * * *", None, "now"),
        ("OM005", "* * * * *", "UTC", None),
        ("OM013", "* * * * *", "", "now"),
        ("OM013", "* * * * *", "Europe/Pariss", "now"),
        ("OM013", "* * * * *", "../../etc/passwd", "now"),
        ("OM013", "* * * * *", "x" * 5000, "now"),
        ("OM013", "* * * * *", "UTC", "infinity"),
        ("OM013", "* * * * *", "UTC", "-infinity"),
        ("OM013", "* * * * *", "UTC", "294276-12-31 23:59:59+00"),
        ("OM013", "* * * * *", "UTC", "4713-11-24 00:00+00 BC"),
    ):
        with pytest.raises(psycopg.Error) as caught:
            room.one("SELECT omd_dispatch.cron_next(%s, %s, %s)", *arguments)
        assert caught.value.sqlstate == sqlstate, arguments
