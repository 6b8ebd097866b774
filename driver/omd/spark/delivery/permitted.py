"""What an expression or a query of a model may do (docs/explanation/delivery.md, rule Q7).

It is Spark SQL of whoever wrote the model, and is executed with the rights of the run. So it may
read staged entities and nothing else, and may call only built-in functions that give the same
result for the same rows. Two looks at the text hold it to that before Spark sees it, since its
analysis would open a file, call a function of the session, or execute a command: one at its words,
and one by sqlglot, which tells the tables. What either does not understand is refused.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stdout

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.error_codes import InvalidModel
from omd._core.errors import OmdError
from omd.spark.delivery.words import Look, NotPermittedError, NoTreeError, words

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
# What Spark takes a name for that is no column. A column of this name is possible.
_NO_COLUMNS = """
current_catalog current_database current_date current_path current_schema current_time
current_timestamp current_timezone current_user curdate grouping__id localtime localtimestamp now
session_user user
"""
FUNCTIONS = frozenset(_CALLED.split())
_NAMES = frozenset(_NO_COLUMNS.split())
_NOW = re.compile(rf"\b(?:{'|'.join(sorted(_NAMES))})\(", re.IGNORECASE)
# Lines that Spark shortens would hide a call.
_WHOLE_PLANS = {
    "spark.sql.debug.maxToStringFields": str(2**31 - 1),
    "spark.sql.maxPlanStringLength": str(2**31 - 16),
}
_BUILT_IN = "org.apache.spark.sql.catalyst.expressions."


def require_expression(
    spark: SparkSession, text: str, place: str, columns: Collection[str] | None = None
) -> None:
    """Require that an expression reads nothing but columns of its row; see `require_query`.

    Args:
        text: the expression.
        place: what it is in the model, for an error.
        columns: the columns of the row, where they are known.
    """
    look = _look(spark, text, place, (), is_query=False)
    if columns is not None and not look.columns(_NAMES) <= set(columns):
        raise _of_now(place)
    try:
        _ = spark.range(0).select(F.expr(text)).schema
    except ParseException as error:
        raise _uncompiled(place, error) from error
    except AnalysisException:
        pass  # its columns are not here


def require_query(
    spark: SparkSession,
    text: str,
    place: str,
    entities: Collection[str],
    answer: Callable[[str], DataFrame] | None = None,
) -> DataFrame:
    """Return a query that reads entities and nothing else, and calls what may be called.

    Args:
        text: the query.
        place: what it is in the model, for an error.
        entities: the views that it may read.
        answer: what executes it; by default the session.

    Raises:
        InvalidModel: it does something else, or is no SQL.
        AnalysisException: it is permitted, but Spark can't analyse it.
    """
    look = _look(spark, text, place, entities, is_query=True)
    try:
        frame = (answer or spark.sql)(text)
        _ = frame.schema
    except ParseException as error:
        raise _uncompiled(place, error) from error
    if look.columns(_NAMES) and _NOW.search(_analysed(spark, frame)):
        raise _of_now(place)
    return frame


def _of_now(place: str) -> OmdError:
    return InvalidModel(
        f"{place} may not use the moment or the user; there is no such column",
        hint="Name a staged column.",
    )


def _uncompiled(place: str, error: Exception) -> OmdError:
    reason = str(error).strip().partition("\n")[0]
    return InvalidModel(f"{place} can't be compiled by Spark: {reason}")


def _analysed(spark: SparkSession, frame: DataFrame) -> str:
    """Return what Spark makes of the names of a query."""
    plans = io.StringIO()
    with _settings(spark, _WHOLE_PLANS), redirect_stdout(plans):
        frame.explain(extended=True)
    return plans.getvalue().partition("== Parsed Logical Plan ==")[2].partition("\n==")[2]


@contextmanager
def _settings(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, own in before.items():
            if own is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, own)


def _look(
    spark: SparkSession, text: str, place: str, entities: Collection[str], *, is_query: bool
) -> Look:
    """Return the look at the words of a text that is permitted in a session."""
    try:
        _require_no_variable(spark, text)
        is_exact = spark.conf.get("spark.sql.caseSensitive") == "true"
        look = both_looks(text, entities, is_query=is_query, is_exact=is_exact)
        _require_built_in(spark, look.called)
    except NotPermittedError as error:
        raise InvalidModel(
            f"{place} may not use {error}",
            hint="It may read staged entities by name, and call built-in functions whose result"
            " depends on nothing else.",
        ) from error
    except NoTreeError as error:
        raise InvalidModel(f"{place} can't be compiled: {error}") from error
    return look


def _require_no_variable(spark: SparkSession, text: str) -> None:
    if "${" in text and spark.conf.get("spark.sql.variable.substitute") != "false":
        raise NotPermittedError("a variable of the session")


def _require_built_in(spark: SparkSession, names: Collection[str]) -> None:
    """Require that functions are those of Spark, and not of the session or the catalogue."""
    if not names:
        return
    seen: set[str] = set()
    for function in spark.catalog.listFunctions(pattern="|".join(sorted(names))):
        # Spark 4.3 lists one that the session has replaced twice, both times as its own.
        name = function.name.lower()
        if name in seen or not (function.className or "").startswith(_BUILT_IN):
            raise NotPermittedError(f"the function {name}, which the session has replaced")
        seen.add(name)


def both_looks(text: str, entities: Collection[str], *, is_query: bool, is_exact: bool) -> Look:
    """Return the look at the words of a text that is permitted; nothing asks Spark.

    Args:
        text: a query or an expression.
        entities: the views that it may read.
        is_query: which of the two it is.
        is_exact: whether names of tables differ by case.

    Raises:
        NotPermittedError: a word or a table is not permitted.
        NoTreeError: its tables can't be known.
    """
    # Executors import this module, and have no sqlglot.
    from omd.spark.delivery.tables import require_tables

    def cased(name: str) -> str:
        return name if is_exact else name.lower()

    relations = frozenset(map(cased, entities))
    look = Look(words(text), FUNCTIONS, lambda name: cased(name) in relations)
    (look.query if is_query else look.expression)()
    require_tables(look.words, cased, relations, is_query=is_query)
    return look
