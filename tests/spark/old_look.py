"""The look at a model's SQL by Spark's own parser, for which there is no public way.

The driver did so until it had looks of its own (`omd.spark.delivery.permitted`). It is kept as what
these are compared with, in test_delivery_looks.py alone; no other test and no driver may use it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from omd.spark.delivery.permitted import FUNCTIONS

_CATALYST = "org.apache.spark.sql.catalyst."
_PLAIN = (  # types, options, numbers: nothing is in them
    "org.apache.spark.sql.types.",
    "org.apache.spark.sql.util.",
    "org.apache.spark.unsafe.types.",
    "java.",
)
_PLANNED = """
Aggregate Deduplicate Distinct Except Expand Filter Generate GlobalLimit HintInfo Intersect Join
JoinHint LateralJoin LocalLimit LocalRelation Offset OneRowRelation Pivot Project Sort
SubqueryAlias Union Unpivot UnresolvedHint UnresolvedWith Window WithWindowDefinition
"""
_UNRESOLVED = """
UnresolvedAlias UnresolvedAttribute UnresolvedExtractValue UnresolvedFunction UnresolvedHaving
UnresolvedGenerator UnresolvedInlineTable UnresolvedNamedLambdaVariable UnresolvedOrdinal
UnresolvedRelation UnresolvedStar UnresolvedSubqueryColumnAliases UnresolvedTVFAliases
UnresolvedStarExceptOrReplace UnresolvedTableValuedFunction MultiAlias
"""
# What Spark takes a name for that is no column. A column of this name is possible.
_NO_COLUMNS = """
current_catalog current_database current_date current_path current_schema current_time
current_timestamp current_timezone current_user curdate grouping__id localtime localtimestamp now
session_user user
"""
_PLANS = frozenset(_PLANNED.split())
_ANALYSIS = frozenset(_UNRESOLVED.split())
_NAMES = frozenset(_NO_COLUMNS.split())


class UncompiledError(Exception):
    """Spark can't parse it."""


class NotPermittedError(Exception):
    """What a text may not do."""


class Old:
    """The looks of one session.

    Args:
        entities: the views that may be read.
    """

    def __init__(self, spark: SparkSession, entities: Collection[str]) -> None:
        self.spark, self.entities = spark, tuple(entities)
        state: Any = spark._jsparkSession.sessionState()
        self._parser = state.sqlParser()

    def look(self, text: str, *, is_query: bool) -> set[str]:
        """Return the names in a text that may be columns or not.

        Raises:
            UncompiledError: it is no SQL.
            NotPermittedError: it may not do what it does.
        """
        try:
            parse = self._parser.parsePlan if is_query else self._parser.parseExpression
            parsed = parse(text)
        except (Py4JJavaError, ParseException) as error:
            raise UncompiledError from error
        look = _Look(self.spark, self.entities if is_query else ())
        look.at(parsed, frozenset())
        return look.doubtful


class _Look:
    """A look at what Spark has parsed.

    Args:
        entities: the views that may be read.
    """

    def __init__(self, spark: SparkSession, entities: tuple[str, ...]) -> None:
        jvm: Any = spark._jvm
        self._converters = jvm.scala.jdk.javaapi.CollectionConverters
        own = spark._jsparkSession.sessionState().catalog().listTemporaryFunctions()
        self._replaced = {str(f.funcName()).lower() for f in self._list(own)}
        self._is_exact = spark.conf.get("spark.sql.caseSensitive") == "true"
        self._entities = frozenset(map(self._cased, entities))
        self._builtin = _builtin(spark)
        self.doubtful: set[str] = set()

    def at(self, node: Any, known: frozenset[str]) -> None:
        """Look at something and all that is in it.

        Args:
            node: an object of the JVM, or a plain value.
            known: the names of the common table expressions that it sees.
        """
        if not isinstance(node, JavaObject):
            return
        name = str(node.getClass().getName())
        if name.startswith("scala."):
            for element in self._elements(node, name):
                self.at(element, known)
            return
        if not name.startswith(_CATALYST):
            if name.startswith(_PLAIN):
                return
            raise NotPermittedError(f"{name.rpartition('.')[2]}, which is no query")
        package, _, kind = name.removeprefix(_CATALYST).rpartition(".")
        kind = kind.rstrip("$")
        if package.startswith("plans.") and kind not in _PLANS:
            raise NotPermittedError(kind)
        if package == "analysis" and kind not in _ANALYSIS:
            raise NotPermittedError(kind)
        if (
            package.partition(".")[0] not in ("plans", "analysis", "expressions")
            or package == "plans"
        ):
            return  # no plan and no expression: a kind of join, an alias
        if kind == "UnresolvedWith":
            for element in self._list(node.cteRelations()):
                defined = self._cased(str(element._1()))
                inner = known | {defined} if node.allowRecursion() else known
                self.at(element._2(), inner)
                known |= {defined}
            self.at(node.child(), known)
            return
        self._require_names(node, kind, known)
        if kind in ("LocalRelation", "Literal", "UnresolvedAttribute", "UnresolvedStar"):
            return
        for element in self._list(node.productIterator().toSeq()):
            self.at(element, known)

    def _require_names(self, node: Any, kind: str, known: frozenset[str]) -> None:
        if kind == "UnresolvedRelation":
            parts = self._texts(node.multipartIdentifier())
            if len(parts) > 1 or self._cased(parts[0]) not in self._entities | known:
                raise NotPermittedError(f"{'.'.join(parts)}, which is no entity that it may read")
        elif kind in ("UnresolvedFunction", "UnresolvedTableValuedFunction"):
            parts = self._texts(node.nameParts() if kind == "UnresolvedFunction" else node.name())
            self._require_function(parts)
        elif kind == "UnresolvedGenerator":
            self._require_function([str(node.name().funcName())])
        elif kind == "UnresolvedAttribute":
            name = str(node.name())
            if name.lower() in _NAMES:
                self.doubtful.add(name)
        elif kind in self._builtin.refused:
            raise NotPermittedError(kind)

    def _require_function(self, parts: list[str]) -> None:
        name = parts[-1].lower()
        if len(parts) > 1 or name not in FUNCTIONS:
            raise NotPermittedError(f"the function {'.'.join(parts)}")
        if name in self._replaced:
            raise NotPermittedError(f"the function {name}, which the session has replaced")

    def _elements(self, node: Any, name: str) -> Iterator[Any]:
        if name.startswith("scala.collection."):
            yield from self._list(node.iterator().toSeq())
        elif name.startswith(("scala.Tuple", "scala.Some", "scala.util.")):
            yield from self._list(node.productIterator().toSeq())

    def _list(self, sequence: Any) -> list[Any]:
        return list(self._converters.asJava(sequence))

    def _texts(self, sequence: Any) -> list[str]:
        return [str(part) for part in self._list(sequence)]

    def _cased(self, name: str) -> str:
        return name if self._is_exact else name.lower()


class _Builtin:
    """The functions that Spark has of its own."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        catalyst = jvm.org.apache.spark.sql.catalyst
        self._registry: Any = getattr(getattr(catalyst.analysis, "FunctionRegistry$"), "MODULE$")
        self._identifier: Any = catalyst.FunctionIdentifier
        listed = self._registry.builtin().listFunction()
        functions = jvm.scala.jdk.javaapi.CollectionConverters.asJava(listed)
        others = {str(f.funcName()) for f in functions} - FUNCTIONS
        of_others = {self.classes(name) for name in others}
        of_permitted = {self.classes(name) for name in FUNCTIONS}
        self.refused = {c.rpartition(".")[2] for c in of_others - of_permitted}
        self.refused |= {"CurrentTimestamp", "LocalTimestamp", "Now"}  # whose makers are listed

    def classes(self, name: str) -> str:
        info = self._registry.builtin().lookupFunction(self._identifier(name))
        return str(info.get().getClassName()) if info.isDefined() else ""


@lru_cache(maxsize=1)
def _builtin_of(_: str, spark: SparkSession) -> _Builtin:
    return _Builtin(spark)


def _builtin(spark: SparkSession) -> _Builtin:
    """Return the functions that Spark has of its own, which one JVM tells once."""
    return _builtin_of(str(spark.sparkContext.applicationId), spark)
