"""Each action performs exactly the text that its dialog showed, seen in the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import dict_row

from web.acting import after_undo, do, done, logged, send, shown, text_of
from web.test_actions import DONE, GIVEN
from web.world import build

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

REASON = "it's <b>\n; COMMIT; --"


def test_each_action_is_done_as_it_was_shown(
    new_database: Callable[[], AbstractContextManager[str]], new_page: Callable[..., Any]
) -> None:
    with (
        new_database() as dsn,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
    ):
        keys = build(conn)
        page = new_page(dsn=dsn)
        kinds = conn.execute("SELECT action_code, object_kind, is_careful FROM omd_web.action")
        actions = {row["action_code"]: row for row in kinds}
        given = {**GIVEN, "p_module_instance_id": keys["LOAD"]["last"]}
        with logged(conn) as log:
            for code, (state, _) in DONE.items():
                key = keys[actions[code]["object_kind"]][state]
                seen = shown(page, do(code, key))
                fields = seen.one("form", data_dialog=True).fields()
                asked = {
                    name: str(given[name])
                    for name in fields
                    if name in given and seen.all("", name=name, required=True)
                }
                seen = shown(page, do(code, key, reason=f"{code} {REASON}", **asked))
                text = text_of(seen)
                typed = {"key": key} if actions[code]["is_careful"] else {}
                done(page, send(page, seen, **typed))
                sent = [text] if text.startswith("BEGIN;") else text.split("\n")
                assert after_undo(log(), *sent), code
                events = conn.execute(
                    "SELECT FROM omd.event_log WHERE reason = %s", (f"{code} {REASON}",)
                )
                assert events.fetchall(), code
