"""Manifests of dbt that no project of good will has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
import pytest

from omd.programs.cli.documents.lineage import read_topics
from omd.programs.cli.topic_file import topic_file
from omd.rooms.lineage.manifest import read_manifest

if TYPE_CHECKING:
    from pathlib import Path


def node(name: str, *reads: str, **more: Any) -> dict[str, Any]:
    config = {"materialized": "table", **more.pop("config", {})}
    return {
        "resource_type": "model",
        "package_name": "p",
        "name": name,
        "schema": "s",
        "alias": name,
        "depends_on": {"nodes": [f"model.p.{read}" for read in reads]},
        "config": config,
        **more,
    }


def manifest(tmp_path: Path, *nodes: dict[str, Any], **sources: Any) -> Path:
    path = tmp_path / "manifest.json"
    document = {
        "metadata": {"project_name": "p"},
        "nodes": {f"model.p.{given['name']}": given for given in nodes},
        "sources": sources,
    }
    path.write_text(json.dumps(document))
    return path


def test_a_table_is_read_once_through_views_and_ephemeral_models(tmp_path: Path) -> None:
    view, ephemeral = {"materialized": "view"}, {"materialized": "ephemeral"}
    read = read_manifest(
        manifest(
            tmp_path,
            node("d", "c", "b"),
            node("c", "b", "a", config=ephemeral),
            node("b", "a", config=view),
            node("a"),
        )
    )
    assert [n.name for n in read.nodes.values()] == ["a", "b", "c", "d"]
    assert [n.table for n in read.tables_read(read.nodes["model.p.d"])] == ["s.a"]


def test_nodes_that_read_each_other_end(tmp_path: Path) -> None:
    view = {"materialized": "view"}
    read = read_manifest(
        manifest(tmp_path, node("a", "b", config=view), node("b", "a", config=view))
    )
    assert read.tables_read(read.nodes["model.p.a"]) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"nodes": 1}', "[" * 100_000, '{"sources": {}}'])
def test_what_is_no_manifest_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text)
    with pytest.raises(click.UsageError, match="is no manifest of dbt"):
        read_manifest(path)


HOSTILE = "a\u2028#: {}\"'\n\\ \U0001f600\x85 [x]"


def test_hostile_names_stay_names_in_the_file(tmp_path: Path) -> None:
    given = node(
        HOSTILE,
        "yes",
        schema="No",
        description=f"{HOSTILE}\n- {HOSTILE}",
        original_file_path=HOSTILE,
        config={"materialized": "incremental", "unique_key": f"{HOSTILE} || x"},
    )
    path = tmp_path / "topics.yaml"
    path.write_text(topic_file(read_manifest(manifest(tmp_path, given, node("yes")))))
    name = '"No"."' + HOSTILE.replace('"', '""') + '"'
    topics = read_topics([path])
    assert list(topics) == ["s.yes", name]
    assert topics[name]["depends_on"] == ["s.yes"]
    assert topics[name]["comment"] == f"{HOSTILE}\n- {HOSTILE}"
    assert "merge_key" not in topics[name]


def test_only_models_are_taken_that_fit_a_pattern(tmp_path: Path) -> None:
    nodes = [node("stg_a", "other", tags=["daily"]), node("fact_a", "stg_a"), node("other")]
    read = read_manifest(manifest(tmp_path, *nodes))

    def topics(*patterns: str) -> list[str]:
        path = tmp_path / "topics.yaml"
        path.write_text(topic_file(read, patterns))
        return list(read_topics([path]))

    assert topics("tag:dai*") == ["s.other", "s.stg_a"]
    assert topics("p.fact_?") == ["s.stg_a", "s.fact_a"]  # what it reads is a source
    assert topics("nothing") == []
    assert topics() == ["s.other", "s.stg_a", "s.fact_a"]
