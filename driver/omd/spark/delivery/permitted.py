"""What an expression or a query of a model may do (docs/explanation/delivery.md, rule Q7).

It is Spark SQL of whoever wrote the model, and is executed with the rights of the run. So it may
read staged entities and nothing else, and may call only built-in functions that give the same
result for the same rows. What Spark has parsed is looked at, before it is analysed: the analysis
would open a file, call a function of the session, or execute a command.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.errors import ParseException
from pyspark.errors.exceptions.captured import convert_exception
from pyspark.sql import SparkSession

from omd._core.error_codes import InvalidModel
from omd._core.errors import OmdError

# Of those whose result depends on the order of rows a query can say the order. There is nothing
# that tells the moment, the user, the session, the machine or the file; that reads a file named in
# an argument, as from_avro, from_protobuf and from_xml do; that draws lots; and no reflection.
_CALLED = """
! % & * + - / < << <= <=> = == > >= >> >>> ^ | ~ and or not in between like ilike rlike regexp abs
acos acosh add_months aggregate any any_value array array_agg array_append array_compact
array_contains array_distinct array_except array_insert array_intersect array_join array_max
array_min array_position array_prepend array_remove array_repeat array_size array_sort array_union
arrays_overlap arrays_zip ascii asin asinh atan atan2 atanh avg base64 bigint bin binary bit_and
bit_count bit_get bit_length bit_or bit_xor bool_and bool_or boolean bround btrim cardinality cast
cbrt ceil ceiling char char_length character_length chr coalesce collate collation collect_list
collect_set concat concat_ws contains conv convert_timezone corr cos cosh cot count count_if
covar_pop covar_samp crc32 csc cume_dist date date_add date_diff date_format date_from_unix_date
date_part date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek dayofyear
decimal decode degrees dense_rank div double e element_at elt encode endswith equal_null every
exists exp explode explode_outer expm1 extract factorial filter find_in_set first first_value
flatten float floor forall format_number format_string from_csv from_json from_unixtime
from_utc_timestamp get get_json_object getbit greatest grouping grouping_id hash hex hour hypot if
ifnull initcap inline inline_outer instr int is_valid_utf8 is_valid_variant is_variant_null isnan
isnotnull isnull json_array_length json_object_keys json_tuple kurtosis lag last last_day
last_value lcase lead least left len length levenshtein listagg ln locate log log10 log1p log2
lower lpad ltrim luhn_check make_date make_dt_interval make_interval make_timestamp
make_timestamp_ltz make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat
map_contains_key map_entries map_filter map_from_arrays map_from_entries map_keys map_values
map_zip_with mask max max_by md5 mean median min min_by minute mod mode month monthname
months_between named_struct nanvl negative next_day nth_value ntile nullif nullifzero nvl nvl2
octet_length overlay parse_json parse_url percent_rank percentile percentile_cont percentile_disc
pi pmod posexplode posexplode_outer position positive pow power printf quarter quote radians rank
reduce regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like regexp_replace
regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
regr_syy repeat replace reverse right rint round row_number rpad rtrim schema_of_csv
schema_of_json schema_of_variant sec second sentences sequence sha sha1 sha2 shiftleft shiftright
shiftrightunsigned sign signum sin sinh size skewness slice smallint some sort_array soundex space
split split_part sqrt stack startswith std stddev stddev_pop stddev_samp str_to_map string
string_agg struct substr substring substring_index sum tan tanh timestamp timestamp_micros
timestamp_millis timestamp_seconds tinyint to_binary to_char to_csv to_date to_json to_number
to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp to_varchar
to_variant_object transform transform_keys transform_values translate trim trunc try_add try_avg
try_divide try_element_at try_mod try_multiply try_parse_json try_parse_url try_subtract try_sum
try_to_binary try_to_date try_to_number try_to_timestamp try_url_decode try_validate_utf8
try_variant_get typeof ucase unbase64 unhex unix_date unix_micros unix_millis unix_seconds upper
url_decode url_encode validate_utf8 var_pop var_samp variance variant_explode
variant_explode_outer variant_get weekday weekofyear when width_bucket xxhash64 year zeroifnull
zip_with
"""
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
FUNCTIONS = frozenset(_CALLED.split())
_PLANS = frozenset(_PLANNED.split())
_ANALYSIS = frozenset(_UNRESOLVED.split())
_NAMES = frozenset(_NO_COLUMNS.split())
_OF_NOW = ("Current", "LocalTime", "Now")


class _NotPermittedError(Exception):
    """What an expression may not do."""


def require_expression(
    spark: SparkSession, text: str, place: str, columns: Collection[str] | None = None
) -> None:
    """Require that an expression reads nothing but columns of its row; see `require_query`.

    Args:
        text: the expression.
        place: what it is in the model, for an error.
        columns: the columns of the row, where they are known.
    """
    doubtful = _require(spark, text, place, (), "parseExpression")
    if columns is not None and not doubtful <= set(columns):
        raise _of_now(place)


def require_query(spark: SparkSession, text: str, place: str, entities: Collection[str]) -> None:
    """Require that a query reads entities and nothing else, and calls what may be called.

    Args:
        text: the query.
        place: what it is in the model, for an error.
        entities: the views that it may read.

    Raises:
        InvalidModel: it does something else, or is no SQL.
    """
    if _require(spark, text, place, tuple(entities), "parsePlan"):
        plan = str(spark.sql(text)._jdf.queryExecution().analyzed().toJSON())
        if any(f'"{_CATALYST}expressions.{name}' in plan for name in _OF_NOW):
            raise _of_now(place)


def _of_now(place: str) -> OmdError:
    return InvalidModel(
        f"{place} may not use the moment or the user; there is no such column",
        hint="Name a staged column.",
    )


def _require(
    spark: SparkSession, text: str, place: str, entities: tuple[str, ...], parse: str
) -> set[str]:
    """Return the names that may be columns or not."""
    state: Any = spark._jsparkSession.sessionState()
    try:
        parsed = getattr(state.sqlParser(), parse)(text)
        look = _Look(spark, entities)
        look.at(parsed, frozenset())
    except Py4JJavaError as error:
        reason = convert_exception(error.java_exception)
        raise InvalidModel(
            f"{place} can't be compiled by Spark: {str(reason).strip().partition(chr(10))[0]}"
        ) from error
    except ParseException as error:
        raise InvalidModel(
            f"{place} can't be compiled by Spark: {str(error).strip().partition(chr(10))[0]}"
        ) from error
    except _NotPermittedError as error:
        raise InvalidModel(
            f"{place} may not use {error}",
            hint="It may read staged entities by name, and call built-in functions whose result"
            " depends on nothing else.",
        ) from error
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
            raise _NotPermittedError(f"{name.rpartition('.')[2]}, which is no query")
        package, _, kind = name.removeprefix(_CATALYST).rpartition(".")
        kind = kind.rstrip("$")
        if package.startswith("plans.") and kind not in _PLANS:
            raise _NotPermittedError(kind)
        if package == "analysis" and kind not in _ANALYSIS:
            raise _NotPermittedError(kind)
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
                raise _NotPermittedError(f"{'.'.join(parts)}, which is no entity that it may read")
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
            raise _NotPermittedError(kind)

    def _require_function(self, parts: list[str]) -> None:
        name = parts[-1].lower()
        if len(parts) > 1 or name not in FUNCTIONS:
            raise _NotPermittedError(f"the function {'.'.join(parts)}")
        if name in self._replaced:
            raise _NotPermittedError(f"the function {name}, which the session has replaced")

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
