"""The ruleset that all sides of decision_peers.py call, in the workers of Spark."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

MEMORY = "OMD_BENCH_MEMORY"
"""The folder in which a worker writes the most memory that it has held, in kilobytes."""


def count(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Count the records of each call, and sum their amounts."""
    answers = []
    for call in calls:
        records = [record for link in call.values() for record in link]
        amount = sum(record["amount"] for record in records)
        answers.append({"out": {"records": len(records), "amount": amount}})
    return answers


def weigh(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answer nothing, and write down how much memory this worker has held so far."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    Path(os.environ[MEMORY], str(os.getpid())).write_text(str(most))
    return [{} for _ in calls]


MODEL: dict[str, Any] = {
    "nodes": [
        {"id": "in", "name": "Request", "type": "inputNode"},
        {
            "id": "sums",
            "name": "Sums",
            "type": "expressionNode",
            "content": {
                "expressions": [
                    {"id": "e1", "key": "first", "value": "sum(map(l1, #.amount))"},
                    {"id": "e2", "key": "second", "value": "sum(map(l2, #.amount))"},
                    {"id": "e3", "key": "records", "value": "len(l1) + len(l2)"},
                ]
            },
        },
        {
            "id": "table",
            "name": "Table",
            "type": "decisionTableNode",
            "content": {
                "hitPolicy": "first",
                "outputPath": "out",
                "passThrough": False,
                "inputs": [
                    {"id": "i1", "name": "first", "field": "first"},
                    {"id": "i2", "name": "second", "field": "second"},
                ],
                "outputs": [
                    {"id": "o1", "name": "records", "field": "records"},
                    {"id": "o2", "name": "amount", "field": "amount"},
                ],
                "rules": [
                    *(
                        {
                            "_id": f"r{n}",
                            "i1": f"< {25 * n}",
                            "i2": f"< {15 * n}",
                            "o1": "records",
                            "o2": str(n),
                        }
                        for n in range(1, 40)
                    ),
                    {"_id": "r", "i1": "", "i2": "", "o1": "records", "o2": "0"},
                ],
            },
        },
        {"id": "out", "name": "Response", "type": "outputNode"},
    ],
    "edges": [
        {"id": f"{one}-{other}", "type": "edge", "sourceId": one, "targetId": other}
        for one, other in (("in", "sums"), ("sums", "table"), ("table", "out"))
    ],
}
"""A table of forty rules, over sums of the records."""
