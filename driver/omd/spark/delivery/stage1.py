"""Stage 1: checks within the delivered rows (docs/explanation/delivery.md, rule Q8).

One scan: casts and checks are expressions that set bits of a mask. Only keys, hash and mask are
shuffled, to find duplicate keys; whole rows are read again where they are needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import NullType, StructType

from omd._core.error_codes import InvalidModel
from omd._core.errors import OmdError
from omd.spark.delivery import casts
from omd.spark.delivery.frames import analysed, forget
from omd.spark.delivery.frames import keep as keep_rows
from omd.spark.delivery.hashes import HASH_A, HASH_B, row_hash
from omd.spark.delivery.staging.csv_regular import regular_column
from omd.spark.delivery.staging.staged import ABOUT, BAD, FROM, HEAD, PLACE, RAW, TORN, flat

if TYPE_CHECKING:
    from omd.spark.delivery.plan import Attribute, Constraint, EntityPlan
    from omd.spark.delivery.staging import Staged

READABLE, DELETE, SKIP = "_readable", "_delete", "_skip"
_WORD = 63  # bits of a bigint that leave its sign alone
_SHARE, _MOST_PLACES = 10, 2_000_000  # of so few rows the places go to each task
_EMPTY, _SKIP = "EMPTY COLUMN", "SKIP ROW"
_TESTS = ["enumeration", "value", "record", "primary_key"]  # of a typed row
_MASK, _COMPUTED, _TWICE = "_mask", "_computed_", "_twice"


def has(bit: int) -> Column:
    """Return whether the bit of a constraint is set in ``_mask0``, ``_mask1`` …, its words."""
    word, place = divmod(bit, _WORD)
    return F.col(f"{_MASK}{word}").bitwiseAND(_bits(1 << place)) != 0


@dataclass(frozen=True)
class Checked:
    """The rows of an entity after stage 1; bit i of the mask belongs to ``constraints[i]``.

    ``narrow`` is kept: the key, the attributes to keep, ``_readable``, ``_delete``, ``_skip``, the
    mask, ``_hash_a``, ``_hash_b``, ``_place``; duplicates of the key are marked. Its rows that are
    not skipped have a key, and each another one; ``unreadable`` rows have none, and no ``_hash_a``.
    """

    entity: EntityPlan
    constraints: tuple[Constraint, ...]
    narrow: DataFrame
    unreadable: int
    _kept: DataFrame
    _measures: Mapping[str, Any]
    _staged: Staged
    _rules: _Rules

    def rows(self) -> DataFrame:
        """Return all rows, to be read again.

        They have every attribute, typed and emptied, the flags, mask and hash as ``narrow`` has
        them, except that duplicates of the key are not marked, ``_raw``, the struct of the staged
        columns, and ``_from``; and ``_place`` where the agreement keeps lines.
        """
        return self._read(self._staged.frame, RAW, FROM)

    def values(self) -> DataFrame:
        """Return all rows, to be read again, as `rows` does, without ``_raw`` and ``_from``."""
        return self._read(self._staged.values)

    def rows_at(self, places: DataFrame, number: int) -> DataFrame:
        """Return at least the rows at these places, as `rows` does; all where that costs less.

        Args:
            places: ``_place`` of rows of ``narrow``.
            number: how many there are at most.
        """
        most = min(_MOST_PLACES, self._measures["rows_delivered"] // _SHARE)
        if self._staged.at is None or number > most:
            return self.rows()
        return self._read(self._staged.at(places), RAW, FROM)

    def _read(self, frame: DataFrame, *last: str) -> DataFrame:
        rows, _ = self._rules.rows(self._staged, frame)
        place = [PLACE] if self._staged.stand is not None else []
        return self._rules.flagged(rows, self._rules.names, *last, *place)

    def stand(self, rows: DataFrame) -> DataFrame:
        """Return rows with file and line instead of ``_place``, where the agreement keeps lines."""
        return rows.drop(PLACE) if self._staged.stand is None else self._staged.stand(rows)

    def measures(self) -> dict[str, Any]:
        """Return what `omd_delivery.register_violations` takes for stage 1."""
        return dict(self._measures)

    def in_one_task(self) -> Checked:
        """Return it in one partition; it is released by the other one."""
        return replace(
            self,
            narrow=self.narrow.coalesce(1),
            _staged=self._staged.in_one_task(),
        )

    def release(self) -> None:
        """Free the narrow frame."""
        forget(self._kept)


def check(entity: EntityPlan, staged: Staged, keep: Collection[str] = ()) -> Checked:
    """Check the staged rows of an entity.

    Args:
        entity: the entity in the plan of stage 1.
        keep: attributes that the narrow frame has beside the key.

    Raises:
        DeliveryArgumentInvalid: a staged column can't be cast at all.
        InvalidModel: an expression of the model can't be compiled.
    """
    rules = _Rules(entity)
    rows, lacking = rules.rows(staged, staged.values)
    names = list(dict.fromkeys([*entity.key, *keep]))
    kept = keep_rows(rules.narrow(rows, names))
    try:
        counted = Counter[tuple[int, ...]]()
        unreadable = 0
        masks = kept.groupBy(_is_readable().alias(READABLE), *rules.words).count()
        heads = 0
        for readable, *mask, count in masks.toLocalIterator():
            if rules.head.is_in(mask):
                heads += count
                continue
            counted[tuple(mask)] += count
            unreadable += 0 if readable else count
        is_mistaken = heads != staged.headers or any(rules.torn.is_in(mask) for mask in counted)
    except BaseException:
        forget(kept)
        raise
    if is_mistaken and staged.whole is not None:
        forget(kept)
        return check(entity, staged.whole(), keep)
    measures = rules.measures(counted, staged, lacking)
    return Checked(
        entity,
        entity.constraints,
        rules.flagged(kept, names, PLACE),
        unreadable,
        kept,
        measures,
        staged,
        rules,
    )


@dataclass(frozen=True)
class _Bit:
    """The place of a bit in the words of a mask."""

    word: int
    value: int

    @classmethod
    def at(cls, bit: int) -> _Bit:
        word, place = divmod(bit, _WORD)
        return cls(word, 1 << place)

    def is_in(self, mask: Sequence[int]) -> bool:
        return mask[self.word] & self.value != 0


class _Rules:
    """The constraints of an entity as columns."""

    def __init__(self, entity: EntityPlan) -> None:
        self.entity = entity
        self.names = [a.name for a in entity.attributes]
        self.constraints = entity.constraints
        self.bits = [_Bit.at(n) for n in range(len(self.constraints) + 3)]
        # A part of a record; a header; a row that says a deletion.
        self.torn, self.head, self.deleted = self.bits[-3:]
        self.words = [f"{_MASK}{n}" for n in range(self.deleted.word + 1)]
        self.patterns: set[str] = set()  # that Spark compiles
        self.emptying: dict[str, list[_Bit]] = {}
        for constraint, bit in self._of(["enumeration", "value"]):
            if constraint.action == _EMPTY and constraint.attribute is not None:
                self.emptying.setdefault(constraint.attribute, []).append(bit)

    def _of(self, types: Collection[str], word: int | None = None) -> list[tuple[Constraint, _Bit]]:
        pairs = zip(self.constraints, self.bits, strict=False)
        return [(c, b) for c, b in pairs if c.type in types and word in (None, b.word)]

    def rows(self, staged: Staged, frame: DataFrame) -> tuple[DataFrame, int]:
        """Return staged rows, checked but for duplicates; and how many computed ones lack a column.

        Args:
            staged: what was staged.
        """
        source, computed, lacking = self._computed(replace(staged, frame=frame))
        cast = self._cast(source, computed)
        try:
            return analysed(self._checked(cast)), lacking
        except AnalysisException as error:
            for constraint, _ in self._of(["value", "record"]):
                try:
                    analysed(cast.select(_is_false(constraint)))
                except AnalysisException as own:
                    raise _uncompiled(constraint.code, own) from own
            raise _uncompiled(self.entity.entity, error) from error

    def _computed(self, staged: Staged) -> tuple[DataFrame, set[str], int]:
        """Add the computed attributes that have their staged columns."""
        columns: dict[str, Column] = {}
        lacking = 0
        source = flat(staged) if any(a.computed for a in self.entity.attributes) else staged.frame
        for attribute in self.entity.attributes:
            if attribute.computed is None:
                continue
            try:
                column = F.expr(attribute.computed)
                analysed(source.select(column))
            except AnalysisException as error:
                if not (error.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
                    raise _uncompiled(f"{self.entity.entity}.{attribute.name}", error) from error
                lacking += 1
            else:
                columns[attribute.name] = column.alias(_COMPUTED + attribute.name)
        if columns:
            source = source.select(RAW, *ABOUT, *columns.values())
        return source, set(columns), lacking

    def _cast(self, source: DataFrame, computed: Collection[str]) -> DataFrame:
        """Return the typed attributes, and a mask of those that can't be cast or are missing."""
        entity, raw = self.entity, source.schema[RAW].dataType
        assert isinstance(raw, StructType)  # noqa: S101 - staging makes it so
        columns = []
        lost: dict[tuple[str, str], Column] = {}
        for attribute in entity.attributes:
            name, place = attribute.name, attribute.source
            if name in computed:
                column, of = F.col(_COMPUTED + name), source.schema[_COMPUTED + name].dataType
            elif place in raw.names:
                column, of = F.col(RAW).getField(place), raw[place].dataType
            else:
                column, of = F.lit(None), NullType()
            if attribute.format is not None:
                self._require_pattern(source.sparkSession, attribute)
            said = f"the staged column {place or name} of {entity.entity}"
            value = casts.typed(attribute, column, of, said)
            is_staged = casts.present(attribute, column, of)
            read = regular_column(source, place)
            if read is not None:
                value = F.coalesce(casts.fitting(attribute, *read), value)
                is_staged = casts.present(attribute, *read) | is_staged
            columns.append(value.alias(name))
            # The look at the staged text is for the few that have no value.
            lost["datatype", name] = value.isNull() & is_staged
            lost["mandatory", name] = value.isNull() & ~is_staged
        mark = F.lit(False)
        if entity.indicator_column in raw.names:
            said_mark = F.col(RAW).getField(entity.indicator_column).cast("string")
            read = regular_column(source, entity.indicator_column)
            said_mark = said_mark if read is None else F.coalesce(read[0], said_mark)
            mark = F.coalesce(said_mark == entity.indicator_delete, F.lit(False))
        for n, word in enumerate(self.words):
            own = self._of(["datatype", "mandatory"], n)
            bits = _all(_set(lost[c.type, str(c.attribute)], b) for c, b in own)
            columns.append(bits.alias(word))
        return source.select(*columns, mark.alias(DELETE), *ABOUT, RAW)

    def _require_pattern(self, spark: SparkSession, attribute: Attribute) -> None:
        assert attribute.format is not None  # noqa: S101 - so said the caller
        if attribute.format in self.patterns:
            return
        try:
            spark.range(1).select(F.date_format(F.lit("2000-01-01"), attribute.format)).head()
        except PySparkException as error:
            raise _uncompiled(f"{self.entity.entity}.{attribute.name}", error) from error
        self.patterns.add(attribute.format)

    def _checked(self, cast: DataFrame) -> DataFrame:
        """Return the rows with mask, hash and flags."""
        passed = [DELETE, BAD, PLACE, RAW, FROM]
        late = ["record"] if self.emptying else []
        first = self._masks([t for t in _TESTS if t not in late])
        rows = cast.select(*self.names, *passed, *first)
        if late:
            empties = {name: self._any(bits) for name, bits in self.emptying.items()}
            emptied = [
                F.when(empties[name], None).otherwise(F.col(name)).alias(name)
                if name in empties
                else F.col(name)
                for name in self.names
            ]
            rows = rows.select(*emptied, *passed, *self.words)
            masks = [
                F.when(F.col(BAD) | F.col(DELETE), F.col(word))
                .otherwise(F.col(word).bitwiseOR(self._violated(late, n)))
                .alias(word)
                for n, word in enumerate(self.words)
            ]
            rows = rows.select(*self.names, *passed, *masks)
        hashes = row_hash(self.entity.attributes, F.col, self.entity.key)
        has_key = reduce(Column.__and__, (F.col(name).isNotNull() for name in self.entity.key))
        # A flag less in the narrow frame: only readable rows have a first hash.
        hash_a = F.when(~F.col(BAD) & has_key, hashes[0])
        hashed = [hash_a.alias(HASH_A), hashes[1].alias(HASH_B)]
        return rows.select(*self.names, *self.words, *hashed, PLACE, RAW, FROM)

    def _masks(self, types: Collection[str]) -> list[Column]:
        """Return the words of the mask: what a row violates of these types, and by its casts."""
        marked = F.col(DELETE) & (self.entity.load != "DELTA")
        masks = []
        for n, word in enumerate(self.words):
            unfit = [_bits(b.value) for _, b in self._of(["row_format"], n)]
            for name, bit in ((TORN, self.torn), (HEAD, self.head)):
                if bit.word == n:
                    unfit.append(_set(F.col(name), bit))
            is_deleted = self.deleted.value if self.deleted.word == n else 0
            if is_deleted:
                unfit.append(_set(F.col(DELETE), self.deleted))
            casts_of_key = _bits(
                sum(b.value for c, b in self._of(["datatype"], n) if c.attribute in self.entity.key)
            )
            mask = (
                F.when(F.col(BAD) | marked, _all(unfit))
                .when(
                    F.col(DELETE),
                    F.col(word)
                    .bitwiseAND(casts_of_key)
                    .bitwiseOR(self._violated(["primary_key"], n))
                    .bitwiseOR(_bits(is_deleted)),
                )
                .otherwise(F.col(word).bitwiseOR(self._violated(types, n)))
            )
            masks.append(mask.alias(word))
        return masks

    def _violated(self, types: Collection[str], word: int) -> Column:
        """Return the bits of a word that a typed row sets by its violations of these types."""
        return _all(_set(self._violation(c), b) for c, b in self._of(types, word))

    def _violation(self, constraint: Constraint) -> Column:
        if constraint.type == "primary_key":
            return reduce(Column.__or__, (F.col(name).isNull() for name in self.entity.key))
        if constraint.spark_expression is not None:
            return _is_false(constraint)
        name = constraint.attribute
        assert name is not None  # noqa: S101 - the others are about an attribute
        attribute = self.entity.attribute(name)
        values = [casts.literal(attribute, value) for value in attribute.values or ()]
        return ~F.col(name).isin(*values)

    def _any(self, bits: Iterable[_Bit]) -> Column:
        """Return whether one of these bits is set in the mask."""
        wanted: dict[int, int] = {}
        for bit in bits:
            wanted[bit.word] = wanted.get(bit.word, 0) | bit.value
        tests = [F.col(self.words[w]).bitwiseAND(_bits(v)) != 0 for w, v in wanted.items()]
        return reduce(Column.__or__, tests, F.lit(False))

    def narrow(self, rows: DataFrame, names: Sequence[str]) -> DataFrame:
        """Return these attributes, mask, hash and place; all rows of a duplicate key are marked."""
        ((_, bit),) = self._of(["primary_key"])
        same_key = Window.partitionBy(*self.entity.key)
        twice = F.count(HASH_A).over(same_key) > 1  # of those where it is not NULL
        word = F.col(self.words[bit.word])
        marked = F.when(_is_readable() & F.col(_TWICE), word.bitwiseOR(_bits(bit.value)))
        masks = {name: F.col(name) for name in self.words}
        masks[self.words[bit.word]] = marked.otherwise(word)
        return (
            rows.select(*names, *self.words, HASH_A, HASH_B, PLACE)
            .withColumn(_TWICE, twice)
            .select(*names, *(m.alias(n) for n, m in masks.items()), HASH_A, HASH_B, PLACE)
        )

    def flagged(self, rows: DataFrame, names: Sequence[str], *last: str) -> DataFrame:
        """Return these attributes, the flags that mask and hash tell, both, and what is last.

        A header is no row.
        """
        pairs = zip(self.constraints, self.bits, strict=False)
        skips = self._any(b for c, b in pairs if c.action == _SKIP)
        deletes = self._any([self.deleted])
        flags = [_is_readable().alias(READABLE), deletes.alias(DELETE), skips.alias(SKIP)]
        return rows.where(~self._any([self.head])).select(
            *names, *flags, *self.words, HASH_A, HASH_B, *last
        )

    def measures(
        self, counted: Mapping[tuple[int, ...], int], staged: Staged, lacking: int
    ) -> dict[str, Any]:
        """Return the counts of the stage, from the number of rows of each mask."""
        rows = sum(counted.values())
        violations = {c.code: 0 for c in self.constraints}
        skipped = 0
        skipping = [
            b for c, b in zip(self.constraints, self.bits, strict=False) if c.action == _SKIP
        ]
        for mask, count in counted.items():
            skipped += count * any(b.is_in(mask) for b in skipping)
            for constraint, bit in zip(self.constraints, self.bits, strict=False):
                violations[constraint.code] += count * bit.is_in(mask)
        for constraint in self.constraints:
            if constraint.type == "columns":
                violations[constraint.code] = len(staged.missing) + lacking
            elif constraint.type == "row_count":
                violations[constraint.code] = abs(rows - (self.entity.rows_announced or 0))
        return {
            "rows_delivered": rows,
            "rows_skipped": skipped,
            "violations": {code: {"rows": count} for code, count in violations.items()},
            "findings": dict(staged.findings),
        }


def _is_readable() -> Column:
    """Return whether a row can be read: the others have no hash."""
    return F.col(HASH_A).isNotNull()


def _bits(value: int) -> Column:
    return F.lit(value).cast("bigint")


def _set(condition: Column, bit: _Bit) -> Column:
    return F.when(condition, _bits(bit.value)).otherwise(_bits(0))


def _all(bits: Iterable[Column]) -> Column:
    """Return the union of bits, as a balanced tree."""
    level = list(bits) or [_bits(0)]
    while len(level) > 1:
        pairs = [level[n : n + 2] for n in range(0, len(level), 2)]
        level = [p[0].bitwiseOR(p[1]) if len(p) == 2 else p[0] for p in pairs]
    return level[0]


def _is_false(constraint: Constraint) -> Column:
    """Return whether a check is false; NULL is not."""
    return ~F.expr(f"({constraint.spark_expression})")


def _uncompiled(place: str, error: PySparkException) -> OmdError:
    reason = str(error).strip().partition("\n")[0]
    return InvalidModel(f"{place} can't be compiled by Spark: {reason}")
