"""``omd demo NAME`` plays a page: in a server of its own, of which nothing is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import psycopg
import pytest

from omd.programs import embedded
from omd.programs.demo import player
from omd.programs.demo.pages import Page
from support.workers import until

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACES = {
    **dict.fromkeys(("OMD_DSN", "DATABASE_URL"), "postgresql://production.invalid/dwh"),
    **dict.fromkeys(
        ("PGHOST", "PGSERVICE", "PGDATABASE", "PGOPTIONS", "PGSERVICEFILE", "PGPASSFILE"),
        "production.invalid",
    ),
    **dict.fromkeys(
        ("OMD_HOME", "SPARK_HOME", "SPARK_REMOTE", "SPARK_CONF_DIR", "OPENLINEAGE_URL"),
        "/production.invalid",
    ),
}
BEGIN = "# A page\n\n<!-- examples: without OMD -->\n\n"


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of somebody who works with a database in production."""
    for name, value in PLACES.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which temporary ones are made; a socket in one below has too long a path."""
    with tempfile.TemporaryDirectory(prefix="omd-test-") as above:
        folder = Path(above) / ("t" * 40)  # not pytest's, which other runs close for the server
        folder.mkdir()
        monkeypatch.setenv("TMPDIR", str(folder))
        monkeypatch.setattr("tempfile.tempdir", None)
        yield folder


def page(folder: Path, text: str) -> Page:
    (folder / "page.txt").write_text(BEGIN + textwrap.dedent(text).lstrip(), encoding="utf-8")
    return Page("page.txt", root=folder)


def left(folder: Path) -> list[Any]:
    """Return what is left of a play: files, and processes that know the folder."""
    found: list[Any] = list(folder.iterdir())
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and str(folder) in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            pass
    return found


def test_no_command_learns_of_a_database_of_the_user(
    places: None, temporary: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = dict(os.environ)
    told = page(
        tmp_path,
        """
        ```sql
        SELECT current_database(), inet_server_addr() IS NULL AS is_here;
        \\! env
        ```
        ```console
        $ env; omd embedded status
        …
        ```
        ```python run
        import os
        import psycopg

        print(os.environ)
        print(psycopg.connect("").info.host)
        ```
        """,
    )
    assert player.play(told) == 0
    shown, errors = capfd.readouterr()
    assert "production" not in shown + errors
    assert re.search(r"omd +\| t\n", shown)
    assert str(temporary) in shown.splitlines()[-1]
    assert left(temporary) == []
    assert dict(os.environ) == before


def test_each_command_is_shown_as_typed_and_then_what_it_prints(
    temporary: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told = page(
        tmp_path,
        """
        ## First

        ```yaml sub/x.yaml
        a: 1
        ```
        ```console
        $ cat \\
            sub/x.yaml
        a: 2
        $ echo it fails; false
        it fails
        ```
        ```
        never typed
        ```

        ## Second

        ```sql
        SELECT 1 AS one;
        SELECT 1 / 0;
        ```
        ```text
         one
        …
        ERROR:  division by zero
        ```
        ```python run
        import sys

        print("out")
        print("a log", file=sys.stderr)
        ```
        """,
    )
    assert player.play(told) == 0
    shown = capfd.readouterr().out.partition("\n")[2]
    assert shown == textwrap.dedent(
        """
        page.txt

        First

        $ cat >sub/x.yaml <<'END'
        a: 1
        END

        $ cat \\
            sub/x.yaml
        a: 1

        $ echo it fails; false
        it fails

        Second

        omd=# SELECT 1 AS one;
              SELECT 1 / 0;
         one{}
        -----
           1
        (1 row)

        ERROR:  division by zero

        $ python - <<'END'
        import sys

        print("out")
        print("a log", file=sys.stderr)
        END
        out
        """
    ).format(" ")


@pytest.mark.parametrize(
    ("block", "line", "what"),
    [
        ("```console\n$ true\n$ exit 3\n…\n```", 7, "exit code 3\nexit 3"),
        ("```console\n$ echo a; exit 3\nb\n```", 6, "exit code 3\necho a; exit 3"),
        ("```sql\nSELECT 1;\nSELECT 1 / 0;\n```", 5, "an error that the page does not show"),
        ("```sql\nSELECT 1/0;\nSELECT 1/0;\n```\n```text\nERROR: x\n```", 5, "an error that"),
        ("```python run\n1 / 0\n```", 5, "exit code 1\n1 / 0"),
    ],
)  # fmt: skip
def test_a_failure_stops_the_play_and_says_where(
    temporary: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    block: str,
    line: int,
    what: str,
) -> None:
    told = page(tmp_path, f"{block}\n\n```console\n$ echo too late\n```\n")
    assert player.play(told) == 1
    shown = capfd.readouterr()
    assert f"page.txt:{line}: {what}" in shown.err
    assert "too late" not in shown.out
    assert left(temporary) == []


@pytest.fixture
def played(temporary: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A play in the middle: psql, a command and what a command has left behind are running."""
    told = page(
        tmp_path,
        """
        ```sql
        SELECT 1 AS one;
        ```
        ```console
        $ sleep 500 >/dev/null 2>&1 & echo "left $!"
        $ echo middle; sleep 500
        ```
        """,
    )
    code = (
        "from pathlib import Path; from omd.programs.demo import pages, player;"
        f"player.play(pages.Page('page.txt', root=Path({str(told.root)!r})))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


@pytest.mark.kill
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -9)],
)
def test_whatever_ends_it_nothing_is_left(
    played: subprocess.Popen[str], temporary: Path, number: signal.Signals, code: int
) -> None:
    assert played.stdout is not None
    other = 0
    for line in played.stdout:
        if found := re.fullmatch(r"left (\d+)\n", line):
            other = int(found[1])
        if line == "middle\n":
            break
    assert psutil.pid_exists(other)
    played.send_signal(number)
    assert played.wait(60) == code
    until(lambda: left(temporary) == [] and not psutil.pid_exists(other))


def test_a_server_that_is_kept_runs_on(
    temporary: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told = page(tmp_path, "```sql\nCREATE TABLE public.kept (n integer);\n```\n")
    assert player.play(told, keeps=True) == 0
    (home,) = temporary.glob("omd-demo-*")
    try:
        assert f"OMD_HOME={home} omd embedded psql" in capfd.readouterr().out
        with psycopg.connect(embedded.dsn(home)) as connection:
            connection.execute("TABLE public.kept")
    finally:
        embedded.stop(home)


def test_the_command_plays_a_tutorial_and_says_in_its_last_line_what_was_run(
    places: None, temporary: Path
) -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("omd"), "demo", "doors"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shown = done.stdout
    for block in Page("docs/tutorial/doors.md").blocks:
        if block.is_run:
            typed = block.text.splitlines()[0].removeprefix("$ ")
            assert typed in shown, typed
            shown = shown.partition(typed)[2]
    assert re.fullmatch(
        r"Played: omd demo doors, \d+ seconds\. See .*/docs/tutorial/doors\.md",
        shown.splitlines()[-1],
    )
    assert "\033" not in done.stdout  # it is no terminal, so the lines are plain
    assert left(temporary) == []
