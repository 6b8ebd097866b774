"""The version of this package, from the file in which it stands for psql too."""

import re
from pathlib import Path

__all__ = ["__version__"]

_PACKAGE = Path(__file__).resolve().parents[1]
_RELEASE = "sql/setup/release.psql"


def _read() -> str:
    # The wheel has the SQL in the package, a checkout beside it. The metadata of an installation in
    # editable mode would go on to tell the version that was installed.
    for root in (_PACKAGE / "_sql", _PACKAGE.parents[1]):
        if (root / _RELEASE).is_file():
            text = (root / _RELEASE).read_text(encoding="utf-8")
            if match := re.search(r"(?m)^\\set version '(.+)'$", text):
                return match[1]
    return "0+unknown"  # parts of the package are missing


__version__ = _read()
