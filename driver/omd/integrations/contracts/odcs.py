"""What the Open Data Contract Standard says in its own words, and what it leaves to vendors.

A model and a contract are the same document in two forms: `odcs_export` writes what `odcs_import`
reads. Nothing is said twice, so that a contract that was edited has one meaning:

- The standard's own words: names, types, primaryKeyPosition, unique, relationships, the metrics
  invalidValues and duplicateValues with a threshold; of a field that may not be missing either
  required, or, where something is set for that, the metric nullValues.
- A rule of the type `custom` and the engine `omd`: checks, queries, and what is set for the
  constraints that the standard has no metric for.
- A customProperty of the vendor `pgomd`: everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERSION = "v3.2.0"
ENGINE = "omd"
VENDOR = "pgomd"

INTEGERS = {"i16": "smallint", "i32": "integer", "i64": "bigint"}

# What is set for a constraint, by the names of customProperties.
SETTINGS = {
    "action": "action",
    "threshold": "threshold",
    "thresholdPercent": "threshold_percent",
    "warn": "warn",
    "warnPercent": "warn_percent",
    "enabled": "enabled",
}


def custom(name: str, value: Any) -> dict[str, Any]:
    """Return a customProperty of ours."""
    return {"property": name, "value": value, "vendor": VENDOR}


def limits(setting: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what is set for a constraint: the standard's limit, and our customProperties.

    The standard has one limit for a rule. No violation may be, where nothing is set; any number
    may be, where the threshold is none.
    """
    rest = dict(setting)
    if rest.get("threshold", "none") != "none":
        limit = {"mustBeLessOrEqualTo": rest.pop("threshold"), "unit": "rows"}
    elif "threshold_percent" in rest:
        limit = {"mustBeLessOrEqualTo": rest.pop("threshold_percent"), "unit": "percent"}
    elif "threshold" in rest:
        del rest["threshold"]
        limit = {"mustBeGreaterOrEqualTo": 0, "unit": "rows"}
    else:
        limit = {"mustBe": 0, "unit": "rows"}
    return limit, [custom(name, rest[key]) for name, key in SETTINGS.items() if key in rest]
