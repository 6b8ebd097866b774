"""A small model of contexts in plain Python, against which random loads are compared.

A context is a dictionary of chains: per key a list of versions [start, end, indicator, values].
"""

from __future__ import annotations

from typing import Any

Version = list[Any]


class Context:
    """The chains of one context."""

    def __init__(self, kind: str = "standard") -> None:
        self.kind = kind
        self.chains: dict[Any, list[Version]] = {}

    def apply(self, key: Any, at: int, indicator: str, values: tuple[Any, ...]) -> bool:
        """Apply a row of a delta; return whether it wrote a version."""
        chain = self.chains.setdefault(key, [])
        last = chain[-1] if chain else None
        is_empty = last is None or last[2] == "R"
        given = any(v is not None for v in values)
        if self.kind == "immutable" and last:
            return False
        if indicator == "R":
            if last is None or is_empty:
                return False
            new = [at, None, "R", last[3]]
        elif last and not is_empty:
            if last[3] == values:
                return False
            new = [at, None, "A", values]
        elif not last and self.kind in ("immutable", "alternate_key") and not given:
            return False
        else:
            new = [at, None, "N", values]
        if last:
            last[1] = at
        chain.append(new)
        return True

    def write(self, key: Any, at: Any, values: tuple[Any, ...]) -> bool:
        """Write a row through a view; return whether it wrote a version.

        Writes of one transaction, which have the same time, become one.
        """
        chain = self.chains.setdefault(key, [])
        last = chain[-1] if chain else None
        if self.kind == "immutable" and last:
            return False
        if last is None or last[0] != at:
            return self.apply(key, at, "A", values)
        if last[2] != "R" and last[3] == values:
            return False
        is_new = len(chain) == 1 or chain[-2][2] == "R"
        last[2:] = ["N" if is_new else "A", values]
        return True

    def remove(self, key: Any, at: Any) -> None:
        """Delete a row through a view."""
        chain = self.chains.get(key)
        if chain and chain[-1][0] == at:
            chain[-1][2] = "R"
        else:
            self.apply(key, at, "R", ())

    def version(self, key: Any, at: Any = None) -> Version | None:
        """Return the version as of a moment, or the open one."""
        for version in self.chains.get(key, []):
            start, end = version[:2]
            if end is None if at is None else start <= at and (end is None or end > at):
                return version
        return None

    def current(self, key: Any) -> tuple[Any, ...] | None:
        """Return the values of the open row; None: it is deleted, or there is none."""
        version = self.version(key)
        return None if version is None or version[2] == "R" else version[3]

    def rows(self) -> set[tuple[Any, ...]]:
        return {
            (key, start, end, indicator, *values)
            for key, chain in self.chains.items()
            for start, end, indicator, values in chain
        }


class Anchor:
    """Existence and dates per key."""

    def __init__(self) -> None:
        self.keys: dict[Any, dict[str, Any]] = {}

    def know(self, key: Any) -> dict[str, Any]:
        return self.keys.setdefault(key, {"exists": 0, "latest": None, "created": None})

    def apply(self, key: Any, at: int, indicator: str, wrote: bool) -> None:
        if not wrote:
            return
        row = self.know(key)
        row["latest"] = at
        if indicator == "R":
            row["exists"] = 0
        elif not row["exists"]:
            row.update(exists=1, created=at)

    def rows(self) -> set[tuple[Any, ...]]:
        return {(k, r["exists"], r["latest"], r["created"]) for k, r in self.keys.items()}
