"""A look at a location on this machine: what is listed, and what can't be."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import omd
from delivery.test_arrivals import Drop
from omd.doors import arrivals
from omd.errors import CallerError
from omd.rooms.delivery import beneath, folders
from omd.rooms.delivery.folders import (
    LocalFolders,
    local_path,
    printable,
    with_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from delivery.runs import Shop

TERMS: dict[str, Any] = {"ready": {"marker": "_SUCCESS"}}


def write(root: Path, folder: str, *files: str, content: str = "nbr\n1\n") -> Path:
    """Write files of a folder, and its marker last."""
    for file in files:
        path = root / folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (root / folder / "_SUCCESS").touch()
    return root / folder


def seen(root: Path, **terms: Any) -> dict[str, dict[str, Any]]:
    return {f["folder"]: f for f in LocalFolders(str(root), {**TERMS, **terms}).seen()}


@pytest.fixture
def location(tmp_path: Path) -> Path:
    location = tmp_path / "drop"
    location.mkdir()
    return location


def test_folders_are_listed_with_all_that_is_in_them(location: Path) -> None:
    write(location, "a", "customer.csv", "orders.parquet/part-0", ".hidden")
    os.utime(location / "a" / "customer.csv", ns=(1, 1_600_000_000_123_456_789))
    (location / "empty").mkdir()
    (location / "file").touch()
    found = seen(location)
    assert {name: f["kind"] for name, f in found.items()} == {
        "a": "FOLDER",
        "empty": "FOLDER",
        "file": "FILE",
    }
    files = {f["path"]: f for f in found["a"]["files"]}
    assert set(files) == {"customer.csv", "orders.parquet/part-0", ".hidden", "_SUCCESS"}
    assert files["customer.csv"] == {
        "path": "customer.csv",
        "bytes": 6,
        "modified": "2020-09-13T12:26:40.123456789Z",
    }
    assert found["empty"]["files"] == []
    json.dumps(list(found.values()))


def test_no_link_is_followed(location: Path, tmp_path: Path) -> None:
    secret = write(tmp_path, "secret", "customer.csv")
    (location / "itself").symlink_to(secret)
    (location / "dangling").symlink_to("nowhere")
    (write(location, "of a file", "customer.csv") / "x.csv").symlink_to(secret / "customer.csv")
    (write(location, "of a folder", "customer.csv") / "x").symlink_to(secret)
    (write(location, "deep", "a/b/c.csv") / "a" / "b" / "loop").symlink_to("..")
    write(location, "good", "customer.csv")
    assert {f["kind"] for name, f in seen(location).items() if name != "good"} == {"LINK"}
    assert seen(location)["good"]["kind"] == "FOLDER"
    (tmp_path / "other").symlink_to(location)
    with pytest.raises(OSError, match="symbolic link"):
        seen(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic link"):
        seen(tmp_path / "other" / "good")


@pytest.mark.parametrize("manifest", ["m.json", "deep/er/m.json"])
@pytest.mark.parametrize("swapped", ["2020", "2020/deep", "2020/deep/er"])
def test_a_folder_that_becomes_a_link_after_the_look_gives_nobody_s_file(
    location: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str, manifest: str
) -> None:
    """The sender puts a link in place of a folder between the look and the reading."""
    secret = {"files": [{"path": "secret", "bytes": 1}]}
    files = ["customer.csv", "m.json", "deep/x.csv", "deep/er/m.json"]
    for root in (location, tmp_path / "other"):
        folder = write(root, "2020", *files, content=json.dumps(secret))
        (folder / "_SUCCESS").unlink()

    def swap(folder: dict[str, Any], terms: Any, **readers: Any) -> dict[str, Any]:
        (location / swapped).rename(tmp_path / "aside")
        (location / swapped).symlink_to(tmp_path / "other" / swapped)
        return with_manifest(folder, terms, **readers)

    monkeypatch.setattr(folders, "with_manifest", swap)
    found = seen(location, ready={"manifest": manifest})["2020"]
    # Its own file was read from the folder that was looked at, or none.
    is_above = swapped == "2020" or not manifest.startswith(swapped.removeprefix("2020/"))
    assert found["manifest"] == (secret if is_above else {})
    monkeypatch.undo()
    assert seen(location, ready={"manifest": manifest})["2020"]["kind"] == "LINK"


def test_a_file_that_is_another_one_after_the_look_is_not_read(
    location: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(location, "2020", "m.json", content='{"files": []}')

    def swap(folder_: dict[str, Any], terms: Any, **readers: Any) -> dict[str, Any]:
        times = (folder / "m.json").stat()
        (folder / "m.json").rename(location / "aside")
        (folder / "m.json").write_text('{"files": []}')  # as many bytes, with the same time
        os.utime(folder / "m.json", ns=(times.st_atime_ns, times.st_mtime_ns))
        return with_manifest(folder_, terms, **readers)

    monkeypatch.setattr(folders, "with_manifest", swap)
    assert seen(location, ready={"manifest": "m.json"})["2020"]["manifest"] == {}


def test_another_name_of_a_file_counts_where_its_owner_is_that_of_the_folder(
    location: Path, tmp_path: Path
) -> None:
    (tmp_path / "own").write_text("x")
    folder = write(location, "2020", "customer.csv")
    (folder / "same.csv").hardlink_to(tmp_path / "own")
    assert "problem" not in seen(location)["2020"]
    status = (folder / "same.csv").stat()
    assert not beneath.is_borrowed(status, status.st_uid)
    assert beneath.is_borrowed(status, status.st_uid + 1)
    assert not beneath.is_borrowed((folder / "customer.csv").stat(), status.st_uid + 1)


def test_no_folder_is_moved_through_a_link(location: Path, tmp_path: Path) -> None:
    write(location, "2020", "customer.csv")
    (tmp_path / "other").mkdir()
    (location / "done").symlink_to(tmp_path / "other")
    there = LocalFolders(str(location), TERMS)
    with pytest.raises(OSError, match="done is a symbolic link"):
        there.move("2020", "done/2020")
    assert there.move("2020", "then/there/2020")
    assert (location / "then" / "there" / "2020" / "customer.csv").is_file()
    assert not there.move("then", "then/there/2020")


@pytest.mark.parametrize("path", ["", "/etc/passwd", "..", "a/../b", "./a", "a//b", "a/"])
def test_a_path_that_leads_out_of_a_folder_opens_nothing(location: Path, path: str) -> None:
    (location / "a").mkdir()
    folder = beneath.folder_at(location)
    with pytest.raises(OSError, match="no path below"), beneath.file_in(folder, path):
        pass
    os.close(folder)


def test_what_is_neither_a_file_nor_a_folder_is_said(location: Path) -> None:
    write(location, "good", "customer.csv")
    os.mkfifo(write(location, "bad", "customer.csv") / "orders.csv")
    os.mkfifo(location / "fifo")
    assert seen(location)["bad"]["problem"].endswith("orders.csv is neither a file nor a folder")
    assert seen(location)["fifo"]["kind"] == "FILE"
    assert "problem" not in seen(location)["good"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_stops_no_other(location: Path) -> None:
    write(location, "good", "customer.csv")
    closed = write(location, "closed", "customer.csv")
    closed.chmod(0)
    try:
        assert "can't be read" in seen(location)["closed"]["problem"]
    finally:
        closed.chmod(stat.S_IRWXU)


def test_names_that_are_no_text_are_seen_and_unfit(location: Path) -> None:
    raw = os.fsencode(location) + b"/\xff2020"
    Path(os.fsdecode(raw)).mkdir()
    write(location, "x\n'%s{yyyy}", 'a";--.csv')
    found = seen(location)
    assert found["\\udcff2020"]["problem"] == "its name is no UTF-8"
    assert [f["path"] for f in found["x\n'%s{yyyy}"]["files"]].count('a";--.csv') == 1
    assert printable("a\0b\udcff") == "a\\0b\\udcff"


def test_a_location_that_can_not_be_read_is_an_error(location: Path) -> None:
    (location / "file").touch()
    for wrong in ("gone", "file"):
        with pytest.raises(OSError):  # noqa: PT011 - it is of the system
            seen(location / wrong)


def test_a_manifest_is_read_and_its_hashes_are_computed_once(location: Path) -> None:
    folder = write(location, "a", "customer.csv")
    (folder / "_SUCCESS").unlink()
    right = hashlib.sha256(b"nbr\n1\n").hexdigest()

    def listed(manifest: Any, **terms: Any) -> dict[str, Any]:
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        (folder / "m.json").write_text(text)
        return seen(location, ready={"manifest": "m.json"}, **terms)["a"]

    def of(**entry: Any) -> dict[str, Any]:
        return {"files": [{"path": "customer.csv", "bytes": 6, "sha256": right, **entry}]}

    def hashes(folder: dict[str, Any]) -> list[str]:
        return [f["sha256"] for f in folder["files"] if "sha256" in f]

    assert hashes(listed(of())) == [right]
    assert listed(of())["manifest"] == of()
    assert hashes(listed(of(bytes=5))) == hashes(listed(of(path="x"))) == []
    assert hashes(listed(of(), known=["a"])) == []
    for wrong in ("", "{", "[]", '{"files": [1]}', '{"files": [{"path": 1}]}', "[" * 100_000):
        assert listed(wrong)["manifest"] == {}
    assert listed(of(path="a\u0000b"))["manifest"]["files"][0]["path"] == "a\\0b"


def test_which_locations_are_of_this_machine() -> None:
    assert [
        local_path(x) for x in ("/a", "file:/a", "file:///a", "file://host/a", "s3a://b/a")
    ] == [
        "/a",
        "/a",
        "/a",
        "/a",
        None,
    ]


# Looks ------------------------------------------------------------------------------------------


@pytest.fixture
def control(dsn: str) -> Iterator[omd.Control]:
    with omd.connect(dsn, lease=None) as control:
        yield control


@pytest.fixture
def drop(shop: Shop, location: Path) -> Drop:
    shop.deploy()
    drop = Drop(shop)
    drop.agree(location=str(location))
    return drop


def test_a_look_reports_what_is_there(drop: Drop, location: Path, control: omd.Control) -> None:
    write(location, "2020-01-01", "customer.csv")
    write(location, "2020-01-02", "customer.csv")
    (location / "2020-01-02" / "_SUCCESS").unlink()
    (location / "2020-01-03").symlink_to("2020-01-01")
    (location / ".hidden").touch()
    assert arrivals.due(control) == ["a"]
    assert arrivals.look(control, "a") == 1
    assert drop.states() == {
        "2020-01-01": "FOUND",
        "2020-01-02": "INCOMPLETE",
        "2020-01-03": "UNFIT",
    }
    drop.agree(location=str(location), every="1 hour")
    assert arrivals.look(control, "a") is None
    assert arrivals.due(control) == []
    (location / "2020-01-02" / "_SUCCESS").touch()
    assert arrivals.look_now(control, "a") == 1
    drop.shop.agree("b")
    assert arrivals.look(control, "b") is None
    with pytest.raises(CallerError, match="nothing arrives"):
        arrivals.look_now(control, "b")


def test_a_location_that_is_gone_is_reported(
    drop: Drop, location: Path, control: omd.Control
) -> None:
    write(location, "2020-01-01", "customer.csv")
    arrivals.look(control, "a")
    location.rename(location.with_name("elsewhere"))
    assert arrivals.look(control, "a") == 0
    problem = drop.shop.one("SELECT problem FROM omd_report.arrival_locations")
    assert problem == f"{location}: No such file or directory"
    assert drop.states() == {"2020-01-01": "FOUND"}
    location.with_name("elsewhere").rename(location)
    arrivals.look(control, "a")
    assert drop.shop.one("SELECT problem FROM omd_report.arrival_locations") is None
