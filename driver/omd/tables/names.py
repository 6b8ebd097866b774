"""Where the files of a lake table lie."""

from __future__ import annotations

import re
import uuid
from urllib.parse import unquote

WRITE = re.compile(r"(?<![^/])data/omd/\d+/\d+(?=/)")
"""In the path of a file: the folder of one write of a run, below that of its table."""


def folder_of(location: str, module_instance_id: int, write_number: int) -> str:
    """Return the folder into which one write of a run puts its files."""
    return f"{location}/data/omd/{module_instance_id}/{write_number}"


def location_of(folder: str) -> str:
    """Return where the table lies that a folder of a write belongs to."""
    return folder.rpartition("/data/omd/")[0]


def metadata_file(location: str, name: str) -> str:
    """Return the path of a new file of metadata; ``{}`` in its name becomes something unique."""
    return f"{location}/metadata/{name.format(uuid.uuid4())}"


def version_of(file: str) -> int:
    """Return the number of a version of the metadata, from the name of its file."""
    number = file.rpartition("/")[2].partition("-")[0]
    return int(number) if number.isdigit() else 0


def below(folder: str, uris: list[str]) -> list[str]:
    """Return the paths of files that Spark has listed in a folder.

    Spark lists URIs, of a scheme of its own choice and with escaped characters. The table names its
    files as its location is written, so only what follows the folder is taken over.
    """
    mark = folder[folder.rindex("/data/omd/") :] + "/"
    return [folder + "/" + unquote(uri).rpartition(mark)[2] for uri in uris]
