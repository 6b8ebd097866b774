"""Lints the SQL in the bodies of routines, which sqlfluff takes for one long text.

It takes the statements and expressions out of each dollar-quoted body, cuts what only PL/pgSQL
knows (a target, INTO, PERFORM, the keywords of control), and lets sqlfluff lint the rest with the
project's own rules. What is no statement of PL/pgSQL is left as it stands, so sqlfluff says that
it can't be parsed. Line numbers are those of the file.

    python tools/lint_bodies.py [FILE or FOLDER ...]
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sqlfluff.core import FluffConfig, Linter

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 100
FOLDERS = ("procedures", "sql", "migrations")

# An expression stands where sqlfluff parses each kind of it, EXISTS and IS DISTINCT FROM too.
_VALUE = "SELECT 1 WHERE "

# Rules that ask for what a body does not have. A fragment is moved to the left margin and has
# another beginning, so it says nothing about the indentation and line breaks of the whole (LT02,
# LT07, LT12, LT13, LT15). Variables are no columns (RF01, AL09). What fills variables or is
# returned is named by them (AL03, AL08), has its few targets on one line (LT09), and may be a whole
# row (AM04, AM07). Any one row is enough for a look (AM09). USING joins by a column of one name
# (ST07), and then no alias is needed (AL04, AL05, ST11). Loops are ordered as their bodies ask
# (AM03, AM06), and conditions of joins as a reader thinks (ST09).
NOT_OF_FRAGMENTS = (
    *("LT02", "LT07", "LT12", "LT13", "LT15", "RF01", "AL09", "AL03", "AL08", "LT09", "AM04"),
    *("AM07", "AM09", "ST07", "AL04", "AL05", "ST11", "AM03", "AM06", "ST09"),
)

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
    | (?P<comment>--[^\n]*|/\*.*?\*/)
    | (?P<text>[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*")
    | (?P<dollar>\$(?P<tag>[A-Za-z_]\w*|)\$.*?\$(?P=tag)\$)
    | (?P<word>[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<mark>:=|\.\.|::|<<|>>|.)
    """,
    re.VERBOSE | re.DOTALL,
)
# What sqlfluff takes for something else: the brackets of a function, the names of columns, the end
# of an expression. What stands instead is hardly longer, so no line gets too long by it.
_INSTEAD = (
    (re.compile(r"OPERATOR\(pg_catalog\.([^)\s]+)\)"), r"\1"),
    (re.compile(r"\b(FOUND|SQLERRM|SQLSTATE|TG_[A-Z_]+)\b"), lambda match: match[0].lower()),
    (re.compile(r"\bARRAY\((?=\s*(WITH|SELECT)\b)"), "("),
    (re.compile(r"\bALTER ROUTINE\b"), "ALTER FUNCTION"),
    (re.compile(r"\bIS NOT DISTINCT FROM\b"), "="),
    (re.compile(r"\bIS DISTINCT FROM\b"), "<>"),
)
# It says of these that the name of a function is in lower case and has no space behind it.
_NO_FUNCTION = re.compile(r"\b(EXISTS|DISTINCT) \(")
_BODY = re.compile(r"\$(?P<tag>[A-Za-z_]\w*|)\$(?P<body>.*?)\$(?P=tag)\$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, sign, text or number of a body, and where it stands in the file."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word in capitals; empty for anything else."""
        return self.text.upper() if self.kind == "word" else ""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a body that is SQL: ``before`` makes a statement of it; ``cuts`` are left out."""

    start: int
    end: int
    before: str = ""
    cuts: tuple[tuple[int, int], ...] = ()


class Body:
    """The statements of one body of PL/pgSQL, from its first to its last token."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self.fragments: list[Fragment] = []

    def read(self) -> list[Fragment]:
        """Return what is SQL in it."""
        while self._at < len(self._tokens):
            self._statement()
        return self.fragments

    # Tokens ---------------------------------------------------------------------------------

    def _word(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._tokens[place].word if place < len(self._tokens) else ""

    def _mark(self, ahead: int = 0) -> str:
        place = self._at + ahead
        if place >= len(self._tokens):
            return ""
        token = self._tokens[place]
        return token.text if token.kind == "mark" else ""

    def _until(self, *ends: str) -> int:
        """Return the place of the next of these words or marks outside of brackets and CASE."""
        depth = cases = 0
        for place in range(self._at, len(self._tokens)):
            token = self._tokens[place]
            if token.kind == "mark":
                if depth == 0 and token.text in ends:
                    return place
                depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
            elif depth == 0 and cases == 0 and token.word in ends:
                return place
            elif token.word == "CASE":
                cases += 1
            elif token.word == "END" and cases:
                cases -= 1
        return len(self._tokens)

    def _add(
        self, first: int, last: int, before: str = "", cuts: tuple[tuple[int, int], ...] = ()
    ) -> None:
        """Add the tokens from the first up to, and without, the last one."""
        if first < last:
            tokens = self._tokens
            self.fragments.append(Fragment(tokens[first].start, tokens[last - 1].end, before, cuts))

    def _expression(self, *ends: str) -> None:
        """Add what comes up to one of these ends as an expression, and go behind that end."""
        place = self._until(*ends)
        self._add(self._at, place, _VALUE)
        self._at = place + 1

    def _skip(self, *ends: str) -> None:
        self._at = self._until(*ends) + 1

    # Statements -----------------------------------------------------------------------------

    def _statement(self) -> None:
        word = self._word()
        method = getattr(self, f"_of_{word.lower()}", None) if word else None
        if self._mark() == "<<":
            self._skip(">>")
        elif self._is_assignment():
            self._skip(":=")
            self._expression(";")
        elif method is not None:
            method()
        else:
            self._sql()

    def _is_assignment(self) -> bool:
        place = self._until(":=", ";")
        return (
            place < len(self._tokens)
            and self._tokens[place].text == ":="
            and self._tokens[self._at].kind in ("word", "quoted")
            and self._tokens[self._at + 1].text in (":=", ".", "[")
        )

    def _sql(self, before: str = "", start: int | None = None) -> None:
        """Add a statement of SQL up to its semicolon, without the variables behind INTO."""
        end = self._until(";")
        first = self._at if start is None else start
        self._add(first, end, before, self._into(first, end))
        self._at = end + 1

    def _into(self, first: int, end: int) -> tuple[tuple[int, int], ...]:
        """Return the part INTO variables of a SELECT or behind RETURNING, which is no SQL."""
        tokens = self._tokens
        here, self._at = self._at, first
        while (place := self._until("INTO", ";")) < end and tokens[place].word == "INTO":
            self._at = place + 1
            if place > first and tokens[place - 1].word in ("INSERT", "MERGE"):
                continue
            last = place + 1
            if tokens[last].word == "STRICT":
                last += 1
            while last < end:
                last += 1  # a name
                while last < end and tokens[last].text in (".", "["):
                    last += 2 if tokens[last].text == "." else 3
                if last >= end or tokens[last].text != ",":
                    break
                last += 1
            self._at = here
            # What separates the part from what is before it goes too.
            return ((tokens[place - 1].end, tokens[last - 1].end),)
        self._at = here
        return ()

    def _of_declare(self) -> None:
        self._at += 1
        while self._at < len(self._tokens) and self._word() != "BEGIN":
            end = self._until(";")
            begin = self._until(":=", "DEFAULT", "FOR", "IS", ";")
            if begin < end:
                word = self._tokens[begin].word
                self._at = begin + 1
                self._add(begin + 1, end, "" if word in ("FOR", "IS") else _VALUE)
            self._at = end + 1

    def _of_begin(self) -> None:
        self._at += 1

    _of_loop = _of_else = _of_exception = _of_begin

    def _of_end(self) -> None:
        self._skip(";")

    _of_null = _of_get = _of_commit = _of_rollback = _of_fetch = _of_close = _of_move = _of_end

    def _of_when(self) -> None:
        """Of an exception handler these are names of conditions; of a CASE they are values."""
        end = self._until("THEN")
        following = [token.word for token in self._tokens[self._at + 1 : end] if token.word]
        is_condition = all(
            word in ("OR", "OTHERS", "SQLSTATE") or not word.startswith("V_") for word in following
        )
        if not is_condition:
            self._add(self._at + 1, end, _VALUE)
        self._at = end + 1

    def _of_if(self) -> None:
        self._at += 1
        self._expression("THEN")

    _of_elsif = _of_if

    def _of_while(self) -> None:
        self._at += 1
        self._expression("LOOP")

    def _of_case(self) -> None:
        self._at += 1
        if self._word() != "WHEN":
            self._expression("WHEN")
            self._at -= 1

    def _of_foreach(self) -> None:
        self._skip("ARRAY")
        self._expression("LOOP")

    def _of_for(self) -> None:
        self._skip("IN")
        end = self._until("LOOP")
        if self._word() == "EXECUTE":
            self._of_execute("LOOP")
        elif (dots := self._until("..")) < end:
            self._at += self._word() == "REVERSE"
            self._add(self._at, dots, _VALUE)
            self._at = dots + 1
            self._expression("LOOP")
        else:
            self._add(self._at, end)
            self._at = end + 1

    def _of_exit(self) -> None:
        self._at += 1
        if self._until("WHEN") < self._until(";"):
            self._skip("WHEN")
            self._expression(";")
        else:
            self._skip(";")

    _of_continue = _of_exit

    def _of_return(self) -> None:
        self._at += 1
        if self._word() == "QUERY":
            self._at += 1
            if self._word() == "EXECUTE":
                self._of_execute(";")
            else:
                self._sql()
        else:
            self._at += self._word() == "NEXT"
            self._expression(";")

    def _of_raise(self) -> None:
        """Add the values behind USING; a bare RAISE and a format have none."""
        end = self._until(";")
        self._at += 1
        if (using := self._until("USING")) < end:
            self._at = using + 1
            while self._at < end:
                self._skip("=", ":=")
                place = min(self._until(","), end)
                self._add(self._at, place, _VALUE)
                self._at = place + 1
        self._at = end + 1

    def _of_perform(self) -> None:
        self._at += 1
        self._sql("SELECT ")

    def _of_execute(self, end: str = ";") -> None:
        self._at += 1
        last = self._until(end)
        place = min(self._until("INTO", "USING", end), last)
        self._add(self._at, place, _VALUE)
        self._at = place
        if (using := self._until("USING")) < last:
            self._add(using + 1, last, "SELECT ")
        self._at = last + 1

    def _of_assert(self) -> None:
        self._at += 1
        self._expression(";")

    def _of_open(self) -> None:
        self._skip("FOR")
        if self._word() == "EXECUTE":
            self._of_execute()
        else:
            self._sql()


@dataclass(frozen=True, slots=True)
class Document:
    """What sqlfluff gets of a file; ``lines`` has the line of the file of each of its lines."""

    text: str
    lines: list[int]


def _tokens(text: str, start: int, end: int) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(text, start, end):
        kind = match.lastgroup if match.lastgroup != "tag" else "dollar"
        if kind not in ("space", "comment"):
            found.append(Token(str(kind), match[0], match.start(), match.end()))
    return found


def fragments_of(text: str) -> list[Fragment]:
    """Return what is SQL in the bodies of a file."""
    found: list[Fragment] = []
    for match in _BODY.finditer(text):
        tokens = _tokens(text, match.start("body"), match.end("body"))
        *_, head = re.split(r"^(?=CREATE|DO)\b", text[: match.start()], flags=re.MULTILINE)
        if re.search(r"\bLANGUAGE\s+sql\b", head, re.IGNORECASE):
            if tokens:
                found.append(Fragment(tokens[0].start, tokens[-1].end))
        elif tokens and tokens[0].word in ("DECLARE", "BEGIN"):
            found.extend(Body(tokens).read())
    return found


def document_of(text: str) -> Document:
    """Return the fragments of a file as statements at the left margin."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    written: list[str] = []
    lines: list[int] = []
    for fragment in fragments_of(text):
        first = bisect_right(starts, fragment.start)
        begin = starts[first - 1]
        line = text[begin : text.find("\n", begin)]
        indent = len(line) - len(line.lstrip())
        content = text[fragment.start : fragment.end]
        for cut_start, cut_end in reversed(fragment.cuts):
            lost = text[cut_start:cut_end].count("\n")
            content = (
                content[: cut_start - fragment.start]
                + "\n" * lost
                + content[cut_end - fragment.start :]
            )
        for pattern, instead in _INSTEAD:
            content = pattern.sub(instead, content)
        content = content.rstrip().removesuffix(";")
        told = (fragment.before + content + ";").split("\n")
        for number, piece in enumerate(told):
            margin = len(piece) - len(piece.lstrip())
            written.append(piece if number == 0 else piece[min(indent, margin) :])
            lines.append(first + number)
        written.append("")
        lines.append(first + len(told) - 1)
    return Document("\n".join(written), lines)


@cache
def _linter() -> Linter:
    """Return the linter with the rules of the project; to make one takes a tenth of a second."""
    excluded = {*FluffConfig.from_path(str(ROOT)).get("rule_denylist"), *NOT_OF_FRAGMENTS}
    return Linter(
        config=FluffConfig.from_path(str(ROOT), overrides={"exclude_rules": ",".join(excluded)})
    )


def problems(file: Path) -> list[str]:
    """Return what is wrong in the bodies of a file, as ``file:line: rule text``."""
    text = file.read_text(encoding="utf-8")
    document = document_of(text)
    if not document.text:
        return []
    told, lines = document.text.split("\n"), text.split("\n")
    found = []
    for violation in _linter().lint_string(document.text).get_violations():
        place = min(violation.line_no, len(told)) - 1
        rule = violation.rule_code()
        if rule == "LT05" and len(lines[document.lines[place] - 1]) <= LONGEST:
            continue  # the beginning that was put before it made it longer
        if not (rule in ("LT01", "LT06", "CP03") and _NO_FUNCTION.search(told[place])):
            found.append(f"{file}:{document.lines[place]}: {rule} {violation.desc()}")
    return found


def main(arguments: list[str]) -> int:
    """Lint the files; return 1 if anything is wrong."""
    given = [Path(argument) for argument in arguments or [str(ROOT / f) for f in FOLDERS]]
    files = [
        file
        for path in given
        for file in (sorted(path.rglob("*.sql")) if path.is_dir() else [path])
    ]
    with ProcessPoolExecutor() as pool:
        found = [line for lines in pool.map(problems, files, chunksize=8) for line in lines]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
