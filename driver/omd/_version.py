"""The version of this package."""

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("omd")
except PackageNotFoundError:  # run from a folder on the path, not installed
    __version__ = "0+unknown"
