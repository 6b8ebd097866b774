"""The wheel in a clean environment, as a user gets it, without the checkout."""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import psycopg
import pytest

from omd.programs import install
from omd.programs.demo.pages import Page
from support.wheel import CHECKOUT, run

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

FENCE = re.compile(r"^```.*?^```\s*?$", re.MULTILINE | re.DOTALL)
SHARE = Path(__file__).parents[2] / "share"
TUTORIALS = Path(__file__).parents[2] / "docs/tutorial"


def test_the_wheel_has_the_sql_the_types_and_nothing_else(wheel):
    archive = zipfile.ZipFile(wheel)
    names = set(archive.namelist())
    root = install.sql_root()
    sql = {
        f"omd/_sql/{path.relative_to(root)}"
        for folder in ("migrations", "sql")
        for path in (root / folder).rglob("*")
        if path.is_file()
    }
    assert sql <= names
    # There are so many routines that they are in one archive: tools/wheel_hook.py.
    packed = zipfile.ZipFile(io.BytesIO(archive.read("omd/_sql/procedures.zip")))
    routines = {path.relative_to(root).as_posix() for path in (root / "procedures").rglob("*.sql")}
    assert set(packed.namelist()) == routines
    for name in routines:
        assert packed.read(name) == (root / name).read_bytes()
    assert {"omd/py.typed", f"{_dist_info(wheel)}/licenses/LICENSE"} <= names
    api = json.loads(archive.read("omd/api.json"))
    assert api["version"] == install.product_version()
    assert [name for name in names if name.startswith("omd/programs/demo/")]
    # The files that other tools read, as they are in this repository.
    data = _dist_info(wheel).replace(".dist-info", ".data/data/share/omd")
    shared = {f"{data}/{path.name}" for path in SHARE.iterdir()}
    assert f"{data}/omd.rules.yml" in shared
    assert shared <= names
    assert {name.split("/")[0] for name in names - sql - shared} == {"omd", _dist_info(wheel)}
    # The pages that `omd demo` plays, and no other document.
    tutorials = [Page(f"docs/tutorial/{file.name}") for file in TUTORIALS.glob("*.md")]
    pages = {f"omd/_pages/{each.document}" for page in tutorials for each in (*page.before, page)}
    assert {name for name in names if name.endswith(".md")} == pages
    assert [n for n in names if re.search(r"\.py[co]$|__pycache__|/tests?/|_cache/", n)] == []
    assert wheel.stat().st_size < 3_000_000


def test_its_metadata_lead_somewhere(wheel):
    archive = zipfile.ZipFile(wheel)
    told = message_from_bytes(archive.read(f"{_dist_info(wheel)}/METADATA"))
    assert (told["Name"], told["Version"]) == ("pgomd", install.product_version())
    assert "Development Status :: 5 - Production/Stable" in told.get_all("Classifier")
    urls = dict(url.split(", ") for url in told.get_all("Project-URL"))
    assert {"Documentation", "Changelog", "Security", "Source"} <= set(urls)
    home = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["pgomd"]["home"]
    assert all(url.startswith(home) for url in urls.values())
    text = FENCE.sub("", told.get_payload())
    links = re.findall(r"\]\(([^)\s]+)", text) + re.findall(r"(?:src|href)=\"([^\"]+)", text)
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []
    ours = [link for link in links if link.startswith(home)]
    for link in ours:  # each leads to a file that is there
        kind, tag, path = link.removeprefix(f"{home}/").partition("#")[0].split("/", 2)
        assert (kind, tag) in {(k, f"v{told['Version']}") for k in ("blob", "raw")}
        assert (CHECKOUT / path).exists(), link
        assert (kind == "raw") == path.endswith((".png", ".svg", ".gif"))
    core = [r for r in told.get_all("Requires-Dist") if "extra ==" not in r]
    assert len(core) == 4


def _dist_info(wheel):
    return "-".join(wheel.name.split("-")[:2]) + ".dist-info"


def test_the_installed_command_installs_the_database(wheel_environment, empty_dsn):
    where = "import omd.programs.install; print(omd.programs.install.sql_root())"
    root = run(wheel_environment / "bin/python", "-c", where, cwd=wheel_environment).strip()
    assert Path(root).is_relative_to(wheel_environment)
    run(wheel_environment / "bin/omd", "install", cwd=wheel_environment, OMD_DSN=empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert install.installed_version(conn) == install.product_version()
        assert not install.needs_install(conn)
