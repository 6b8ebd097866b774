"""The package: its names are imported on first use."""

import importlib
import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

import pytest

import omd
from omd._core import former, packages
from omd.programs.cli.doctor import Verdict, _command, _package


def test_every_public_name_is_there():
    for name in omd.__all__:
        assert getattr(omd, name) is not None, name
    assert set(omd.__all__) <= set(dir(omd))


# What users import from the packages; the names of `omd` are those of its __all__.
PUBLIC = {
    "omd": (
        "Batch Control Decision Delivery Dispatch Status Facts Lake"
        " Lineage Run NextRunIndicator Outcome ProcessingIndicator"
        " StepResult StepRun __version__ connect errors"
    ),
    "omd.dispatch": "Task",
    "omd.lake": "catalog",
    "omd.spark": (
        "HeldSnapshot OmdDataSource WriteResult execute_rollback read register session snapshot"
        " stamp write"
    ),
}


@pytest.mark.parametrize("module", PUBLIC)
def test_the_names_that_users_import_are_kept(module):
    if module == "omd.spark":
        pytest.importorskip("pyspark")
    found = importlib.import_module(module)
    assert [name for name in PUBLIC[module].split() if not hasattr(found, name)] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'omd' has no attribute 'nonsense'"):
        _ = omd.nonsense


def test_import_is_cheap_until_a_name_is_used():
    program = (
        "import sys, omd; assert 'psycopg' not in sys.modules;"
        "from omd import *; assert connect is omd.doors.control.connect"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


CHECKOUT = Path(__file__).parents[2]
# The distribution omd is a stranger's: nobody may be told to install it, or to ask for its version.
STRANGER = re.compile(
    r"\bomd\[[a-z{]|\b(install|uninstall|download|reinstall|add) (-\S+ )*[\'\"]?omd(?![\w.-])"
    r"|\b(version|distribution|metadata|files)\([\'\"]omd[\'\"]|^name = \"omd\"",
    re.MULTILINE,
)


def test_every_place_names_our_distribution_and_not_the_stranger_s():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=CHECKOUT, check=True, capture_output=True, text=True
    )
    files = [CHECKOUT / name for name in listed.stdout.split("\0") if name]
    assert STRANGER.search("pip install -U omd")
    assert STRANGER.search("pip install 'omd[spark]'")
    assert not STRANGER.search("pip install 'pgomd[spark]'; omd install; omd embedded start")
    found = [
        f"{file.relative_to(CHECKOUT)}: {match[0]}"
        for file in files
        if file.is_file() and file != Path(__file__)
        for match in STRANGER.finditer(file.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


def test_both_commands_are_one():
    entries = distribution("pgomd").entry_points
    ours = {entry.name: entry.value for entry in entries.select(group="console_scripts")}
    assert ours == {"omd": "omd.programs.cli.main:main", "pgomd": "omd.programs.cli.main:main"}
    assert distribution("pgomd").version == omd.__version__


def test_the_doctor_names_another_distribution_of_the_package(tmp_path, monkeypatch):
    """A stranger's distribution as pip installs it; the doctor looks where Python looks."""
    assert (_package().verdict, _package().found) == (Verdict.OK, f"pgomd {omd.__version__}")
    stranger = tmp_path / "omd-7.0.dist-info"
    stranger.mkdir()
    (stranger / "METADATA").write_text("Metadata-Version: 2.1\nName: omd\nVersion: 7.0\n")
    (stranger / "RECORD").write_text("omd/__init__.py,,\nomd-7.0.dist-info/METADATA,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    finding = _package()
    assert finding.verdict is Verdict.BAD
    assert "the distribution omd also provides the package omd" in finding.found
    again = packages.install(options="--force-reinstall")
    assert finding.mend == f"pip uninstall omd, then: {again}"


def test_the_doctor_names_another_program_of_the_name(tmp_path, monkeypatch):
    ours = Path(sysconfig.get_path("scripts"))
    linked, other = tmp_path / "linked", tmp_path / "other"
    for folder in (linked, other):
        folder.mkdir()
    (linked / "omd").symlink_to(ours / "omd")  # as pipx does
    (other / "omd").write_text("#!/bin/sh\necho a site of a monitoring host\n")
    (other / "omd").chmod(0o755)
    for path, verdict in (
        ([ours], Verdict.OK),
        ([linked, other], Verdict.OK),
        ([other, ours], Verdict.WARNING),
        ([tmp_path], Verdict.OK),
    ):
        monkeypatch.setenv("PATH", os.pathsep.join(map(str, path)))
        finding = _command()
        assert finding.verdict is verdict, finding
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, [other, ours])))
    assert _command().found == f"{other / 'omd'} comes first on PATH and is another program"
    assert _command().mend.startswith("Call pgomd instead")


# What each public name loads beside the floors below it.
LOADED = {
    "import omd; omd.connect": "doors",
    "from omd import Batch, Run, Outcome": "",
    "from omd.dispatch import Task": "doors",
    "import omd.errors": "errors",
    "import omd.integrations.airflow": "integrations",
}
UPPER = ("spark", "tables", "doors", "programs", "integrations", "errors")


@pytest.mark.parametrize("program", LOADED)
def test_a_public_name_loads_its_floor_and_none_above(program):
    shown = "print(*{m.split('.')[1] for m in sys.modules if m[:4] == 'omd.'})"
    text = f"{program}\nimport sys\n{shown}"
    done = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split()) & set(UPPER)
    allowed = {LOADED[program], "errors"} if LOADED[program] == "doors" else {LOADED[program]}
    assert loaded <= allowed, loaded


@pytest.mark.parametrize("module", former.PLACES)
def test_a_former_module_says_where_its_content_is(module):
    with pytest.raises(ModuleNotFoundError, match="has gone; use ") as caught:
        importlib.import_module(f"{module}.anything")
    assert former.PLACES[module] in str(caught.value)
