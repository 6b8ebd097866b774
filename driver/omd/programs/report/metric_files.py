"""Files for other tools: alerts, sql_exporter and Grafana from the metrics, the package of dbt."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from omd.rooms.event.rows import MetricListRow

# Of a histogram sql_exporter knows no type; its parts are counters that Prometheus puts together.
_PARTS = {"histogram": {"_bucket": ["le"], "_sum": [], "_count": []}}


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else "")


_Dumper.add_representer(str, _text)


def rules(metrics: Sequence[MetricListRow]) -> str:
    """Return the alerts as a file of rules for Prometheus."""
    return _yaml(
        "Alerts of OMD for Prometheus. Their bounds are a proposal.",
        {
            "groups": [
                {
                    "name": "omd",
                    "rules": [
                        {
                            "alert": metric.alert["name"],
                            "expr": metric.alert["condition"],
                            "for": metric.alert["lasts"],
                            "labels": {"severity": metric.alert["severity"]},
                            "annotations": {
                                "summary": _summary(metric.alert["summary"]),
                                "description": metric.help,
                            },
                        }
                        for metric in metrics
                        if metric.alert
                    ],
                }
            ]
        },
    )


def _summary(text: str) -> str:
    """Return the summary of an alert with its places as Prometheus' templates write them."""
    values = {"value": "$value", "seconds": "$value | humanizeDuration"}
    return re.sub(r"\{(\w+)\}", lambda m: "{{ " + values.get(m[1], f"$labels.{m[1]}") + " }}", text)


def sql_exporter(metrics: Sequence[MetricListRow]) -> str:
    """Return the configuration of sql_exporter, with a query for each metric."""
    return _yaml(
        "OMD for sql_exporter: no program of OMD runs, but somebody has to publish.",
        {
            "global": {"scrape_timeout": "30s", "max_connections": 1, "max_idle_connections": 1},
            "target": {
                "data_source_name": "postgres://omd_metrics@localhost:5432/dwh?sslmode=prefer",
                "collectors": ["omd"],
            },
            "collectors": [
                {
                    "collector_name": "omd",
                    "metrics": [query for metric in metrics for query in _queries(metric)],
                }
            ],
        },
    )


def _queries(metric: MetricListRow) -> Iterator[dict[str, Any]]:
    parts = _PARTS.get(metric.metric_type, {"": []})
    for suffix, more in parts.items():
        keys = [*metric.label_names, *more]
        columns = [f"labels ->> '{key}' AS {key}" for key in keys]
        name = metric.metric_name + suffix
        yield {
            "metric_name": name,
            "type": metric.metric_type if len(parts) == 1 else "counter",
            "help": metric.help,
            **({"key_labels": keys} if keys else {}),
            "values": ["value"],
            "query": f"SELECT {', '.join([*columns, 'value'])}\nFROM omd_report.metrics\n"
            f"WHERE metric_name = '{metric.metric_name}'"
            + (f" AND sample_name = '{name}'" if suffix else ""),
        }


def grafana(metrics: Sequence[MetricListRow]) -> str:
    """Return a dashboard of Grafana with a panel for each metric."""
    source = {"type": "prometheus", "uid": "${datasource}"}
    panels = [
        {
            "id": number,
            "type": "timeseries",
            "title": metric.metric_name,
            "description": metric.help,
            "datasource": source,
            "gridPos": {"h": 8, "w": 8, "x": 8 * ((number - 1) % 3), "y": 8 * ((number - 1) // 3)},
            "fieldConfig": {"defaults": {"unit": _unit(metric)}, "overrides": []},
            "targets": [
                {
                    "refId": "A",
                    "datasource": source,
                    "expr": expression(metric),
                    "legendFormat": " ".join(f"{{{{{name}}}}}" for name in metric.label_names)
                    or metric.metric_name,
                }
            ],
        }
        for number, metric in enumerate(metrics, 1)
    ]
    dashboard = {
        "title": "OMD",
        "uid": "omd",
        "schemaVersion": 39,
        "tags": ["omd"],
        "time": {"from": "now-24h", "to": "now"},
        "refresh": "1m",
        "templating": {
            "list": [{"name": "datasource", "type": "datasource", "query": "prometheus"}]
        },
        "panels": panels,
    }
    return json.dumps(dashboard, indent=2) + "\n"


def expression(metric: MetricListRow) -> str:
    """Return what a panel shows of a metric, in PromQL."""
    name, by = metric.metric_name, ", ".join(metric.label_names)
    if metric.metric_type == "histogram":
        labels = f"{by}, le" if by else "le"
        return f"histogram_quantile(0.95, sum by ({labels}) (rate({name}_bucket[1h])))"
    if metric.metric_type == "counter":
        return f"sum by ({by}) (increase({name}[1h]))"
    if name.endswith("_timestamp_seconds"):
        return f"time() - {name}"
    return name


def _unit(metric: MetricListRow) -> str:
    return "s" if metric.metric_name.endswith("_seconds") else "short"


def _yaml(title: str, document: dict[str, Any]) -> str:
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=100, allow_unicode=True)
    return f"# {title} Made by omd report --files.\n{text}"


# Each file of share/ and what makes it.
FILES = {
    "omd.rules.yml": rules,
    "sql_exporter.yml": sql_exporter,
    "grafana.json": grafana,
}


def write(folder: Path, metrics: Sequence[MetricListRow]) -> list[Path]:
    """Write all files below a folder, and return where they are.

    Args:
        folder: is made where there is none. The package of dbt becomes its folder ``dbt``.
        metrics: the list of metrics.
    """
    from omd.integrations.dbt import package_path

    folder.mkdir(parents=True, exist_ok=True)
    ordered = sorted(metrics, key=lambda metric: metric.metric_name)
    written = [folder / name for name in FILES]
    for path in written:
        path.write_text(FILES[path.name](ordered), encoding="utf-8")
    package = folder / "dbt"
    shutil.copytree(package_path(), package, dirs_exist_ok=True)
    return [*written, package]
