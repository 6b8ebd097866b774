"""The page of what is at work: since when, how far, and what came of it.

Leaving it ends nothing. "Stop" cancels the statement that runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio.to_thread import run_sync
from starlette.responses import HTMLResponse

from omd.programs.page.markup import Html, badge, el, moment, name, number
from omd.programs.web import frame, parts
from omd.programs.web.answers import redirected, said
from omd.programs.web.dialog_page import answered
from omd.programs.web.doing import State

if TYPE_CHECKING:
    from starlette.responses import Response

    from omd.programs.web.doing import Work
    from omd.programs.web.site import Call

PATTERN = "/doing/{number}"

# Seconds in which a statement that was cancelled ends, mostly.
SOON = 1.0


async def answer(call: Call) -> Response:
    """Answer /doing/{number}."""
    digits = call.keys["number"]
    work = None
    if digits.isascii() and digits.isdigit() and len(digits) < 10:
        work = call.site.at_work.of(int(digits), call.person.user)
    if work is None:
        text = "The page keeps what you did last, until it is started again."
        return said(404, "You did no such thing", el("p", text))
    path, session = f"/doing/{work.number}", call.session
    here = parts.path(PATTERN, number=work.number)
    if call.request.method == "POST":
        if session.spend(call.field("form"), path) is None:
            return said(403, "This form was sent already", parts.link(here, "See what is at work"))
        await run_sync(work.stop)
        await run_sync(work.wait, SOON)
        return redirected(here)
    if call.query.get("part") == "progress":
        return HTMLResponse(progress(work))
    stop = session.form_token(path) if work.ended is None else None
    return call.page("doing", work.title, _drawn(work, stop, here))


def _drawn(work: Work, token: str | None, here: str) -> Html:
    stop = (
        el(
            "form",
            el("input", type="hidden", name="form", value=token),
            el("button", "Stop", name="stop", value="1", type="submit", cls="danger"),
            el("a", "Look again", href=here, cls="button quiet"),
            method="post",
            action=here,
            cls="actions",
        )
        if token
        else None
    )
    return el(
        "div",
        progress(work),
        stop,
        el("h2", "What was sent"),
        el("pre", work.sql, data_sql="", tabindex=0, dir="ltr"),
        el("p", parts.link(work.back, "Back to what it was done to"), cls="actions"),
        cls="dialog",
    )


def progress(work: Work) -> Html:
    """Return how far it is, or what came of it."""
    state = work.state  # the thread of the work may change it at any moment
    if state is State.AT_WORK:
        since = el("time", f"{work.since.astimezone():%H:%M:%S}",
                   datetime=work.since.isoformat(timespec="seconds"))  # fmt: skip
        inside = [
            el("p", badge("E", "at work"), " since ", since,
               ". You may leave this page: it goes on.", role="status"),
            _bar(work),
        ]  # fmt: skip
        if work.is_stopped:
            inside.append(el("p", "It is being stopped."))
    elif state is State.DONE:
        inside = [_done(work)]
    elif state is State.STOPPED:
        text = "It was stopped. What was committed before stays."
        inside = [el("p", text, role="status", data_stopped=""), _bar(work)]
    elif state is State.REFUSED and work.error is not None:
        inside = [frame.problem(work.error), _bar(work)]
    else:
        inside = [
            el(
                "div",
                el("p", "The connection was lost while it was at work.", cls="message"),
                el("p", "Nobody knows whether the last statement was committed: look at what it"
                   " was done to.", cls="hint"),
                role="alert",
                data_sqlstate=(work.error.sqlstate if work.error else None) or "08006",
            ),
            _bar(work),
        ]  # fmt: skip
    return el("div", *inside, *_answers(work), id="progress", data_doing=state.value)


def _done(work: Work) -> Html:
    ended = moment(work.ended)
    text = f" {work.progress}" if work.progress else ""
    return el(
        "p", badge("S", "done"), " ", ended, text, role="status",
        data_done="" if work.done is None else work.done, cls="done",
    )  # fmt: skip


def _bar(work: Work) -> Html:
    if work.done is None:
        return Html("")
    bar = (
        el("progress", value=work.done, max=work.total, aria_label="How far it is")
        if work.total
        else None
    )
    return el("p", bar, " ", work.progress or number(work.done), data_count=work.done)


def _answers(work: Work) -> list[Html]:
    drawn: list[Html] = []
    rows = [dict(row) for row in work.answers[-200:]]
    if rows:
        drawn += [
            el("h2", "What it answered"),
            answered(rows[0] if len(rows) == 1 else rows, is_done=True),
        ]
    if work.problems:
        items = (el("li", name(key), ": ", frame.problem(error)) for key, error in work.problems)
        drawn += [el("h2", "What was refused"), el("ul", *items)]
    return drawn
