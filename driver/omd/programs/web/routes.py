"""Which screen a path shows, and how a key gets into a path and out of it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlencode

# The path of each screen, and its module in omd.programs.web.screens. Of two that fit, the first
# one counts.
SCREENS = {
    "/": "now",
    "/todo": "todo",
    "/work": "work",
    "/queue": "queue",
    "/task/{id}": "task",
    "/deliveries": "deliveries",
    "/delivery/{id}": "delivery",
    "/facts/{interface}/{entity}": "facts",
    "/stage/{code}": "stage",
    "/decisions/{run}": "decisions",
    "/recall/{id}": "recall",
    "/lake": "lake",
    "/log": "log",
    "/find": "find",
    "/grid": "grid",
    "/module/{code}": "module",
    "/batch/{code}": "batch",
    "/run/module/{id}": "module_run",
    "/run/batch/{id}": "batch_run",
    "/graph": "graph",
}


# What is no screen: the path, and module and function in omd.web that answer it; each is
# async def answer(call: Call) -> Response, with Call of omd.programs.web.site.
HANDLERS = {
    "/live": "live:answer",
    "/login": "login:answer",
    "/logout": "login:leave",
    "/do/{action_code}/{key}": "dialog_page:answer",
    "/doing/{number}": "doing_page:answer",
    "/bulk/{action_code}": "bulk_page:answer",
}


def pieces_of(raw_path: bytes) -> list[str]:
    """Return the parts of a path as it was sent; a part may hold a slash, written as %2F.

    Raises:
        UnicodeDecodeError: a part is no UTF-8.
    """
    path = raw_path.partition(b"?")[0].decode("ascii", "surrogateescape")
    return [unquote(part, errors="strict") for part in path.split("/")[1:]]


def matched(
    pattern: str, pieces: list[str], query: Mapping[str, str] | None = None
) -> dict[str, str] | None:
    """Return the variable parts of a path that fits a pattern; None: it does not fit.

    The last part takes what is left, so a slash that a proxy has decoded is a part of the key. A
    key that a path can't hold, since browsers remove it, is a parameter of the same name.
    """
    names = pattern.split("/")[1:]
    if len(pieces) < len(names) or (len(pieces) > len(names) and not names[-1].startswith("{")):
        return None
    given = [*pieces[: len(names) - 1], "/".join(pieces[len(names) - 1 :])]
    keys = {}
    for name, piece in zip(names, given, strict=True):
        if name.startswith("{"):
            key = name[1:-1]
            value = piece or (query or {}).get(key, "")
            if not value:
                return None
            keys[key] = value
        elif name != piece:
            return None
    return keys


def screen_of(pieces: list[str], query: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """Return the module of the screen that a path shows, with the variable parts of the path."""
    for pattern, name in SCREENS.items():
        keys = matched(pattern, pieces, query)
        if keys is not None:
            return name, keys
    return None


def quoted(key: object) -> str:
    """Return a key as a part of a path."""
    return "".join(
        c if c.isascii() and (c.isalnum() or c in "-._~") else
        "".join(f"%{byte:02X}" for byte in c.encode("utf-8", "replace"))
        for c in str(key)
    )  # fmt: skip


def filled(pattern: str, values: Mapping[str, object], **query: object) -> str:
    """Return the path of a pattern with its keys, without the prefix of the page."""
    parts, given = [], {k: str(v) for k, v in query.items() if v is not None}
    for name in pattern.split("/")[1:]:
        if not name.startswith("{"):
            parts.append(name)
            continue
        key = name[1:-1]
        if str(values[key]) in (".", ".."):
            given[key] = str(values[key])
            parts.append("")
        else:
            parts.append(quoted(values[key]))
    path = "/" + "/".join(parts)
    return f"{path}?{urlencode(given)}" if given else path
