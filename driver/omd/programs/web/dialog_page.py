"""The page of a dialog, and what happens when its form is sent.

A form's token stands for what the form showed: the text, and what was typed when it was made. Only
that text is sent. A form in which something else was typed is shown again, with what it means now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from anyio.to_thread import run_sync

from omd.programs.page.markup import Html, described, el, join, name
from omd.programs.terminal.text import as_text
from omd.programs.web import frame, parts, sending
from omd.programs.web.answers import is_lost, redirected, said, status_of, unavailable
from omd.programs.web.dialog import UnknownActionError, Wish, look
from omd.programs.web.doing import State
from omd.programs.web.personal import AllAtWorkError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response

    from omd.programs.web.dialog import Dialog
    from omd.programs.web.doing import Work
    from omd.programs.web.site import Call

# A call that takes longer goes on behind /doing.
PATIENCE = 2.0

PATTERN = "/do/{action_code}/{key}"


@dataclass(frozen=True)
class Shown:
    """What a form showed.

    Attributes:
        wish: what was typed when it was made.
        text: what is sent; None: it could not be sent yet, or never from here.
        title: what the work is called.
        back: the path of the object.
        is_careful: whether the key must be typed.
    """

    wish: Wish
    text: str | None
    title: str
    back: str
    is_careful: bool


async def answer(call: Call) -> Response:
    """Answer /do/{action_code}/{key}."""
    code, key = call.keys["action_code"], call.keys["key"]
    if call.request.method == "POST":
        return await _sent(call, code, key)
    wish = Wish.of(code, key, call.query)
    origin = call.request.headers.get("Sec-Fetch-Site", "same-origin")
    # Whoever follows a link of another site must not make the database try something by that.
    tries = origin == "same-origin" and not call.is_again and call.query.get("part") != "statement"
    return await _shown(call, wish, tries=tries)


async def _shown(
    call: Call, wish: Wish, *, tries: bool, status: int = 200, alert: Html | None = None
) -> Response:
    """Ask the database, and show what it answers."""
    site, person = call.site, call.person

    def ask() -> Dialog:
        with person.own() as connection:
            return look(connection, wish, tries=tries and not site.is_read_only)

    try:
        dialog = await run_sync(ask)
    except UnknownActionError:
        return said(404, "There is no such action", alert)
    except AllAtWorkError:
        return _all_at_work(call)
    except psycopg.Error as error:
        if is_lost(error):
            return unavailable()
        # An object that is not there, or no longer, has no page; what came of the call is said.
        gone = 404 if error.sqlstate == "OM098" else status_of(error)
        return said(status if alert else gone, wish.code, alert or frame.problem(error))
    title = f"{dialog.title}: {dialog.kind_title} {dialog.wish.key}"
    back = _object_path(dialog.path, dialog.wish.key)
    token = None
    if not (site.is_read_only or (dialog.runs_user_sql and person.is_shown_only)):
        text = dialog.text if dialog.is_whole else None
        shown = Shown(dialog.wish, text, title, back, bool(dialog.offer["is_careful"]))
        token = call.session.form_token(_path(dialog.wish), shown)
    inside = drawn(dialog, who=who_line(call), token=token, back=back, alert=alert)
    return call.page("do", title, inside, status=status)


async def _sent(call: Call, code: str, key: str) -> Response:
    """Do what the form showed."""
    form = {name: values[-1] for name, values in call.form.items()}
    wish = Wish.of(code, key, form)
    shown = call.session.spend(form.get("form", ""), _path(wish))
    if call.site.is_read_only or not isinstance(shown, Shown):
        again = parts.path(PATTERN, wish.as_query(), action_code=code, key=key)
        why = (
            "This page only shows"
            if call.site.is_read_only
            else ("This form was sent already, or it is too old")
        )
        return said(403, why, el("p", "Nothing was done now. ", parts.link(again, "Look again")))
    if any("\0" in value for value in form.values()):
        return said(400, "No text in the database holds the character NUL")
    if "try" in form or shown.text is None:
        return await _shown(call, wish, tries=True)
    if wish != shown.wish:
        text = "Nothing was done yet: what you typed has changed the statement. It is shown now."
        notice = el("p", text, role="status", cls="notice")
        return await _shown(call, wish, tries=True, status=409, alert=notice)
    if shown.is_careful and form.get("key") != key:
        notice = el("p", "Nothing was done: type the key exactly as it is.", role="alert",
                    cls="alert")  # fmt: skip
        return await _shown(call, wish, tries=True, status=422, alert=notice)
    return await _done(call, wish, shown, shown.text)


async def _done(call: Call, wish: Wish, shown: Shown, text: str) -> Response:
    def begin() -> Work:
        return call.site.at_work.begin(
            call.session,
            shown.title,
            text,
            shown.back,
            lambda work, connection: sending.send(work, connection, text, wish.code),
        )

    try:
        work = await run_sync(begin)
    except AllAtWorkError:
        return _all_at_work(call)
    except psycopg.Error:
        return unavailable()
    await run_sync(work.wait, PATIENCE)
    if work.state is State.REFUSED and work.error is not None:
        problem = frame.problem(work.error)
        return await _shown(call, wish, tries=False, status=status_of(work.error), alert=problem)
    return redirected(parts.path("/doing/{number}", number=work.number))


def _path(wish: Wish) -> str:
    return f"/do/{wish.code}/{wish.key}"


def _object_path(pattern: str, key: str) -> str:
    """Return the path of an object: its key stands in the path, or in a parameter of it."""
    pattern, _, query = pattern.partition("?")
    parameter = query.partition("=")[0]
    return parts.path(pattern, {parameter: key}) if parameter else parts.path(pattern, key=key)


def who_line(call: Call) -> Html:
    """Return who would do it."""
    roles = ", ".join(call.person.roles) or "no role of OMD"
    return el(
        "p", "You are ", el("b", name(call.person.user)), f" ({roles}), in the database ",
        el("b", name(call.site.database_name)), ".", cls="who",
    )  # fmt: skip


def _all_at_work(call: Call) -> Response:
    works = [w for w in call.site.at_work.all_of(call.person.user) if w.state is State.AT_WORK]
    items = [
        el("li", parts.link(parts.path("/doing/{number}", number=w.number), w.title)) for w in works
    ]
    text = "Nothing was done: a person has two connections, and both of yours are at work."
    return said(409, "You do two things already", el("p", text), el("ul", *items))


# Markup -----------------------------------------------------------------------------------------


def drawn(dialog: Dialog, *, who: Html, token: str | None, back: str, alert: Html | None) -> Html:
    """Return the form of a dialog; without a token it only shows.

    Args:
        dialog: what the database answered.
        who: who would do it.
        token: of the form.
        back: the path of the object.
        alert: what came of an earlier try.
    """
    offer, wish = dialog.offer, dialog.wish
    why_not = offer["why_not"]
    inside = [
        alert,
        who,
        el("p", why_not, cls="why-not", data_why_not="") if why_not else None,
        *(field_of(n, ask, wish.arguments.get(n, ""), token) for n, ask in dialog.asks.items()),
        reason_field(wish.reason) if token else None,
        el(
            "div",
            frame.problem(dialog.problem) if dialog.problem is not None else None,
            el("h2", "What is sent"),
            el("pre", dialog.text, data_sql="", tabindex=0, dir="ltr"),
            *_tried(dialog, token),
            id="shown",
            aria_live="polite",
        ),
        _careful(wish.key) if token and offer["is_careful"] else None,
    ]
    if token is None:
        text = "Send it by psql: this page does not." if dialog.is_whole else None
        return el("div", *inside, el("p", text), parts.link(back, "Back"), cls="dialog")
    done = dialog.title if dialog.is_whole else "Show what it does"
    buttons = [
        el(
            "button",
            done,
            type="submit",
            disabled=None if offer["is_permitted"] or not dialog.is_whole else "",
            cls="danger" if offer["is_careful"] else None,
        ),
        el("input", type="submit", name="try", value="Try it", cls="quiet")
        if dialog.is_whole
        else None,
        parts.link(back, "Back", cls="button quiet"),
    ]
    return el(
        "form",
        el("input", type="hidden", name="form", value=token),
        *inside,
        el("div", *buttons, cls="actions"),
        method="post",
        action=parts.path(PATTERN, action_code=wish.code, key=wish.key),
        cls="dialog",
        data_dialog="",
        autocomplete="off",
    )


def field_of(parameter: str, ask: Mapping[str, Any], value: str, token: str | None) -> Html:
    """Return the field of what is asked."""
    label = el("span", ask["ask"], " (required)" if ask.get("required") else None)
    common: dict[str, Any] = {
        "name": parameter,
        "required": "" if ask.get("required") else None,
        "disabled": "" if token is None else None,
    }
    if ask.get("type") == "boolean":
        options = [("", "as by default"), ("true", "yes"), ("false", "no")]
        field = el(
            "select",
            *(
                el("option", word, value=v, selected="" if v == value else None)
                for v, word in options
            ),
            **common,
        )
    elif "\n" in value:
        field = el("textarea", "\n", value, rows=3, **common)
    else:
        field = el("input", value=value, **common)
    return el("label", label, field)


def reason_field(reason: str | None) -> Html:
    """Return the field of the reason."""
    # A browser leaves out the first line end of a text field.
    field = el("textarea", "\n", reason or "", name="reason", rows=2, maxlength=2000)
    return el("label", el("span", "Reason (it stands in the event log)"), field)


def _careful(key: str) -> Html:
    label = el("span", "This can't be undone easily. Type ", el("code", name(key)), " to do it")
    return el("label", label, el("input", name="key", required=""))


def _tried(dialog: Dialog, token: str | None) -> Sequence[Html]:
    """Return what came of the try."""
    preview = dialog.preview
    if preview is None:
        if token is None or not dialog.is_whole:
            return []
        return [el("div", el("p", "It was not tried yet.", cls="none"), data_tried="")]
    outcome = preview["outcome"]
    words = {
        "DONE": "It was tried and undone: it would be done.",
        "REFUSED": "It was tried: it would be refused.",
        "UNKNOWN": "Nobody knows before it is done.",
    }
    inside: list[Html | None] = [el("p", words[outcome], cls="outcome")]
    if preview["message"]:
        inside.append(
            el(
                "div",
                el("p", preview["message"], cls="message"),
                el("p", preview["hint"], cls="hint") if preview["hint"] else None,
                el("p", "SQLSTATE ", el("code", preview["sqlstate_code"]))
                if preview["sqlstate_code"]
                else None,
                cls="refused",
                data_code=preview["sqlstate_code"],
            )
        )
    inside += [el("p", warning, cls="warning") for warning in preview["warnings"] or []]
    if preview["answer"]:
        inside += [el("h3", "It answers"), answered(preview["answer"])]
    if preview["before"] is not None and preview["after"] is not None:
        inside += [el("h3", "Before and after"), _compared(preview["before"], preview["after"])]
    elif preview["before"] is not None and outcome == "DONE" and preview["after"] is None:
        inside.append(el("p", "After it, the object is no longer there."))
    return [
        el(
            "div",
            el("h2", "What it would do"),
            el("div", *inside, data_preview=outcome),
            data_tried="",
        )
    ]


def answered(value: Any, *, is_done: bool = False) -> Html:
    """Return what a call answered: the values of one row, or rows.

    Args:
        value: what it answered.
        is_done: whether it was done, so that a new task is there.
    """
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        columns = list(dict.fromkeys(column for row in value for column in row))
        head = el("tr", *(el("th", column, scope="col") for column in columns))
        body = [
            el("tr", *(el("td", _cell(row.get(c)), data_t=c) for c in columns)) for row in value
        ]
        table = el("table", el("thead", head), el("tbody", *body))
        return el("div", table, cls="scroll", tabindex=0)
    if isinstance(value, dict):
        return described(
            {
                term: parts.link(parts.path("/task/{id}", id=v), v)
                if is_done and term == "p_task_id" and v is not None
                else _cell(v)
                for term, v in value.items()
            }
        )
    return el("pre", as_text(value))


def _compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> Html:
    """Return the columns that change; the others are folded away."""
    columns = list(dict.fromkeys([*before, *after]))
    changed = [c for c in columns if before.get(c) != after.get(c)]
    same = [c for c in columns if c not in changed]

    def table(chosen: list[str], *, is_changed: bool) -> Html:
        head = el("tr", *(el("th", t, scope="col") for t in ("Column", "Before", "After")))
        body = [
            el(
                "tr",
                el("td", el("code", c), data_t="Column"),
                el("td", _cell(before.get(c)), data_t="Before"),
                el("td", _cell(after.get(c)), data_t="After"),
                data_key=c,
                cls="changed" if is_changed else None,
            )
            for c in chosen
        ]
        inside = el("table", el("thead", head), el("tbody", *body))
        return el("div", inside, cls="scroll", tabindex=0)

    return join(
        [
            table(changed, is_changed=True)
            if changed
            else el("p", "No column of its row changes.", cls="none"),
            el("details", el("summary", f"{len(same)} columns stay"), table(same, is_changed=False))
            if same
            else Html(""),
        ]
    )


def _cell(value: Any) -> Html:
    if value is None:
        return el("bdi", "\N{EN DASH}")
    return el("bdi", str(value).lower() if isinstance(value, bool) else as_text(value))
