"""The words of Spark SQL, and what each of them may do in a model.

This is no parser: it tells strings, quoted names and comments from the rest as Spark does, and
looks at each word by its neighbours. A name that stands before a parenthesis is called, unless it
stands where Spark's grammar has no call. What it does not know it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

NAME, QUOTED, STRING, NUMBER, SIGN, END = "name", "quoted", "string", "number", "sign", ""

# A line that ends in a backslash continues a comment. `1.` is a number unless a name follows.
_LEXER = re.compile(
    r"""(?P<space>[ \t\n\f\r\v\u00A0\u1680\u2000-\u200A\u2028\u202F\u205F\u3000]+
        |--(?:\\\n|[^\r\n])*)
    |(?P<comment>/\*(?!\+))
    |(?P<string>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|[rR]'[^']*'|[rR]"[^"]*")
    |(?P<quoted>`(?:[^`]|``)*`)
    |(?P<number>(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?(?:[fFdD]|[bB][dD])?(?![A-Za-z0-9_])
        |\d+[eE][-+]\d+(?:[fFdD]|[bB][dD])?|\d+(?![A-Za-z0-9_]))
    |(?P<name>[A-Za-z0-9_]+)
    |(?P<sign>/\*\+|\*/|\|>|\|\||::|->|<=>|=>|[<>!=]=|<>|!<|!>|<<|>{2,3}
        |[-+*/%<>=!&|^~.,()\[\]:;?])""",
    re.VERBOSE | re.DOTALL,
)
_OPEN, _CLOSE = {"(": ")", "[": "]"}, {")", "]"}

# After these an operand or a relation may begin, so what is called there is a function.
_BEFORE = """
ALL AND ANTI ANY ARRAY AS BETWEEN BOTH BY CASE COLLATE CROSS CURRENT DEFAULT DISTINCT DIV ELSE
ESCAPE EXCEPT EXISTS EXTRACT FILTER FOR FROM FULL GROUP GROUPING HAVING ILIKE IN INNER INTERSECT
INTERVAL INTO IS JOIN LATERAL LEADING LEFT LIKE LIMIT MAP MINUS NATURAL NOT OF OFFSET ON OR ORDER
OUTER OVER PARTITION PLACING QUALIFY RANGE RECURSIVE REDUCE REGEXP RIGHT RLIKE ROWS SELECT SEMI
SET SETMINUS SOME STREAM STRUCT TABLE THEN TO TRAILING TRANSFORM UNION USING VALUES VIEW WHEN
WHERE WINDOW WITH WITHIN ZONE
"""
# These stand before a parenthesis where an operand or a relation has ended.
_BEHIND = """
AS EXCEPT FOR FROM HAVING INTERSECT JOIN LIMIT MINUS OFFSET ON PIVOT PLACING SETMINUS THEN ELSE
UNION UNPIVOT USING WHERE
"""
_AFTER = {  # these stand there after a word
    "BY": {"CLUSTER", "DISTRIBUTE", "GROUP", "ORDER", "PARTITION", "SORT"},
    "GROUP": {"WITHIN"},
    "JOIN": {"ANTI", "CROSS", "FULL", "INNER", "LEFT", "OUTER", "RIGHT", "SEMI"},
    "NULLS": {"EXCLUDE", "INCLUDE"},
    "OVER": {")", "NULLS"},
    "SETS": {"GROUPING"},
}
_SET_OPERATIONS = frozenset({"EXCEPT", "INTERSECT", "MINUS", "SETMINUS", "UNION"})
_QUERIES = frozenset({"FROM", "SELECT", "VALUES", "WITH"})  # a query begins with one of them
# A clause that ends those before it.
_CLAUSES = _SET_OPERATIONS | {
    *("CLUSTER", "DISTRIBUTE", "FROM", "HAVING", "LIMIT", "OFFSET", "ORDER", "SELECT", "SORT"),
    *("WHERE", "WINDOW"),
}
_NEVER = frozenset({"INTO", "TABLESAMPLE", "WATERMARK"})
_NO_ALIASES = _NEVER | {"IDENTIFIER", "REPEATABLE", "TRANSFORM"}
# Of these alone DISTINCT may stand before the argument.
_AGGREGATES = """
array_agg avg collect_list collect_set count listagg max mean min stddev string_agg sum variance
"""
_BEFORE_OPERAND = frozenset(_BEFORE.split())
_AFTER_OPERAND = frozenset(_BEHIND.split())
_OF_ROWS = frozenset(_AGGREGATES.split())
_TAKING_FROM = frozenset({"extract", "overlay", "substr", "substring", "trim"})
_MOMENTS = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ"})
_MOMENT = re.compile(r"['\"]\s*(?:epoch\b|[-+]?\d)", re.IGNORECASE)


class NotPermittedError(Exception):
    """What an expression or a query may not use."""


class NoTreeError(Exception):
    """Why the tables of a query can't be known."""


class Word(NamedTuple):
    """A word, a literal or a sign.

    Args:
        kind: one of the kinds above.
        text: as it is written; a quoted name without its quotes.
    """

    kind: str
    text: str

    @property
    def upper(self) -> str:
        """The keyword or the sign that it may be; nothing for a quoted name or a literal."""
        return self.text.upper() if self.kind in (NAME, SIGN) else ""

    @property
    def is_name(self) -> bool:
        """Whether it may be a name."""
        return self.kind in (NAME, QUOTED)


_NOTHING = Word(END, "")


def words(text: str) -> list[Word]:
    """Return the words of a text, without comments and hints.

    Raises:
        NotPermittedError: a character, a quote or a comment is none of Spark's.
    """
    lexed: list[Word] = []
    at = 0
    while at < len(text):
        match = _LEXER.match(text, at)
        if match is None:
            raise NotPermittedError(f"the character {text[at]!r} there")
        at = match.end()
        kind, word = str(match.lastgroup), match[0]
        if kind == "comment":
            at = _after_comment(text, at)
        elif kind == QUOTED:
            lexed.append(Word(kind, word[1:-1].replace("``", "`")))
        elif kind != "space":
            lexed.append(Word(kind, word))
    return _without_hints(lexed)


def _after_comment(text: str, at: int) -> int:
    """Return where a comment ends whose beginning has been read; there may be comments in it."""
    depth = 1
    for match in re.compile(r"\*/|/\*(?!\+)").finditer(text, at):
        depth += 1 if match[0] == "/*" else -1
        if not depth:
            return match.end()
    raise NotPermittedError("a comment that does not end")


def _without_hints(lexed: list[Word]) -> list[Word]:
    """Return the words outside of hints; in a hint are names and their arguments."""
    left: list[Word] = []
    depth = -1  # outside
    for word, following in zip(lexed, [*lexed, _NOTHING][1:], strict=True):
        if word.upper == "/*+" and depth < 0:
            depth = 0
        elif depth < 0 and word.upper != "*/":
            left.append(word)
        elif word.upper == "*/" and not depth:
            depth = -1
        elif word.upper in ("(", ")"):
            depth += 1 if word.upper == "(" else -1
            if not 0 <= depth <= 1:
                raise NotPermittedError("such a hint")
        elif word.kind == SIGN and word.upper not in (",", "."):
            raise NotPermittedError(f"{word.text} there")
        elif depth and following.upper == "(":
            raise NotPermittedError(f"the function {word.text}")
    if depth >= 0:
        raise NotPermittedError("a hint that does not end")
    return left


class Look:
    """A look at each word of a text.

    Args:
        lexed: its words.
        functions: the names of functions that may be called, in small letters.
        is_relation: whether a name is one of what may be read, apart from the queries of WITH.
    """

    def __init__(
        self,
        lexed: list[Word],
        functions: Collection[str],
        is_relation: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.words = lexed
        self.functions = functions
        self.is_relation = is_relation
        self.called: set[str] = set()
        self._opened: dict[int, int] = {}  # where the parenthesis opened in which a word stands
        self._ends: dict[int, int] = {}
        self._pair()
        self._queries: set[int] = set()  # the names of WITH
        for at, word in enumerate(lexed):
            if word.upper == "WITH" and self._at(at - 1).upper in ("", "("):
                self._with(at)
        self._names = {lexed[at].text.lower() for at in self._queries}

    def expression(self) -> None:
        """Require that each word is permitted, in an expression."""
        for at in range(len(self.words)):
            self._look(at)

    def query(self) -> None:
        """Require that each word is permitted, in a query; semicolons may follow it."""
        while self.words and self.words[-1].upper == ";":
            self.words.pop()
        at = 0
        while self._at(at).upper == "(":
            at += 1
        if self._at(at).upper not in _QUERIES:
            raise NotPermittedError(f"{self._at(at).text or 'nothing'}, which is no query")
        self.expression()

    def columns(self, names: Collection[str]) -> set[str]:
        """Return the words that may be columns of these names, or what Spark takes the names for.

        Args:
            names: in small letters.
        """
        return {
            word.text
            for at, word in enumerate(self.words)
            if word.is_name
            and word.text.lower() in names
            and self._at(at - 1).upper not in (".", "AS")
            and self._at(at + 1).upper not in (".", "(")
        }

    def _at(self, at: int) -> Word:
        return self.words[at] if 0 <= at < len(self.words) else _NOTHING

    def _pair(self) -> None:
        opened = [-1]
        for at, word in enumerate(self.words):
            if word.upper in _CLOSE:
                begin = opened.pop()
                if begin < 0 or _OPEN[self.words[begin].upper] != word.upper:
                    raise NotPermittedError(f"{word.text} that closes nothing")
                self._ends[begin] = at
            self._opened[at] = opened[-1]
            if word.upper in _OPEN:
                opened.append(at)
        if len(opened) > 1:
            raise NotPermittedError(f"{self.words[opened[-1]].text} that is not closed")

    def _with(self, at: int) -> None:
        """Note the names of a WITH, and require that a query follows them."""
        at += 1 + (self._at(at + 1).upper == "RECURSIVE" and self._at(at + 2).is_name)
        while self._at(at).is_name:
            name, at = at, at + 1
            if self._at(at).upper == "(":
                if not self._is_list_of_names(at):
                    return
                at = self._ends[at] + 1
            at += self._at(at).upper == "AS"
            if self._at(at).upper != "(":
                return
            self._queries.add(name)
            at = self._ends[at] + 1
            if self._at(at).upper != ",":
                break
            at += 1
        if self._at(at).upper not in ("(", *_QUERIES - {"WITH"}):
            raise NotPermittedError(f"{self._at(at).text or 'nothing'}, which is no query")

    def _look(self, at: int) -> None:
        word, before, after = self.words[at], self._at(at - 1), self._at(at + 1)
        upper = word.upper
        if upper in (";", "?", "|>"):
            raise NotPermittedError(word.text)
        if upper == ":" and not self._is_ended(at - 1):
            raise NotPermittedError(f":{after.text}, a parameter")
        if word.kind == STRING and before.upper in _MOMENTS and not _MOMENT.match(word.text):
            raise NotPermittedError(f"{before.text}{word.text}, which may be of the moment")
        if before.upper == ".":
            if word.is_name and after.upper == "(":
                name = f"{self._at(at - 2).text}.{word.text}"
                raise NotPermittedError(f"the function {name}")
            return
        if upper in _NEVER:
            raise NotPermittedError(word.text)
        if upper == "USING" and after.upper != "(":
            raise NotPermittedError(f"USING {after.text}")
        if upper == "TABLE" and (after.is_name or after.upper == "("):
            raise NotPermittedError(f"TABLE {after.text}")
        if upper == "STREAM" and after.is_name and after.upper not in _BEFORE_OPERAND:
            raise NotPermittedError(f"STREAM {after.text}")
        if upper == "OF" and before.upper == "AS":
            raise NotPermittedError("AS OF")
        if upper == "INSERT" and after.upper in ("OVERWRITE", "LOCAL", "DIRECTORY"):
            raise NotPermittedError("INSERT")
        if upper in ("FROM", "JOIN"):
            self._require_relation(at)
        if after.upper == "(":
            self._require_call(at)

    def _require_relation(self, at: int) -> None:
        """Require that what follows FROM or JOIN is an entity, where it is a name."""
        if self.words[at].upper == "FROM":
            if self._is_compared(at - 1):
                return
            opened = self._opened[at]
            if opened >= 0 and self._at(opened - 1).text.lower() in _TAKING_FROM:
                return
        at += 1
        while self._at(at).upper in ("(", "LATERAL"):
            at += 1
        name = self._at(at)
        if not name.is_name or name.upper in _QUERIES:
            return
        following = self._at(at + 1)
        if following.upper == "(":
            return  # a function
        parts = [name.text]
        while self._at(at + 1).upper == ".":
            parts.append(self._at(at + 2).text)
            at += 2
        is_known = name.text.lower() in self._names or self.is_relation(name.text)
        if len(parts) > 1 or not is_known:
            raise NotPermittedError(f"{'.'.join(parts)}, which is no entity that it may read")

    def _require_call(self, at: int) -> None:
        """Require that what stands before a parenthesis is no call, or one that is permitted."""
        word = self.words[at]
        if word.kind == SIGN:
            if word.upper in _CLOSE:
                raise NotPermittedError(f"{word.text}( there")
            return
        if word.is_name:
            name = word.text.lower()
            if name in self.functions:
                self.called.add(name)
                return
            if at in self._queries or self._is_no_call(at):
                return
        raise NotPermittedError(f"the function {word.text}")

    def _is_no_call(self, at: int) -> bool:
        """Whether a name before a parenthesis stands where the grammar has no call of it."""
        word, before = self.words[at], self._at(at - 1)
        upper, is_ended = word.upper, self._is_ended(at - 1)
        if self._at(at + 2).upper == ")":
            return False  # nothing is in the parenthesis
        if upper in _AFTER and before.upper in _AFTER[upper]:
            return True
        if upper in _AFTER_OPERAND and is_ended:
            return True
        special: dict[str, Callable[[int], bool]] = {
            "ALL": self._is_all,
            "CASE": self._is_case,
            "CUBE": self._is_grouped,
            "DISTINCT": self._is_distinct,
            "FROM": lambda at: self._is_compared(at - 1),
            "LATERAL": lambda at: (
                self._at(at - 1).upper in (",", "FROM", "JOIN")
                and self._at(at + 2).upper == "SELECT"
                and (self._at(at + 3).is_name or self._at(at + 3).kind in (STRING, NUMBER))
                and self._at(at + 3).upper not in _BEFORE_OPERAND
            ),
            "ROLLUP": self._is_grouped,
            "SELECT": self._is_select,
            "VALUES": self._is_values,
            "WHERE": lambda at: (
                self._at(at - 1).upper == "(" and self._at(at - 2).upper == "FILTER"
            ),
        }
        if upper in special:
            return special[upper](at)
        if upper in _NO_ALIASES or (upper in _BEFORE_OPERAND and before.upper != "AS"):
            return False
        # The type of a cast, or the names of columns behind that of a relation.
        return before.upper in ("AS", "::") or (is_ended and self._is_list_of_names(at + 1))

    def _is_ended(self, at: int) -> bool:
        """Whether an operand or a relation ends with a word."""
        word, before = self._at(at), self._at(at - 1)
        if word.upper == "*":  # all columns, or a product
            return not self._is_ended(at - 1)
        if word.kind == NAME:
            return before.upper == "." or word.upper not in _BEFORE_OPERAND
        return word.upper in _CLOSE or word.kind in (QUOTED, STRING, NUMBER)

    def _is_list_of_names(self, at: int) -> bool:
        """Whether a parenthesis that opens has names and commas alone in it."""
        inner = self.words[at + 1 : self._ends[at]]
        return len(inner) % 2 == 1 and all(
            word.is_name if n % 2 == 0 else word.upper == "," for n, word in enumerate(inner)
        )

    def _beside(self, at: int) -> list[Word]:
        """Return the words behind one that stand in the same parenthesis, not those deeper in."""
        opened = self._opened[at]
        lexed = []
        at += 1
        while at < len(self.words) and self._opened[at] >= opened:
            if self._opened[at] == opened:
                lexed.append(self.words[at])
            at += 1
        return lexed

    def _is_compared(self, at: int) -> bool:
        """Whether a word is that of IS DISTINCT FROM."""
        before = self._at(at - 1).upper
        is_not = before == "NOT" and self._at(at - 2).upper == "IS"
        return self._at(at).upper == "DISTINCT" and (before == "IS" or is_not)

    def _is_all(self, at: int) -> bool:
        return self._at(at - 1).upper in _SET_OPERATIONS | {"ILIKE", "LIKE"}

    def _is_distinct(self, at: int) -> bool:
        before = self._at(at - 1).upper
        if before == "(":
            return self._at(at - 2).text.lower() in _OF_ROWS
        return before == "SELECT" or before in _SET_OPERATIONS

    def _is_case(self, at: int) -> bool:
        """Whether WHEN follows, which is of no CASE behind it."""
        depth = 0
        for word in self._beside(at):
            if word.upper in ("CASE", "END"):
                depth += 1 if word.upper == "CASE" else -1
            if word.upper == "," or word.upper in _CLAUSES or depth < 0:
                return False
            if word.upper == "WHEN" and not depth:
                return not self._is_ended(at - 1)
        return False

    def _is_grouped(self, at: int) -> bool:
        """Whether it stands in GROUP BY, and alone."""
        after = self._at(self._ends[at + 1] + 1).upper
        if after not in ("", ",", ")") and after not in _CLAUSES:
            return False
        opened = self._opened[at]
        for other in range(at - 1, opened, -1):
            if self._opened[other] != opened:
                continue
            upper = self.words[other].upper
            if upper == "BY":
                return self._at(other - 1).upper == "GROUP" and (
                    other == at - 1 or self._at(at - 1).upper == ","
                )
            if upper in _CLAUSES:
                return False
        return False

    def _is_select(self, at: int) -> bool:
        before = self._at(at - 1).upper
        if before in ("ALL", "DISTINCT"):
            return self._at(at - 2).upper in _SET_OPERATIONS
        if before == "(" and self._at(at - 2).upper not in ("AS", "FROM", "JOIN"):
            # Spark takes it for a call, if it can: x IN (SELECT (y)), (SELECT (y), 1).
            return any(word.upper == "FROM" for word in self._beside(at))
        return before in ("", "(") or before in _SET_OPERATIONS or self._is_ended(at - 1)

    def _is_values(self, at: int) -> bool:
        before = self._at(at - 1).upper
        if before == "(":
            return self._at(at - 2).upper in ("AS", "FROM", "JOIN")
        return before in ("", "FROM", "JOIN") or before in _SET_OPERATIONS
