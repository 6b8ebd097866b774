"""What the build adds to the metadata of the package: absolute links, all made from one address.

README has relative links, which work in a clone, on a Git host and in the site. An index of
packages shows it beside none of these files, so there each link leads to the file as it was at the
release.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, where hatchling brings it
    import tomli as tomllib  # type: ignore[import-not-found, no-redef, unused-ignore]

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ModuleNotFoundError:  # tools/release.py and tests call the functions only
    MetadataHookInterface = object  # type: ignore[assignment, misc, unused-ignore]

# A link or a picture of Markdown, unless it is absolute already.
LINK = re.compile(r"(!?)(\[[^\]]*\]\()(?![a-z][a-z0-9+.-]*:)([^)\s]+)(?=[)\s])")
# An attribute of HTML in it.
ATTRIBUTE = re.compile(r"(\b(?:src|href)=\")(?![a-z][a-z0-9+.-]*:)([^\"]+)(?=\")")
FENCE = re.compile(r"^(```.*?^```\s*?$)", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"\.(?:gif|jpe?g|png|svg|webp)$")


def home(root: Path) -> str:
    """Return the address of the repository: ``[tool.pgomd] home``."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["tool"]["pgomd"]["home"]).rstrip("/")


def urls(address: str, version: str) -> dict[str, str]:
    """Return the addresses of the project, as they are at a release."""
    page = f"{address}/blob/v{version}"
    return {
        "Homepage": address,
        "Documentation": f"{page}/docs/index.md",
        "Changelog": f"{page}/CHANGELOG.md",
        "Security": f"{page}/SECURITY.md",
        "Source": f"{address}/tree/v{version}",
    }


def absolute(text: str, address: str, version: str) -> str:
    """Return a document of the root with absolute links; what stands in code is left alone."""

    def lead(target: str) -> str:
        if target.startswith("#"):
            target = f"README.md{target}"
        kind = "raw" if PICTURE.search(target.partition("#")[0]) else "blob"
        return f"{address}/{kind}/v{version}/{target.removeprefix('./')}"

    parts = FENCE.split(text)
    for number in range(0, len(parts), 2):  # those between are code
        part = LINK.sub(lambda m: f"{m[1]}{m[2]}{lead(m[3])}", parts[number])
        parts[number] = ATTRIBUTE.sub(lambda m: m[1] + lead(m[2]), part)
    return "".join(parts)


class PgomdMetadataHook(MetadataHookInterface):
    """Hatchling calls it when it makes the metadata."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses, and README with absolute links."""
        root = Path(self.root)
        release = (root / "sql/setup/release.psql").read_text(encoding="utf-8")
        match = re.search(r"(?m)^\\set version '([^']+)'$", release)
        if match is None:
            raise ValueError("sql/setup/release.psql tells no version.")
        address, version = home(root), match[1]
        metadata["urls"] = urls(address, version)
        readme = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(readme, address, version),
        }
