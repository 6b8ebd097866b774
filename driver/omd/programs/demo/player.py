"""The runner of pages: it does what a reader of a page would type, in order.

``omd demo NAME`` plays the tutorial of this name. Each command is shown before it runs, then what
it prints. All of it happens in a server that is made for it and removed afterwards: whatever
database the environment of the user names, no program of a page learns of it.

Two processes play. The one that the user has started (`play`) makes the server, waits, and removes
everything. The other one (`perform`) runs the page, in a session of its own, so that all that the
page has left running ends with this session.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import click
from psycopg.conninfo import conninfo_to_dict

from omd._core import signals
from omd._core.program import python
from omd.errors import OmdError
from omd.programs import embedded, install
from omd.programs.cli.common import connect
from omd.programs.demo.pages import SPARK, Block, Page, is_shown

if TYPE_CHECKING:
    from omd.spark.sessions import Jvm

_END = "-- end of the block --"
_PATIENCE = 600  # seconds for a command
# What a program of a page gets of the user's environment. No name of a database is among it, and
# none of a cluster, a catalogue or a receiver.
_KEPT = re.compile(
    "HOME|JAVA_HOME|LANG|LC_[A-Z]+|LD_LIBRARY_PATH|LOGNAME|PATH|PYTHONPATH|SHELL|SPARK_LOCAL_IP"
    "|TERM|TMPDIR|USER|VIRTUAL_ENV"
)

_MAY_LEAVE_SPARK = re.compile(rf"{SPARK.pattern}|^\$ python ", re.MULTILINE)
_PERFORM = "from omd.programs.demo import player; player.perform({!r}, {!r}, {!r})"

Shown = Callable[[str], None]
"""What is called with each line that a command prints."""


def _silent(_line: str) -> None:
    """Show nothing."""


def environment(dsn: str, folder: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which psql and omd find the database without an option.

    Args:
        dsn: the connection string of the database.
        folder: where the commands run.
        given: what else is in the environment.
    """
    part = conninfo_to_dict(dsn)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
    programs = [str(embedded.binaries()), str(Path(sys.executable).parent), given["PATH"]]
    return {
        **given,
        **{name: str(part[key]) for key, name in names.items() if part.get(key)},
        "PGDATABASE": str(part["dbname"]),
        "PGTZ": "UTC",
        "TZ": "UTC",
        "PSQLRC": os.devnull,
        "PATH": os.pathsep.join(programs),
        "PYTHONWARNINGS": "ignore",
        "OMD_HOME": str(folder),
        "EXAMPLES": str(folder),
        "LAKE": str(folder / "lake"),
    }


class Session:
    """What a reader has open: psql, in which a block finds what the blocks before it have set.

    A session of psql that was ended is followed by a new one, as psql at a terminal connects again.
    """

    def __init__(
        self, env: dict[str, str], folder: Path, jvm: Jvm | None = None, show: Shown = _silent
    ) -> None:
        self.env = env
        self.folder = folder
        self._shared = jvm
        self._show = show
        self._psql: subprocess.Popen[str] | None = None

    def sql(self, text: str) -> str:
        """Return what psql prints for a block."""
        psql = self._psql = self._psql or self._start(
            [str(embedded.binaries() / "psql"), "--no-psqlrc", "--set=SHOW_CONTEXT=never"],
            stdin=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        given, out = cast("IO[str]", psql.stdin), cast("IO[str]", psql.stdout)
        lines = []
        with _limited(psql):
            # \! makes psql write its buffered output.
            given.write(f"{text}\n\\! echo '{_END}'\n")
            given.flush()
            for line in out:
                if line.rstrip("\n") == _END:
                    break
                self._show(line)
                lines.append(line)
            else:
                self.close()
        return "".join(lines)

    def program(self, command: list[str], given: str | None = None) -> tuple[int, str]:
        """Return the exit code of a program and what it prints.

        The log of a Python program is shown only when it fails.
        """
        with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
            process = self._start(
                command,
                stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
                stderr=log if command[0] == sys.executable else subprocess.STDOUT,
            )
            lines = []
            with process, _limited(process):
                if process.stdin:
                    process.stdin.write(given or "")
                    process.stdin.close()
                for line in cast("IO[str]", process.stdout):
                    self._show(line)
                    lines.append(line)
            if process.returncode:
                log.seek(0)
                for line in log:
                    self._show(line)
                    lines.append(line)
        if self._shared and _MAY_LEAVE_SPARK.search(given or f"$ {command[-1]}"):
            self._shared.stop_spark()
        return process.returncode, "".join(lines)

    def python(self, text: str) -> tuple[int, str]:
        """Run a block as a program; return the exit code and what it prints."""
        return self.program([sys.executable, "-"], text)

    def shell(self, text: str) -> tuple[int, str]:
        """Run a command of the shell; return the exit code and what it prints."""
        return self.program(["bash", "-c", text])

    def save(self, block: Block) -> None:
        """Save a block as the file that it names."""
        file = self.folder / (block.file or "")
        file.parent.mkdir(exist_ok=True)
        file.write_text(block.text, encoding="utf-8")

    def close(self) -> None:
        """End psql."""
        if self._psql:
            cast("IO[str]", self._psql.stdin).close()
            cast("IO[str]", self._psql.stdout).close()
            self._psql.wait()
            self._psql = None

    def _start(self, command: list[str], **streams: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603
            command, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, text=True, **streams
        )


@contextmanager
def _limited(process: subprocess.Popen[str]) -> Iterator[None]:
    """End a process that does not end."""
    watch = threading.Timer(_PATIENCE, process.kill)
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def play(page: Page, *, keeps: bool = False) -> int:
    """Play a page in a server that is made for it; return the exit code.

    Args:
        page: the page; those that it names as played before it come first.
        keeps: whether the server and the files stay.
    """
    home = Path(tempfile.mkdtemp(prefix="omd-demo-"))
    home.chmod(0o711)  # root's server is another user's
    process = None
    is_whole = False
    try:
        with _own_environment(), signals.raised():
            click.echo(f"A server is made in {home}, and OMD installed; no other one is touched.")
            with _undisturbed():
                server = embedded.start(home, settings={"fsync": "off"})
            if not page.needs_no_omd:
                with connect(cast("str", server.dsn)) as connection:
                    install.install(connection)
            process = subprocess.Popen(  # noqa: S603
                python(_PERFORM.format(str(home), page.document, str(page.root))),
                stdin=subprocess.PIPE,
                start_new_session=True,
            )
            result = process.wait()
            is_whole = True
    finally:
        with _undisturbed():
            if process:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if not (keeps and is_whole):
                _remove(home)
    if keeps:
        at = f"OMD_HOME={home}"
        click.echo(f"\nThe server runs on, and the files are in {home / 'page'}:")
        click.echo(f"  {at} omd embedded psql")
        click.echo(f"  {at} omd embedded stop && rm -r {home}")
    return result


def perform(home: str, document: str, root: str) -> None:
    """Run a page, and those before it, in the server of a folder; end the process."""
    threading.Thread(target=_end_without_parent, args=(Path(home),), daemon=True).start()
    page = Page(document, root=Path(root))
    folder = Path(home) / "page"
    folder.mkdir(mode=0o700)
    jvm = _quiet_jvm(Path(home)) if page.is_in_one_jvm else None
    env = environment(embedded.dsn(Path(home)), folder, os.environ) | {"OMD_HOME": home}
    session = Session(env | (jvm.env if jvm else {}), folder, jvm, _show)
    try:
        for each in (*page.before, page):
            click.secho(f"\n{each}", bold=True)
            _perform_blocks(each, session)
    except OmdError as error:
        click.echo(f"\n{error}", err=True)
        sys.exit(1)
    finally:
        session.close()
    sys.exit(0)


def _perform_blocks(page: Page, session: Session) -> None:
    """Show and run the blocks of a page.

    Raises:
        OmdError: a command fails, and the page does not say so.
    """
    title = ""
    for block in page.blocks:
        if not (block.is_run or block.file):
            continue
        if block.title != title:
            title = block.title
            click.secho(f"\n{title}", bold=True)
        if block.file:
            _type(f"$ cat >{block.file} <<'END'\n{block.text}END")
            session.save(block)
        elif block.kind == "console":
            for command in block.commands():
                _type(f"$ {command.text.rstrip()}")
                code, printed = session.shell(command.text)
                # The output shown says whether a command is meant to fail.
                is_meant = command.expected.replace("…", "").strip()
                if code and not (is_meant and is_shown(printed, command.expected)):
                    raise _failed(command.where, command.text, f"exit code {code}")
        elif block.kind == "python run":
            _type(f"$ python - <<'END'\n{block.text}END")
            code, _ = session.python(block.text)
            if code:
                raise _failed(block.where, block.text, f"exit code {code}")
        else:
            lines = block.text.rstrip().replace("\n", "\n      ")
            _type(f"omd=# {lines}")
            printed = session.sql(block.text)
            if "ERROR: " in printed and not is_shown(printed, block.output or ""):
                raise _failed(block.where, block.text, "an error that the page does not show")


def _failed(where: str, command: str, what: str) -> OmdError:
    return OmdError(f"{where}: {what}\n{command.rstrip()}")


def _type(text: str) -> None:
    click.echo()
    click.secho(text, fg="cyan")


def _show(line: str) -> None:
    click.echo(line, nl=False)


def _quiet_jvm(home: Path) -> Jvm:
    """Start a JVM whose messages go to a file, not to the terminal."""
    from omd.spark.sessions import Jvm, standard_error

    with (home / "spark.log").open("w") as log, standard_error(log.fileno()):
        return Jvm()


def _end_without_parent(home: Path) -> None:
    """Remove everything when the process is gone that should do it: it was killed."""
    os.read(0, 1)
    _remove(home)
    os.killpg(0, signal.SIGKILL)


@contextmanager
def _own_environment() -> Iterator[None]:
    """Leave out of the environment what names a database or another place of the user."""
    before = dict(os.environ)
    for name in before:
        if not _KEPT.fullmatch(name):
            del os.environ[name]
    os.environ["PYTHONUNBUFFERED"] = "1"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back, also from the programs that are started inside."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _remove(home: Path) -> None:
    dsn = embedded.status(home).dsn
    embedded.stop(home)
    shutil.rmtree(home, ignore_errors=True)
    if dsn:  # where the path of its socket would be too long it has a folder elsewhere
        shutil.rmtree(str(conninfo_to_dict(dsn)["host"]), ignore_errors=True)
