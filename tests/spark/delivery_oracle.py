"""Stage 2 and the delta in plain Python, as docs/explanation/delivery.md describes them.

It goes through all rows again and again, and looks nothing up; what Spark does is compared with it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
Key = tuple[Any, ...]


@dataclass
class Entity:
    """What the model says of an entity.

    Attributes:
        key: the primary key.
        parents: relationship: the parent, the columns, and whether it filters.
        children: the constraints child_exists: (child, relationship).
        unique: alternate keys: their attributes.
        rules: set rules: functions of the state by entity that return keys.
    """

    key: list[str]
    attributes: list[str]
    parents: dict[str, tuple[str, list[str], bool]] = field(default_factory=dict)
    children: list[tuple[str, str]] = field(default_factory=list)
    unique: dict[str, list[str]] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)

    def key_of(self, row: Row) -> Key:
        return tuple(row[name] for name in self.key)


@dataclass
class Delivered:
    """A delivered row after stage 1."""

    row: Row
    is_delete: bool = False
    is_skipped: bool = False


@dataclass
class Sent:
    """What is delivered of an entity."""

    load: str
    rows: list[Delivered]
    unreadable: int = 0
    context: str | None = None


@dataclass
class Outcome:
    counts: Counter[str] = field(default_factory=Counter)
    existing: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    findings: dict[str, dict[str, int]] = field(default_factory=dict)
    deletes: dict[str, int] = field(default_factory=dict)
    scope: dict[str, int] = field(default_factory=dict)
    delta: dict[str, dict[Key, tuple[str, Row | None]]] = field(default_factory=dict)


class Judge:
    """One delivery: ``current`` are the current rows by entity and key."""

    def __init__(
        self,
        model: dict[str, Entity],
        current: dict[str, dict[Key, Row]],
        sent: dict[str, Sent],
        actions: dict[str, str],
        named: dict[str, list[Row]] | None = None,
        include_existing: bool = True,
    ) -> None:
        self.model = model
        self.current = current
        self.sent = sent
        self.actions = actions
        self.named = {
            name: {model[name].key_of(key) for key in keys} for name, keys in (named or {}).items()
        }
        self.include_existing = include_existing
        self.outcome = Outcome()
        self.contexts: dict[str, set[Key] | None] = {}
        self.delivered: dict[str, dict[Key, list[Delivered]]] = {}
        self.violated: set[tuple[str, str, Key]] = set()
        self.ups: dict[str, dict[Key, Row]] = {}
        self.gone: dict[str, set[Key]] = {}

    def judge(self) -> Outcome:
        for name, sent in self.sent.items():
            rows: dict[Key, list[Delivered]] = {}
            for delivered in sent.rows:
                rows.setdefault(self.model[name].key_of(delivered.row), []).append(delivered)
            for same in rows.values():
                if len(same) > 1:
                    for delivered in same:
                        delivered.is_skipped = True
            self.delivered[name] = rows
            self.ups[name] = {
                key: dict(same[0].row)
                for key, same in rows.items()
                if not same[0].is_skipped and not same[0].is_delete
            }
        for name in self.sent:
            self._context(name)
        for name in self.sent:
            self._deletes(name)
        self._outside()
        while self._round():
            pass
        self._existing()
        for name in self.sent:
            self._delta(name)
        for _name, code, _key in self.violated:
            self.outcome.counts[code] += 1
        return self.outcome

    # Contexts

    def _is_limited(self, name: str) -> bool:
        return self.sent[name].load == "FULL" and self.contexts[name] is not None

    def _filters(self, name: str) -> dict[str, tuple[list[str], set[Key] | None]]:
        """Return the active relationships: their columns, and the keys of parents in context."""
        sent, entity = self.sent[name], self.model[name]
        found: dict[str, tuple[list[str], set[Key] | None]] = {}
        for relationship, (parent, columns, is_filter) in entity.parents.items():
            if not is_filter or sent.load != "FULL":
                continue
            is_there = parent in self.sent and sent.context != "ALL"
            if parent in self.named or is_there or sent.context == "ROWS":
                if parent in self.contexts:
                    keys = self.contexts[parent]
                elif parent in self.named:
                    keys = self.named[parent]
                else:
                    keys = {
                        tuple(d.row[c] for c in columns)
                        for same in self.delivered[name].values()
                        for d in same
                        if None not in [d.row[c] for c in columns]
                    }
                if keys is not None:
                    found[relationship] = (columns, keys)
        return found

    def _inside(self, name: str, row: Row) -> bool:
        for columns, keys in self._filters(name).values():
            if keys is not None and tuple(row[c] for c in columns) not in keys:
                return False
        return name not in self.named or self.model[name].key_of(row) in self.named[name]

    def _fits(self, name: str, key: Key, delivered: Delivered) -> bool:
        """Return whether a delivered row is within what limits its entity."""
        entity, row = self.model[name], delivered.row
        if delivered.is_delete:
            unknown = {**dict.fromkeys(entity.attributes), **row}
            row = self.current[name].get(
                key, {n: unknown[n] if n in entity.key else None for n in unknown}
            )
        if self.sent[name].load == "FULL":
            return self._inside(name, row)
        return (name not in self.named or key in self.named[name]) and all(
            tuple(row[c] for c in columns) in self.named[parent]
            for parent, columns, is_filter in entity.parents.values()
            if is_filter and parent in self.named
        )

    def _context(self, name: str) -> None:
        """Parents come first in `sent`."""
        if self.sent[name].load == "DELTA":
            self.contexts[name] = {
                key
                for key, same in self.delivered[name].items()
                if any(self._fits(name, key, delivered) for delivered in same)
            }
        elif not self._filters(name) and name not in self.named:
            self.contexts[name] = None
        else:
            rows = [d.row for same in self.delivered[name].values() for d in same]
            rows += self.current[name].values()
            self.contexts[name] = {
                self.model[name].key_of(row) for row in rows if self._inside(name, row)
            }

    def _deletes(self, name: str) -> None:
        sent = self.sent[name]
        findings = self.outcome.findings.setdefault(name, {})
        if sent.load == "DELTA":
            marked = [
                (k, s[0])
                for k, s in self.delivered[name].items()
                if s[0].is_delete and not s[0].is_skipped
            ]
            self.gone[name] = {k for k, _ in marked if k in self.current[name]}
            unknown = sum(k not in self.current[name] for k, _ in marked)
            if unknown:
                findings["DELETE_OF_UNKNOWN_KEY"] = unknown
            return
        scope = {k for k, row in self.current[name].items() if self._inside(name, row)}
        missing = scope - set(self.delivered[name])
        if sent.unreadable:
            findings["DELETES_SUPPRESSED"] = len(missing)
            missing = set()
        self.outcome.scope[name] = len(scope)
        self.outcome.deletes[name] = len(missing)
        self.gone[name] = missing

    def _outside(self) -> None:
        """Find what is outside of the context; it is fixed before the rounds."""
        self.outside: set[tuple[str, Key]] = set()
        for name in self.sent:
            for key, same in self.delivered[name].items():
                is_inside = self._fits(name, key, same[0])
                if not is_inside and not same[0].is_skipped:
                    self.outside.add((name, key))

    # What is there afterwards

    def _stays(self, name: str) -> dict[Key, Row]:
        """Return the current rows that LVL keeps."""
        ups, gone = self.ups.get(name, {}), self.gone.get(name, set())
        return {k: r for k, r in self.current[name].items() if k not in ups and k not in gone}

    def _after(self, name: str) -> dict[Key, Row]:
        stays = self._stays(name)
        if not self.include_existing:
            stays = {k: r for k, r in stays.items() if k not in self.delivered.get(name, {})}
        return {**stays, **self.ups.get(name, {})}

    def _visible(self, name: str) -> dict[Key, Row]:
        after = self._after(name)
        if name in self.sent and self._is_limited(name):
            context = self.contexts[name] or set()
            return {k: r for k, r in after.items() if k in context}
        return after

    # Rounds

    def _violations(self) -> set[tuple[str, str, Key]]:
        found = set()
        for name in self.sent:
            entity, ups = self.model[name], self.ups[name]
            for relationship, (parent, columns, _) in entity.parents.items():
                parents = self._after(parent)
                for key, row in ups.items():
                    fk = tuple(row[c] for c in columns)
                    if None not in fk and fk not in parents:
                        found.add((name, f"{name}.{relationship}", key))
            for child, relationship in entity.children:
                columns = self.model[child].parents[relationship][1]
                named = {tuple(r[c] for c in columns) for r in self._visible(child).values()}
                for key in ups:
                    if key not in named:
                        found.add((name, f"{name}.{child}.{relationship}", key))
            for unique, columns in entity.unique.items():
                rows = {**self._stays(name), **ups}
                times = Counter(tuple(r[c] for c in columns) for r in rows.values())
                for key, row in ups.items():
                    value = tuple(row[c] for c in columns)
                    if None not in value and times[value] > 1:
                        found.add((name, f"{name}.{unique}", key))
            for rule, answer in entity.rules.items():
                keys = answer({n: list(self._visible(n).values()) for n in self.model})
                found |= {(name, f"{name}.{rule}", key) for key in keys if key in ups}
        return found

    def _round(self) -> bool:
        first = not self.violated
        found = self._violations() - self.violated
        if self.outside and first:
            found |= {
                (name, f"{name}.context", key)
                for name, key in self.outside
                if f"{name}.context" in self.actions
            }
            self.outside = set()
        self.violated |= found
        for name, code, key in found:
            action = self.actions[code]
            entity = self.model[name]
            if action == "SKIP ROW":
                was_there = self.ups[name].pop(key, None) is not None
                self.gone[name].discard(key) if not was_there else None
            elif action == "EMPTY COLUMN" and key in self.ups[name]:
                rule = code.split(".")[1]
                columns = entity.parents[rule][1] if rule in entity.parents else entity.unique[rule]
                for column in columns:
                    self.ups[name][key][column] = None
        return bool(found)

    # The end

    def _existing(self) -> None:
        for name, entity in self.model.items():
            stays = self._stays(name)
            for relationship, (parent, columns, _) in entity.parents.items():
                gone = self.gone.get(parent, set())
                if name in self.sent or parent in self.sent:
                    self.outcome.existing[f"{name}.{relationship}"] = sum(
                        tuple(r[c] for c in columns) in gone for r in stays.values()
                    )
            for child, relationship in entity.children:
                columns = self.model[child].parents[relationship][1]
                before = {tuple(r[c] for c in columns) for r in self.current[child].values()}
                rows = {**self._stays(child), **self.ups.get(child, {})}
                left = {tuple(r[c] for c in columns) for r in rows.values()}
                if name in self.sent or child in self.sent:
                    self.outcome.existing[f"{name}.{child}.{relationship}"] = sum(
                        key in before and key not in left for key in stays
                    )

    def _delta(self, name: str) -> None:
        current = self.current[name]
        delta: dict[Key, tuple[str, Row | None]] = dict.fromkeys(self.gone[name], ("R", None))
        for key, row in self.ups[name].items():
            if key not in current:
                delta[key] = ("N", row)
            elif current[key] != row:
                delta[key] = ("A", row)
        self.outcome.delta[name] = delta
        before = sum(d.is_skipped for s in self.delivered[name].values() for d in s)
        here = {
            key for n, code, key in self.violated if n == name and self.actions[code] == "SKIP ROW"
        }
        self.outcome.skipped[name] = before + len(here) + self.sent[name].unreadable
