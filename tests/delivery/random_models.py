"""Random models: each construct of a model document, in any combination that may be deployed.

It knows nothing of contracts, nor of how a model is exported.
"""

from __future__ import annotations

import random
from typing import Any

TYPES = [
    *("boolean", "smallint", "integer", "bigint", "double precision", "text", "date"),
    *("timestamp", "timestamptz"),
]
WORDS = ["select", "order", "table", "user", "a", "b", "from", "key", "null", "between", "x_1"]
# What a text may be, where a model takes any.
HOSTILE = [
    *("'", '"', "\\", "\n", "# no comment", "{a: 1}", "- a", "? b", ": ", "&a", "*a", "!!str 1"),
    *("%TAG", "@", "`", "null", "~", "NO", "0x10", "012", "1e3", "2013-01-01", "  blanks  ", "\t"),
    *("\u2028", "\x85", "\ufeff", "ä€𝄞", "<<", "=", "'' ; DROP TABLE x; --", "${HOME}", "{{ x }}"),
]


class RandomModel:
    """A model document that chance has made."""

    def __init__(self, chance: random.Random, interface: str) -> None:
        self.chance = chance
        self.settings: dict[str, Any] = {}
        self.children: dict[str, list[tuple[str, str]]] = {}
        self.document: dict[str, Any] = {"interface": interface, "entities": []}
        for number in range(chance.randint(1, 4)):
            self.document["entities"].append(self.entity(number))
        if self.is_likely(0.3):
            self.document["facts"] = self.anything()
        for entity in self.document["entities"]:
            self.set_all(entity)
        if self.settings:
            self.document["settings"] = self.settings

    def is_likely(self, share: float = 0.5) -> bool:
        return self.chance.random() < share

    def text(self) -> str:
        parts = [self.chance.choice([*HOSTILE, "abc", "Some words"]) for _ in range(3)]
        return "x" + "".join(parts)

    def anything(self, depth: int = 0) -> dict[str, Any]:
        """An object of any values, as facts may be."""
        values: list[Any] = [
            *(None, True, False, 0, -1, 10**30, 0.1, -2.5e-7, 1e300, self.text(), [], {}),
            *([1, [None, {"a": []}]], {"vendor": "pgomd", "property": "facts", "value": None}),
        ]
        names = ["key", "value", self.text(), "1", "true", ""]
        found = {self.chance.choice(names): self.chance.choice(values) for _ in range(3)}
        if depth < 3 and self.is_likely(0.4):
            found["deep"] = self.anything(depth + 1)
        return found

    def type(self) -> str:
        kind = self.chance.choice([*TYPES, "numeric", "text(n)"])
        if kind == "numeric":
            precision = self.chance.choice([1, 5, 18, 38])
            return f"numeric({precision},{self.chance.choice([0, 1, precision])})"
        return f"text({self.chance.choice([1, 2, 80, 10485760])})" if kind == "text(n)" else kind

    def values(self, data_type: str) -> list[Any]:
        """Different values of a type."""
        kind = data_type.partition("(")[0]
        if kind == "text":
            return [*{("a" if "(1)" in data_type else self.text()[:2]) for _ in range(3)}]
        choices: dict[str, list[Any]] = {
            "boolean": [True, False],
            "smallint": [-32768, "7", 0],
            "integer": [1, "-2", 2147483647],
            "bigint": [9223372036854775807, "0", -1],
            "numeric": [
                0,
                "0",
                1
                if data_type != "numeric(1,1)"
                and ",38)" not in data_type
                and "(5,5)" not in data_type
                and "(18,18)" not in data_type
                else 0,
            ],
            "double precision": [1, 2.5, "1e3", -0.001],
            "date": ["2026-02-28", "0001-01-01", "9999-12-31"],
            "timestamp": ["2026-01-01 00:00:00", "2026-01-01T12:30:00.5"],
            "timestamptz": ["2026-01-01 00:00:00Z", "2026-01-01 00:00:00+05:30"],
        }
        return self.chance.sample(choices[kind], self.chance.randint(1, len(choices[kind])))

    def entity(self, number: int) -> dict[str, Any]:
        chance = self.chance
        name = f"{chance.choice(WORDS)}{number}" if self.is_likely() else f"e{number}" + "_" * 37
        entity: dict[str, Any] = {"name": name}
        count = chance.randint(1, 6)
        names = [
            chance.choice([w, f"{w}_{n}", f"{w}{n}" + "z" * 30])
            for n, w in enumerate(chance.sample(WORDS, count))
        ]
        attributes = [self.attribute(attribute) for attribute in names]
        key = chance.sample(names, chance.randint(1, min(3, len(names))))
        for attribute in attributes:
            if attribute["name"] in key:
                attribute.pop("retired", None)
        entity |= {"key": key, "attributes": attributes}
        live = [a["name"] for a in attributes if not a.get("retired")]
        rules: set[str] = set()
        self.add_alternate_keys(entity, live, rules)
        self.add_relationships(entity, live, rules)
        self.add_constraints(entity, live, rules)
        if self.is_likely(0.3):
            entity["indicator"] = chance.choice(
                [{"column": "Deleted ?"}, {"delete": self.text()}, {"column": "i", "delete": "X"}]
            )
        former = [e["name"] for e in self.document["entities"] if "derived" not in e]
        if former and self.is_likely(0.3):
            entity["derived"] = {
                "from": chance.sample(former, chance.randint(1, len(former))),
                "query": f"SELECT 1 {self.text()}",
            }
        if self.is_likely(0.2):
            entity["retired"] = True
        if self.is_likely(0.3):
            entity["facts"] = self.anything()
        return entity

    def attribute(self, name: str) -> dict[str, Any]:
        data_type = self.type()
        attribute: dict[str, Any] = {"name": name, "type": data_type}
        if self.is_likely(0.3):
            attribute["mandatory"] = True
        if self.is_likely(0.4):
            attribute["values"] = self.values(data_type)
        if self.is_likely(0.3):
            attribute["source"] = self.text()[:20]
        elif self.is_likely(0.3):
            attribute["computed"] = self.text()
        if data_type.startswith(("date", "time")) and self.is_likely():
            attribute["format"] = self.chance.choice(["dd.MM.yyyy", "yyyy-MM-dd", self.text()])
        if self.is_likely(0.2):
            attribute["retired"] = True
        if self.is_likely(0.2):
            attribute["facts"] = self.anything()
        return attribute

    def rule(self, rules: set[str]) -> str:
        """A name that no other rule of the entity has."""
        words = ["datatype", "mandatory", "enumeration", "a", "k", "of_parent", "unique_a", "zz"]
        while (name := self.chance.choice(words) + self.chance.choice(["", "1", "_2"])) in rules:
            pass
        rules.add(name)
        return name

    def add_alternate_keys(self, entity: dict[str, Any], live: list[str], rules: set[str]) -> None:
        found = [
            {
                "name": self.rule(rules),
                "attributes": self.chance.sample(live, self.chance.randint(1, min(3, len(live)))),
            }
            for _ in range(self.chance.choice([0, 0, 1, 2, 3]))
        ]
        if found:
            entity["alternate_keys"] = found

    def add_relationships(self, entity: dict[str, Any], live: list[str], rules: set[str]) -> None:
        kinds = {a["name"]: self.kind(a["type"]) for a in entity["attributes"] if a["name"] in live}
        found = []
        for parent in self.document["entities"]:
            of_parent = {a["name"]: self.kind(a["type"]) for a in parent["attributes"]}
            columns = []
            for name in parent["key"]:
                fitting = [n for n in kinds if kinds[n] == of_parent[name] and n not in columns]
                if fitting:
                    columns.append(self.chance.choice(fitting))
            if len(columns) < len(parent["key"]):
                continue
            name = self.rule(rules)
            relationship = {"name": name, "parent": parent["name"], "columns": columns}
            if self.is_likely(0.3):
                relationship["context_filter"] = self.is_likely()
            if name not in ("datatype", "mandatory", "enumeration") and self.is_likely(0.3):
                relationship["child_required"] = True
                self.children.setdefault(parent["name"], []).append((entity["name"], name))
            found.append(relationship)
        if found:
            entity["relationships"] = found

    @staticmethod
    def kind(data_type: str) -> str:
        word = data_type.partition("(")[0]
        return "integer" if word in ("smallint", "bigint") else word

    def add_constraints(self, entity: dict[str, Any], live: list[str], rules: set[str]) -> None:
        found: list[dict[str, Any]] = []
        for _ in range(self.chance.choice([0, 0, 1, 2, 4])):
            name = self.rule(rules)
            kind = self.chance.choice(["value", "record", "set"])
            if kind == "set":
                found.append({"name": name, "type": kind, "query": self.text()})
                continue
            attribute = self.chance.choice(live)
            literal = "'" + self.text().replace("'", "''") + "'"
            check = f"\"{attribute}\" IS NOT NULL OR {literal} = 'a'"
            rule = {"name": name, "type": kind, "check": check}
            found.append({**rule, "attribute": attribute} if kind == "value" else rule)
        if found:
            entity["constraints"] = found

    # Settings -----------------------------------------------------------------------------------

    def set_all(self, entity: dict[str, Any]) -> None:
        name = entity["name"]
        firm = {*entity["key"], *(a["name"] for a in entity["attributes"] if a.get("mandatory"))}
        for fixed, actions in {
            "row_count": "",
            "row_format": "S",
            "primary_key": "S",
            "context": "SN",
            "deletes": "",
        }.items():
            self.set(f"{name}.{fixed}", actions, fixed == "context")
        for attribute in entity["attributes"]:
            if attribute.get("retired"):
                continue
            code = f"{name}.{attribute['name']}"
            may_empty = "" if attribute["name"] in firm else "E"
            self.set(f"{code}.datatype", f"S{may_empty}", False)
            if attribute.get("mandatory") and attribute["name"] not in entity["key"]:
                self.set(f"{code}.mandatory", "SN", True)
            if "values" in attribute:
                self.set(f"{code}.enumeration", f"SN{may_empty}", True)
        for key in entity.get("alternate_keys", ()):
            self.set(f"{name}.{key['name']}", "S" if firm & {*key["attributes"]} else "SE", False)
        for relationship in entity.get("relationships", ()):
            firm_too = firm & {*relationship["columns"]}
            self.set(f"{name}.{relationship['name']}", "SN" if firm_too else "SNE", True)
        for child, relationship_name in self.children.get(name, ()):
            self.set(f"{name}.{child}.{relationship_name}", "SN", True)
        for constraint in entity.get("constraints", ()):
            may_empty = constraint["type"] == "value" and constraint["attribute"] not in firm
            self.set(f"{name}.{constraint['name']}", "SNE" if may_empty else "SN", True)

    def set(self, code: str, actions: str, may_be_disabled: bool) -> None:
        chance = self.chance
        if self.is_likely(0.6):
            return
        setting: dict[str, Any] = {}
        if actions and self.is_likely():
            setting["action"] = chance.choice(actions)
        if self.is_likely():
            setting["threshold"] = chance.choice(["none", 0, 1, 5, 9223372036854775807])
        if self.is_likely(0.4):
            setting["threshold_percent"] = chance.choice([0, 0.5, 1, 99.99, 100, 1e-7])
        if self.is_likely(0.3):
            setting["warn"] = chance.choice([0, 10])
        if self.is_likely(0.3):
            setting["warn_percent"] = chance.choice([0, 0.1, 100])
        if may_be_disabled and self.is_likely(0.3):
            setting["enabled"] = self.is_likely()
        if setting:
            self.settings[code] = setting
