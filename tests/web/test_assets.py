"""What a browser loads: the files of others as they were taken, and small."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import omd.programs.web.assets
from omd.programs.web.assets import assets, by_path

FOLDER = Path(omd.programs.web.assets.__file__).with_name("assets")

# Of the npm package htmx.org 4.0.1: dist/htmx.min.js, dist/ext/hx-sse.min.js, LICENSE.
TAKEN = {
    "htmx.js": "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
    "hx-sse.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
    "LICENSE.htmx": "d3d2456f76414f2456104660ebd65aff1c04cd7966b942bdabd63f3cdb316a38",
}


def test_the_files_of_others_are_unchanged() -> None:
    found = {name: hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() for name in TAKEN}
    assert found == TAKEN
    assert (FOLDER / "LICENSE.htmx").read_text().startswith("Zero-Clause BSD")


def test_the_name_of_a_file_holds_its_hash() -> None:
    assert {"htmx.js", "hx-sse.js", "page.css"} <= assets().keys()
    for asset in by_path().values():
        assert hashlib.sha256(asset.content).hexdigest()[:16] in asset.path


def test_all_files_together_are_small() -> None:
    assert sum(len(gzip.compress(asset.content)) for asset in assets().values()) < 60_000


def test_our_scripts_evaluate_nothing() -> None:
    for name in assets().keys() - TAKEN.keys():
        text = assets()[name].content.decode()
        assert "eval(" not in text, name
        assert "new Function" not in text, name
        assert "innerHTML" not in text, name
