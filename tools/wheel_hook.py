"""What the build does to the wheel: it packs the files of the routines into one archive.

There is one routine a file, so about 1,500 small files. As files of the wheel they are compressed
one by one, and each has three entries in its lists: 1.5 MB of 3.1. In one archive, which the wheel
compresses as a whole, they are 0.7 MB. `omd.programs.install.manifest` reads them there. What psql
needs of them prints ``omd install --script``; the sdist has all files.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ARCHIVE = "procedures.zip"


def pack(root: Path, archive: Path) -> None:
    """Write the files of the routines into an archive, always the same for the same files."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        for file in sorted((root / "procedures").rglob("*.sql")):
            entry = zipfile.ZipInfo(file.relative_to(root).as_posix())
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            packed.writestr(entry, file.read_bytes())


class PgomdWheelHook(BuildHookInterface):  # type: ignore[type-arg, unused-ignore]
    """Hatchling calls it before it builds a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the archive; in editable mode the checkout has the files."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        archive = Path(self._folder.name) / ARCHIVE
        pack(Path(self.root), archive)
        archive.chmod(0o644)
        build_data["force_include"][str(archive)] = f"omd/_sql/{ARCHIVE}"

    def finalize(self, version: str, *_: Any) -> None:
        """Remove what initialize made."""
        if version != "editable":
            self._folder.cleanup()
