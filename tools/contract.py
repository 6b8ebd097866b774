"""The contract of a version: what users write into their programs, as one document.

`document` makes it from the catalog, the commands and the package; ``tools/generate.py`` writes it
to ``docs/reference/api.json``. Each released one is kept in ``tests/install/released``, and
`breaks` says what a later one has broken: within a major version nothing goes, is renamed or
retyped, and what is new comes last and is optional. ``protocol`` is what an installed client calls
beside the public routines. It is promised to nobody else, and compared all the same, since a client
that is older than its database has to work.

    python tools/contract.py FORMER [PRESENT]     # prints each break; exit 1 when there is one
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import enum
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import re
import sys
import textwrap
import types
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omd.rooms.control.outcome import FACTS, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import click
    import psycopg

    Row = dict[str, Any]
    Document = Mapping[str, Any]

ROOT = Path(__file__).resolve().parents[1]
API = ROOT / "docs/reference/api.json"
RELEASED = ROOT / "tests/install/released"

# All that Python promises: the names of each module, and the members of each class. Nothing comes
# into the contract by inheritance.
NAMES = {
    "omd": "Batch Control Outcome Run Status connect",
    "omd.dispatch": "Task",
    "omd.errors": (
        "Aborted CallerError ConfigurationError ConnectionFailed LeaseLost NotInstalled NotStarted"
        " OmdError Skipped StateError WriteFailed lookup"
    ),
    "omd.integrations.airflow": (
        "OmdBatchOperator OmdDeliverySensor OmdHook OmdModuleOperator OmdRunSensor OmdTopicSensor"
    ),
    "omd.integrations.dagster": "omd_definitions omd_pipes",
    "omd.lake": "catalog",
    "omd.spark": "session",
    "omd.web": "app",
}
MEMBERS = {
    "omd.Batch": "batch code environment instance_id module run run_batch",
    "omd.Control": (
        "batch calls close decision delivery facts module provenance report run run_batch"
        " transaction"
    ),
    "omd.Control.decision": "run test_ruleset",
    "omd.Control.delivery": "create deliver",
    "omd.Control.facts": "delivery export",
    "omd.Control.provenance": "erase recall",
    "omd.DeliveryBlock": "delivery_id run",
    "omd.FactsDelivery": "connection",
    "omd.Outcome": "code detail error facts instance_id kind reason result status succeeded value",
    "omd.Run": (
        "attach check code commit connect dsn environment instance_array instance_id read rows"
        " snapshot stamp window write"
    ),
    "omd.dispatch.Task": "attempt cancelled control criteria payload task_id",
}
# Where the classes are that no name leads to: the doors, and what their methods return.
PLACES = {
    "omd.Control.decision": "omd.doors.decision.Decision",
    "omd.Control.delivery": "omd.doors.delivery.Delivery",
    "omd.Control.facts": "omd.doors.facts.Facts",
    "omd.Control.provenance": "omd.doors.provenance.Provenance",
    "omd.DeliveryBlock": "omd.rooms.delivery.run.DeliveryBlock",
    "omd.FactsDelivery": "omd.rooms.facts.run.FactsDelivery",
}

# What is public, and what an installed client calls beside it.
ROUTINES = """
SELECT l.routine AS name, l.kind, l.is_public, l.routine_oid AS oid
FROM omd_report.routine_list AS l
WHERE l.is_public OR l.audience = 'DRIVER'
ORDER BY l.routine COLLATE "C"
"""

PARAMETERS = """
SELECT
    p.oid,
    coalesce(a.name, '') AS name,
    format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL) AS type,
    CASE a.mode
        WHEN 'i' THEN 'in' WHEN 'o' THEN 'out' WHEN 'b' THEN 'inout' WHEN 'v' THEN 'variadic'
        ELSE 'table'
    END AS mode,
    CASE
        WHEN a.mode IN ('i', 'b', 'v') THEN pg_get_function_arg_default(p.oid, a.number::integer)
    END AS default
FROM pg_proc AS p
CROSS JOIN LATERAL unnest(
    p.proargnames,
    coalesce(p.proargmodes, array_fill('i'::"char", ARRAY[p.pronargs::integer])),
    coalesce(p.proallargtypes, p.proargtypes::oid[])
) WITH ORDINALITY AS a (name, mode, type, number)
INNER JOIN pg_type AS t ON a.type = t.oid
WHERE p.oid = ANY (%s)
ORDER BY p.oid, a.number
"""

COLUMNS = """
SELECT
    'omd_report.' || c.relname AS view,
    a.attname::text AS name,
    format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL) AS type
FROM pg_class AS c
INNER JOIN pg_attribute AS a ON c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped
INNER JOIN pg_type AS t ON a.atttypid = t.oid
CROSS JOIN LATERAL omd.comment_parts(obj_description(c.oid, 'pg_class')) AS w
WHERE c.relnamespace = to_regnamespace('omd_report') AND c.relkind = 'v'
    AND w.audience IN ('PERSON', 'PROGRAM')
ORDER BY c.relname COLLATE "C", a.attnum
"""

ERRORS = """
SELECT e.sqlstate_code, e.error_name FROM omd.error_catalogue AS e
ORDER BY e.sqlstate_code COLLATE "C"
"""

EVENTS = """
SELECT t.event_type, t.subject_type FROM omd_event.event_type AS t
ORDER BY t.event_type COLLATE "C"
"""

METRICS = """
SELECT m.metric_name, m.metric_type, m.label_names FROM omd_report.metric_list AS m
ORDER BY m.metric_name COLLATE "C"
"""


# The document -----------------------------------------------------------------------------------


def document(connection: psycopg.Connection[Row]) -> dict[str, Any]:
    """Return the contract of this checkout, whose SQL the database has."""
    from omd._core.version import __version__
    from omd.programs.terminal.commands import ExitCode

    routines = connection.execute(ROUTINES).fetchall()
    parameters: dict[int, list[Row]] = {row["oid"]: [] for row in routines}
    for row in connection.execute(PARAMETERS, [list(parameters)]):
        parameters[row.pop("oid")].append(row)
    views: dict[str, Any] = {}
    for row in connection.execute(COLUMNS):
        columns = views.setdefault(row.pop("view"), {"columns": []})["columns"]
        columns.append(row)
    return {
        "version": __version__,
        **{
            key: {
                row["name"]: {"kind": row["kind"], "parameters": parameters[row["oid"]]}
                for row in routines
                if row["is_public"] is is_public
            }
            for key, is_public in (("routines", True), ("protocol", False))
        },
        "views": views,
        "errors": {row["sqlstate_code"]: row["error_name"] for row in connection.execute(ERRORS)},
        "roles": _roles(),
        "commands": dict(_commands()),
        "exit_codes": {str(code.value): code.name for code in ExitCode},
        "python": python(),
        "events": {
            row["event_type"]: {"subject_type": row["subject_type"]}
            for row in connection.execute(EVENTS)
        },
        "metrics": {
            row["metric_name"]: {"type": row["metric_type"], "labels": row["label_names"] or []}
            for row in connection.execute(METRICS)
        },
    }


def text(contract: Document) -> str:
    """Return the document as text: a line for each name, so that a difference is readable."""
    parts = []
    for key, value in contract.items():
        if isinstance(value, dict):
            lines = ",\n".join(
                f"    {_line(name)}: {_line(about)}" for name, about in value.items()
            )
            parts.append(f"  {_line(key)}: {{\n{lines}\n  }}")
        else:
            parts.append(f"  {_line(key)}: {_line(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _roles() -> list[str]:
    roles = (ROOT / "sql/roles.sql").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"'(omd_\w+)'", roles)))


def _commands() -> Iterator[tuple[str, dict[str, Any]]]:
    from omd.programs.cli.main import cli

    yield from _below(cli, "omd")


def _below(command: click.Command, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    import click

    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    yield (
        name,
        {
            "arguments": [
                {"name": p.human_readable_name, "required": p.required, "nargs": p.nargs}
                for p in arguments
            ],
            "options": [
                {
                    "names": [*p.opts, *p.secondary_opts],
                    "type": _kind(p),
                    "required": p.required,
                    "multiple": p.multiple,
                }
                for p in options
            ],
        },
    )
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in sorted(command.list_commands(context)):
            found = command.get_command(context, below)
            if found is not None and not found.hidden:
                yield from _below(found, f"{name} {below}")


def _kind(option: click.Option) -> Any:
    """Return the type of an option: its choices, ``flag``, or the name of the type."""
    if option.is_flag:
        return "flag"
    choices = getattr(option.type, "choices", None)
    if choices:
        return [str(getattr(choice, "value", choice)) for choice in choices]
    return option.type.name


class _Bases(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Offers each module of Airflow with empty classes: it has an environment of its own.

    What ours inherit from Airflow is its contract.
    """

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        is_asked = name.partition(".")[0] == "airflow"
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if is_asked else None

    def exec_module(self, module: types.ModuleType) -> None:
        made: dict[str, type] = {}

        def attribute(name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return made.setdefault(name, type(name, (), {}))

        module.__getattr__ = attribute  # type: ignore[method-assign]


@contextmanager
def _airflow(module: str) -> Iterator[None]:
    """Let a module that needs Airflow be imported without it, and leave nothing of that."""
    if "airflow" not in module or importlib.util.find_spec("airflow") is not None:
        yield
        return
    before, bases = set(sys.modules), _Bases()
    sys.meta_path.append(bases)
    try:
        yield
    finally:
        sys.meta_path.remove(bases)
        for name in set(sys.modules) - before:
            if name.partition(".")[0] == "airflow" or name.startswith(module):
                del sys.modules[name]


def python() -> dict[str, Any]:
    """Return what Python promises, by name.

    Raises:
        ValueError: something that is listed is not there.
    """
    found = {
        f"{module}.{name}": _described(f"{module}.{name}", value)
        for module, names in NAMES.items()
        for name, value in _module(module, names.split())
    }
    for name in PLACES:
        found[name] = _described(name, class_of(name))
    return dict(sorted(found.items()))


def _module(module: str, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    with _airflow(module):
        found = importlib.import_module(module)
        for name in names:
            yield name, getattr(found, name)


def class_of(name: str) -> type:
    """Return the class of a name that has members."""
    module, _, short = PLACES.get(name, name).rpartition(".")
    found: type = getattr(importlib.import_module(module), short)
    return found


def _described(name: str, value: Any) -> dict[str, Any]:
    if not inspect.isclass(value):
        return {"kind": "function", **_signature(value)} if callable(value) else {"kind": "value"}
    if issubclass(value, enum.Enum):
        return {"kind": "enum", "values": {member.name: member.value for member in value}}
    if issubclass(value, BaseException):
        code = getattr(value, "sqlstate", None)
        bases = [b.__name__ for b in value.__mro__[1:] if b.__module__.startswith("omd")]
        return {"kind": "error", "bases": bases, **({"sqlstate": code} if code else {})}
    # The members of what others call, as Airflow does, are the contract of these.
    kind = "door" if name.startswith("omd.Control.") else "answer" if name in PLACES else "class"
    members = dict(_members(name, value, MEMBERS.get(name, "").split()))
    facts = {"facts": {k: list(v) for k, v in FACTS.items()}} if value is Outcome else {}
    return {"kind": kind, "members": members, **facts}


def offered(value: type) -> set[str]:
    """Return the members of a class that have no underscore, also those that `__init__` sets."""
    found = {name for name in dir(value) if not name.startswith("_")}
    return found | {name for name in _set_ones(value) if not name.startswith("_")}


def _set_ones(value: type) -> Iterator[str]:
    """Yield the attributes that a class annotates, or sets in `__init__`."""
    for base in value.__mro__:
        if base.__module__.partition(".")[0] != "omd":
            continue
        yield from vars(base).get("__annotations__", {})
        made = vars(base).get("__init__")
        if not inspect.isfunction(made) or dataclasses.is_dataclass(base):
            continue
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(made)))):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ):
                yield node.attr


def _members(name: str, value: type, listed: Sequence[str]) -> Iterator[tuple[str, Any]]:
    if missing := set(listed) - offered(value):
        raise ValueError(f"{name} has no {', '.join(sorted(missing))}")
    for member in listed:
        found = inspect.getattr_static(value, member, None)
        if isinstance(found, (staticmethod, classmethod)):
            found = found.__func__
        if inspect.isfunction(found):
            yield member, {"kind": "function", **_signature(found)}
        else:
            yield member, {"kind": "attribute"}


def _answer(value: Callable[..., Any]) -> dict[str, str]:
    """Return the fields of what a method returns, if that is a class of ours with fields."""
    returned = getattr(value, "__annotations__", {}).get("return")
    scope = getattr(inspect.unwrap(value), "__globals__", {})
    short = re.sub(r"^list\[(.*)\]$", r"\1", returned if isinstance(returned, str) else "")
    found = scope.get(short)
    if not dataclasses.is_dataclass(found) or f"omd.{short}" in MEMBERS:
        return {}
    return {field.name: _annotation(field.type) for field in dataclasses.fields(found)}


def _signature(value: Callable[..., Any]) -> dict[str, Any]:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # it is made in C
        return {"parameters": []}
    empty = inspect.Parameter.empty
    parameters = [
        {
            "name": p.name,
            "kind": p.kind.name.lower(),
            "type": None if p.annotation is empty else _annotation(p.annotation),
            "required": p.default is empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD),
        }
        for p in signature.parameters.values()
        if p.name != "self"
    ]
    returns = signature.return_annotation
    answer = _answer(value)
    return {
        "parameters": parameters,
        "returns": None if returns is empty else _annotation(returns),
        **({"answer": answer} if answer else {}),
    }


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


# The comparison ---------------------------------------------------------------------------------


def breaks(former: Document, present: Document) -> list[str]:
    """Return what the present contract breaks of a former one, a sentence each.

    Between major versions anything may change, so nothing is compared.
    """
    if _major(former) != _major(present):
        return []
    found = [f"the key {key} is gone" for key in former if key not in present]
    for key, compare in _PARTS.items():
        was, now = former.get(key, {}), present.get(key, {})
        if key == "protocol":  # what becomes public is kept
            now = present.get("routines", {}) | now
        for name, about in was.items():
            if name not in now:
                found.append(f"{key}: {name} is gone")
            else:
                found += [f"{key}: {name}: {what}" for what in compare(about, now[name])]
    found += [
        f"roles: {role} is gone"
        for role in former.get("roles", ())
        if role not in present.get("roles", ())
    ]
    return found


def _major(contract: Document) -> str:
    return str(contract["version"]).partition(".")[0]


def _routine(was: Document, now: Document) -> Iterator[str]:
    if was["kind"] != now["kind"]:
        yield f"it was a {was['kind']} and is a {now['kind']}"
    if was["kind"] == "procedure":  # CALL has a place for each parameter, also for answers
        yield from _listed(was["parameters"], now["parameters"], "parameter")
        # PL/pgSQL refuses a CALL that leaves out an answer, also one with a default (42601).
        known = {p["name"] for p in was["parameters"]}
        for new in now["parameters"]:
            if new["name"] not in known and new["mode"] in ("out", "inout"):
                yield f"the new parameter {new['name']} is an answer, which no CALL may leave out"
        return
    for about, modes in (("parameter", ("in", "inout", "variadic")), ("answer", ("out", "table"))):
        yield from _listed(
            [p for p in was["parameters"] if p["mode"] in modes],
            [p for p in now["parameters"] if p["mode"] in modes],
            about,
        )


def _listed(was: Sequence[Document], now: Sequence[Document], about: str) -> Iterator[str]:
    """Compare parameters or columns in their order; what is new comes last and is optional."""
    names = [p["name"] for p in now]
    for place, former in enumerate(was):
        name = former["name"] or f"number {place + 1}"
        if place >= len(now) or now[place]["name"] != former["name"]:
            where = f"is at place {names.index(name) + 1}" if name in names else "is gone"
            yield f"the {about} {name} {where}, and was at place {place + 1}"
            continue
        for key in ("type", "mode", "default"):
            if former.get(key) != now[place].get(key):
                yield f"the {key} of {name} was {former.get(key)} and is {now[place].get(key)}"
    former_names = {p["name"] for p in was}
    for new in now:
        is_input = new.get("mode") in ("in", "inout", "variadic")
        if new["name"] not in former_names and is_input and new["default"] is None:
            yield f"the new {about} {new['name']} has no default"


def _view(was: Document, now: Document) -> Iterator[str]:
    yield from _listed(was["columns"], now["columns"], "column")


def _same(was: Any, now: Any) -> Iterator[str]:
    if was != now:
        yield f"it was {_line(was)} and is {_line(now)}"


def _command(was: Document, now: Document) -> Iterator[str]:
    there = {name: option for option in now["options"] for name in option["names"]}
    for option in was["options"]:
        for name in option["names"]:
            if name not in there:
                yield f"the option {name} is gone"
            else:
                yield from _option(name, option, there[name])
    known = {name for option in was["options"] for name in option["names"]}
    for option in now["options"]:
        if option["required"] and not known & set(option["names"]):
            yield f"the new option {option['names'][0]} is required"
    for place, argument in enumerate(was["arguments"]):
        if place >= len(now["arguments"]):
            yield f"the argument {argument['name']} is gone"
        elif argument["nargs"] != now["arguments"][place]["nargs"]:
            yield f"the argument {argument['name']} takes another number of values"
        elif now["arguments"][place]["required"] and not argument["required"]:
            yield f"the argument {argument['name']} is required now"
    for argument in now["arguments"][len(was["arguments"]) :]:
        if argument["required"]:
            yield f"the new argument {argument['name']} is required"


def _option(name: str, was: Document, now: Document) -> Iterator[str]:
    if isinstance(was["type"], list) and isinstance(now["type"], list):
        for choice in was["type"]:
            if choice not in now["type"]:
                yield f"the option {name} takes {choice} no more"
    elif was["type"] != now["type"]:
        yield f"the option {name} was of the type {was['type']} and is of {now['type']}"
    if now["required"] and not was["required"]:
        yield f"the option {name} is required now"
    if was["multiple"] and not now["multiple"]:
        yield f"the option {name} can't be repeated any more"


def _python(was: Document, now: Document) -> Iterator[str]:
    if was["kind"] != now["kind"]:
        yield f"it was a {was['kind']} and is a {now['kind']}"
        return
    if was.get("sqlstate") != now.get("sqlstate"):
        yield f"its code was {was.get('sqlstate')} and is {now.get('sqlstate')}"
    for base in was.get("bases", ()):
        if base not in now.get("bases", ()):
            yield f"it is no {base} any more"
    for name, value in was.get("values", {}).items():
        if now["values"].get(name) != value:
            yield f"{name} was {value!r} and is {now['values'].get(name)!r}"
    for kind, keys in was.get("facts", {}).items():
        present = now.get("facts", {}).get(kind, ())
        yield from (f"the fact {key} of {kind} is gone" for key in keys if key not in present)
    for name, member in was.get("members", {}).items():
        if name not in now["members"]:
            yield f"{name} is gone"
        else:
            yield from (f"{name}: {what}" for what in _python(member, now["members"][name]))
    if "parameters" in was:
        yield from _call(was, now)


_BY_PLACE = ("positional_only", "positional_or_keyword")


def _call(was: Document, now: Document) -> Iterator[str]:
    names = [p["name"] for p in now["parameters"]]
    places = [p["name"] for p in now["parameters"] if p["kind"] in _BY_PLACE]
    former_places = [p["name"] for p in was["parameters"] if p["kind"] in _BY_PLACE]
    for place, name in enumerate(former_places):
        if name in names and places[place : place + 1] != [name]:
            yield f"the parameter {name} is not at place {place + 1} any more"
    for former in was["parameters"]:
        if former["name"] not in names:
            yield f"the parameter {former['name']} is gone"
            continue
        present = now["parameters"][names.index(former["name"])]
        if present["required"] and not former["required"]:
            yield f"the parameter {former['name']} is required now"
        if not _takes(former["type"], present["type"]):
            yield (
                f"the parameter {former['name']} was of the type {former['type']} and is of"
                f" {present['type']}"
            )
    known = {p["name"] for p in was["parameters"]}
    for new in now["parameters"]:
        if new["required"] and new["name"] not in known:
            yield f"the new parameter {new['name']} is required"
    for name, type_ in was.get("answer", {}).items():
        if name not in now.get("answer", {}):
            yield f"its answer has no {name} any more"
        elif not _takes(now["answer"][name], type_):
            yield f"{name} of its answer was {type_} and is {now['answer'][name]}"
    if not _takes(now["returns"], was["returns"]):
        yield f"it returned {was['returns']} and returns {now['returns']}"


def _takes(narrow: str | None, wide: str | None) -> bool:
    """Return whether a type takes all that another one does: `str | None` takes `str`."""
    if narrow is None or wide is None or wide == "Any":
        return True
    return set(narrow.split(" | ")) <= set(wide.split(" | "))


_PARTS: dict[str, Callable[[Any, Any], Iterable[str]]] = {
    "routines": _routine,
    "protocol": _routine,
    "views": _view,
    "errors": _same,
    "commands": _command,
    "exit_codes": _same,
    "python": _python,
    "events": _same,
    "metrics": _same,
}


# What was released ------------------------------------------------------------------------------


def released() -> list[dict[str, Any]]:
    """Return the contracts that were released, the oldest first."""
    kept = [json.loads(file.read_text(encoding="utf-8")) for file in RELEASED.glob("*.api.json")]
    return sorted(kept, key=lambda one: [int(n) for n in re.findall(r"\d+", one["version"])])


def since(present: Document, former: Sequence[Document]) -> tuple[str, dict[str, str]]:
    """Return the first version, and the version of each routine that came later.

    A parameter that came later than its routine stands behind it: ``omd.begin_module.p_x``.
    """
    found: dict[str, str] = {}
    versions = [*former, present]
    for contract in versions:
        for name, routine in (contract["routines"] | contract.get("protocol", {})).items():
            found.setdefault(name, contract["version"])
            for parameter in routine["parameters"]:
                found.setdefault(f"{name}.{parameter['name']}", contract["version"])
    first = versions[0]["version"]
    late = {name: version for name, version in sorted(found.items()) if version != first}
    # What came with its routine needs no line of its own.
    for name in [n for n in late if n.count(".") == 2]:
        if late.get(name.rpartition(".")[0]) == late[name]:
            del late[name]
    return first, late


def since_module(header: str, present: Document, former: Sequence[Document]) -> str:
    """Return the text of ``driver/omd/_core/since.py``."""
    first, late = since(present, former)
    return (
        header + '"""Since which version OMD has a routine or a parameter."""\n\n'
        f'FIRST = "{first}"\n'
        f"LATER: dict[str, str] = {late!r}\n\n\n"
        "def since(name: str) -> str:\n"
        '    """Return the version that has `omd.begin_module`, or `omd.begin_module.p_name`."""\n'
        '    routine = ".".join(name.split(".")[:2])\n'
        "    return LATER.get(name) or LATER.get(routine) or FIRST\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two contracts, or the committed one with all that were released."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("former", nargs="?", type=Path, help="the older one; without it: all kept")
    parser.add_argument("present", nargs="?", type=Path, default=API, help="the newer one")
    options = parser.parse_args(arguments)
    present = json.loads(options.present.read_text(encoding="utf-8"))
    former = (
        [json.loads(options.former.read_text(encoding="utf-8"))] if options.former else released()
    )
    found = [f"{one['version']}: {what}" for one in former for what in breaks(one, present)]
    for what in found:
        print(what)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
