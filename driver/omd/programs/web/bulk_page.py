"""The page of an action on many objects: the filter, the count, the statement; and its form.

As in the dialog of one object, a form's token stands for what the form showed, and only that is
done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from anyio.to_thread import run_sync

from omd.programs.page.markup import Html, el, name, number
from omd.programs.web import bulk, dialog_page, frame, parts
from omd.programs.web.answers import is_lost, redirected, said, status_of, unavailable
from omd.programs.web.bulk import Wish
from omd.programs.web.dialog import UnknownActionError
from omd.programs.web.doing import State
from omd.programs.web.personal import AllAtWorkError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response

    from omd.programs.web.bulk import Dialog
    from omd.programs.web.doing import Work
    from omd.programs.web.opening import Connection
    from omd.programs.web.site import Call

PATTERN = "/bulk/{action_code}"

_BACK = {"TASK": "/queue", "MODULE_INSTANCE": "/work", "BATCH_INSTANCE": "/work"}


@dataclass(frozen=True)
class Shown:
    """What a form showed."""

    dialog: Dialog


async def answer(call: Call) -> Response:
    """Answer /bulk/{action_code}."""
    code = call.keys["action_code"]
    if call.request.method == "POST":
        return await _sent(call, code)
    given: dict[str, list[str]] = {}
    for key, value in call.request.query_params.multi_items():
        if "\0" in value:
            return said(400, "No name in the database holds the character NUL")
        given.setdefault(key, []).append(value)
    given.pop("again", None)
    origin = call.request.headers.get("Sec-Fetch-Site", "same-origin")
    counts = origin == "same-origin" and not call.is_again
    return await _shown(call, Wish.of(code, given), counts=counts)


async def _shown(
    call: Call, wish: Wish, *, counts: bool, status: int = 200, alert: Html | None = None
) -> Response:
    """Ask the database, and show what it answers."""
    site, person = call.site, call.person

    def ask() -> Dialog:
        with person.own() as connection:
            return bulk.look(connection, wish, counts=counts)

    try:
        dialog = await run_sync(ask)
    except UnknownActionError:
        return said(404, "There is no such action", alert)
    except bulk.TooManyError:
        text = (
            f"At most {bulk.MOST_PICKED} objects are done one by one; {len(wish.keys)} are given."
        )
        return call.page("bulk", wish.code, _alert(text), status=422)
    except AllAtWorkError:
        return said(409, "You do two things already", alert)
    except psycopg.Error as error:
        if is_lost(error):
            return unavailable()
        status = 404 if error.sqlstate == "OM098" else status_of(error)
        return call.page("bulk", wish.code, *([alert] if alert else []), frame.problem(error),
                         status=status)  # fmt: skip
    if not dialog.texts and not dialog.problems:
        return call.page("bulk", dialog.title, _alert("Nothing was picked."), status=422)
    token = None
    if not (site.is_read_only or (dialog.runs_user_sql and person.is_shown_only)):
        token = call.session.form_token(f"/bulk/{wish.code}", Shown(dialog))
    inside = _drawn(call, dialog, token=token, alert=alert)
    return call.page("bulk", f"{dialog.title}: many of {dialog.kind_title}", inside, status=status)


def _alert(text: str) -> Html:
    return el("div", el("p", text, cls="message"), role="alert", cls="alert")


async def _sent(call: Call, code: str) -> Response:
    """Do what the form showed."""
    shown = call.session.spend(call.field("form"), f"/bulk/{code}")
    if not isinstance(shown, Shown):
        again = parts.link(str(call.request.url.replace(scheme="", netloc="")), "Look again")
        text = "Nothing was done now. "
        return said(403, "This form was sent already, or it is too old", el("p", text, again))
    if any("\0" in value for values in call.form.values() for value in values):
        return said(400, "No text in the database holds the character NUL")
    dialog = shown.dialog
    wish = dialog.wish.typed(call.form)
    if "try" in call.form or dialog.count is None:
        return await _shown(call, wish, counts=True)
    if wish != dialog.wish:
        text = "Nothing was done yet: what you typed has changed the statement. It is shown now."
        notice = el("p", text, role="status", cls="notice")
        return await _shown(call, wish, counts=True, status=409, alert=notice)

    def deed(work: Work, connection: Connection) -> None:
        if wish.filter is None:
            bulk.do_each(work, connection, dialog)
        else:
            bulk.do_parts(work, connection, wish, dialog)

    def begin() -> Work:
        title = f"{dialog.title}: {dialog.count:,} of {dialog.kind_title}"
        return call.site.at_work.begin(call.session, title, dialog.text, _back(dialog), deed)

    try:
        work = await run_sync(begin)
    except AllAtWorkError:
        return said(409, "You do two things already", el("p", "Nothing was done."))
    except psycopg.Error:
        return unavailable()
    await run_sync(work.wait, dialog_page.PATIENCE)
    if work.state is State.REFUSED and work.error is not None and not work.done:
        problem = frame.problem(work.error)
        return await _shown(call, wish, counts=True, status=status_of(work.error), alert=problem)
    return redirected(parts.path("/doing/{number}", number=work.number))


def _back(dialog: Dialog) -> str:
    return parts.path(_BACK.get(dialog.kind, "/todo"))


# Markup -----------------------------------------------------------------------------------------


def _drawn(call: Call, dialog: Dialog, *, token: str | None, alert: Html | None) -> Html:
    wish = dialog.wish
    here = f"{parts.path(PATTERN, action_code=wish.code)}?{wish.query()}"
    back = parts.link(_back(dialog), "Back", cls="button quiet")
    shown = el(
        "div",
        *_counted(dialog),
        el("h2", "What is sent"),
        el("pre", dialog.text, data_sql="", tabindex=0, dir="ltr"),
        _in_parts(dialog),
        *_problems(dialog.problems),
        id="shown",
        aria_live="polite",
    )
    inside: list[Html | None] = [
        alert,
        dialog_page.who_line(call),
        el("p", dialog.why_not, cls="why-not", data_why_not="") if dialog.why_not else None,
        _filter(wish.filter) if wish.filter is not None else None,
        *(
            dialog_page.field_of(parameter, ask, wish.arguments.get(parameter, ""), token)
            for parameter, ask in dialog.asks.items()
        ),
        dialog_page.reason_field(wish.reason) if token else None,
        shown,
    ]
    if token is None:
        text = el("p", "Send it by psql: this page does not.")
        return el("div", *inside, text, back, cls="dialog")
    is_ready = dialog.is_permitted and bool(dialog.count) and bool(dialog.texts)
    buttons = (
        el("button", "Count it", type="submit", name="try", value="1")
        if dialog.count is None
        else el(
            "button",
            f"{dialog.title}: {dialog.count:,}",
            type="submit",
            disabled=None if is_ready else "",
        ),
        el("input", type="submit", name="try", value="Count again", cls="quiet")
        if dialog.count is not None
        else None,
        back,
    )
    return el(
        "form",
        el("input", type="hidden", name="form", value=token),
        *inside,
        el("div", *buttons, cls="actions"),
        method="post",
        action=here,
        cls="dialog",
        data_dialog="",
        autocomplete="off",
    )


def _counted(dialog: Dialog) -> Sequence[Html]:
    if dialog.count is None:
        return [el("p", "It was not counted yet.", cls="none", data_tried="")]
    inside = [
        el("p", el("strong", number(dialog.count)), f" of {dialog.kind_title}", cls="count",
           data_count=dialog.count),
    ]  # fmt: skip
    if dialog.count_text:
        shown = (el("summary", "How they were counted"), el("pre", dialog.count_text, dir="ltr"))
        inside.append(el("details", *shown))
    return [el("div", *inside, data_tried="")]


def _in_parts(dialog: Dialog) -> Html | None:
    if dialog.wish.filter is None or dialog.count is None or dialog.count <= bulk.PART:
        return None
    text = (
        f"It is sent in parts of {bulk.PART:,}, each a commit of its own: the next ones with the id"
        " at which the last one has ended, until as many are done as were counted."
    )
    return el("p", text, cls="hint")


def _problems(problems: Sequence[tuple[str, psycopg.Error]]) -> Sequence[Html]:
    if not problems:
        return []
    items = (el("li", name(key), ": ", frame.problem(error)) for key, error in problems)
    return [el("h3", "Left out, since there is no statement for it"), el("ul", *items)]


def _filter(given: Mapping[str, Any]) -> Html:
    pairs: list[Html] = []
    for key, value in given.items():
        items = value if isinstance(value, list) else [value]
        text = ", ".join(item if isinstance(item, str) else str(item) for item in items[:20])
        more = f" and {len(items) - 20:,} more" if len(items) > 20 else ""
        pairs += [el("dt", key), el("dd", name(text), more)]
    return el("dl", *pairs, cls="filter")
