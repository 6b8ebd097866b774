"""The version of this package."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("pgomd")
except PackageNotFoundError:  # the package is on the path, but not installed
    __version__ = "0+unknown"
