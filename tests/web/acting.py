"""What a person does in a dialog, and what the server has got of it."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from psycopg import sql

from web.seen import Element, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

    from web.conftest import Answer, Page

    Connection = psycopg.Connection[dict[str, Any]]


def do(code: str, key: object, **given: str) -> str:
    """The path of a dialog."""
    part = quote(str(key), safe="")
    query = {**({"key": str(key)} if key in (".", "..") else {}), **given}
    part = "" if key in (".", "..") else part
    return f"/do/{code}/{part}" + (f"?{urlencode(query)}" if query else "")


def shown(page: Page, path: str, **arguments: Any) -> Element:
    answer = page.get(path, **arguments)
    assert answer.status == 200, answer.text
    return read(answer.text)


def send(page: Page, seen: Element, **typed: str) -> Answer:
    """Fill the form of a dialog and press its button."""
    form = seen.one("form", data_dialog=True)
    return page.post(form.attributes["action"], {**form.fields(), **typed})


def done(page: Page, answer: Answer) -> Element:
    """Follow to the page that says that it is done."""
    assert answer.status == 303, answer.text
    seen = read(page.get(answer.headers["Location"]).text)
    assert seen.one("", role="status", data_done=True)
    return seen


def text_of(seen: Element) -> str:
    return seen.one("pre", data_sql=True).text


@contextlib.contextmanager
def logged(conn: Connection) -> Iterator[Callable[[], list[str]]]:
    """Let the server log what new sessions send, one entry per message; yield a reader of it."""
    database = sql.Identifier(conn.info.dbname)
    conn.execute(sql.SQL("ALTER DATABASE {} SET log_statement = 'all'").format(database))
    where = "current_setting('data_directory') || '/server.log'"
    [begin] = conn.execute(f"SELECT (pg_stat_file({where})).size".encode()).fetchall()

    def entries() -> list[str]:
        query = f"SELECT pg_read_binary_file({where}, %s, 100000000) AS b"
        [row] = conn.execute(query.encode(), (begin["size"],)).fetchall()
        found = re.findall(
            r"^\d{4}-\d\d-\d\d [^\n]*?LOG:  (?:statement|execute [^:]*): (.*(?:\n\t.*)*)",
            row["b"].decode("utf-8", "replace"),
            re.MULTILINE,
        )
        return [entry.replace("\n\t", "\n") for entry in found]

    try:
        yield entries
    finally:
        conn.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(database))


def after_undo(entries: list[str], *texts: str) -> bool:
    """Whether texts were sent once, in this order, right after ROLLBACK and RESET omd.reason."""
    [at] = [number for number, entry in enumerate(entries) if entry == texts[0]]
    sent = entries[at - 2 : at + len(texts)]
    return sent == ["ROLLBACK", "RESET omd.reason", *texts]
