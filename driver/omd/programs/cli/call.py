"""``omd call`` calls any public routine; what it takes, the database says."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.common import checked_dsn, dsn_option, open_link, proposals
from omd.programs.terminal.options import document_option
from omd.programs.terminal.tables import render, show_document, show_table

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from omd._core.catalogue import Parameter, Signature
    from omd._core.link import Link

_SCHEMA = "omd"  # of a name without schema
_MOST_MEANT = 3  # routines that a hint names
_SIGNATURE = "call"  # in the context: the signature of the routine and its options
_LINK = "call.link"


def _read(
    _context: click.Context, _parameter: click.Parameter, given: str | tuple[str, ...] | None
) -> str | tuple[str, ...] | None:
    """Return a value: as it stands there, of a file (@FILE) or stdin (-); @@x is the value @x."""
    if isinstance(given, tuple):
        return tuple(_one(value) for value in given)
    return None if given is None else _one(given)


def _one(given: str) -> str:
    try:
        if given == "-":
            value = sys.stdin.buffer.read().decode()
        elif given.startswith("@") and not given.startswith("@@"):
            value = Path(given[1:]).read_bytes().decode()
        else:
            value = given[given.startswith("@") :]
        value.encode()
    except OSError as error:
        raise click.BadParameter(f"{given[1:]}: {error.strerror}.") from None
    except UnicodeError:
        raise click.BadParameter("It is no UTF-8.") from None
    if "\0" in value:
        raise click.BadParameter("PostgreSQL has no text with a character 0.")
    return value


class Call(click.Command):
    """A command whose options are the parameters of the routine that is its first argument."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the routine in the database, then read the options by it."""
        routine, dsn = _named(args)
        if routine is not None:
            try:
                link = ctx.with_resource(open_link(checked_dsn(ctx, None, dsn)))
                ctx.meta[_LINK] = link
                signature = _signature(link, routine)
                ctx.meta[_SIGNATURE] = signature, _options(signature)
            except Exception:
                ctx.close()
                if not ctx.resilient_parsing:
                    raise
        try:
            return super().parse_args(ctx, args)
        except BaseException:
            ctx.close()
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters; those of the routine come first."""
        _, options = ctx.meta.get(_SIGNATURE, (None, []))
        return [*options, *super().get_params(ctx)]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how the routine is called."""
        signature, _ = ctx.meta.get(_SIGNATURE, (None, []))
        routine = (
            "ROUTINE [--name value]..." if signature is None else f"{signature.routine} [OPTIONS]"
        )
        formatter.write_usage(ctx.command_path, routine)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the COMMENT of the routine says."""
        signature, _ = ctx.meta.get(_SIGNATURE, (None, []))
        if signature is None:
            super().format_help_text(ctx, formatter)
            return
        for paragraph in _parts(signature.comment)[0]:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(_with_options(paragraph, signature))


def _named(args: Sequence[str]) -> tuple[str | None, str | None]:
    """Return the routine and the connection string of a command line that is not read yet.

    Each option has a value, but the help and those that say NULL.
    """
    routine = dsn = None
    words = iter(args)
    for word in words:
        if not word.startswith("-") or word == "-":
            routine = routine or word
            continue
        name, equals, value = word.partition("=")
        if name in ("-h", "--help", "--") or _dashed(name).endswith("-null"):
            continue
        value = value if equals else next(words, "")
        if name == "--dsn":
            dsn = value
    return routine, dsn


def _signature(link: Link, named: str) -> Signature:
    """Return a public routine; a name without schema is omd's.

    Raises:
        CallerError: there is none of this name.
    """
    from omd._core import catalogue, former
    from omd._core.errors import CallerError

    routine = named if "." in named else f"{_SCHEMA}.{named}"
    signature = catalogue.signature(link, routine) or catalogue.signature(link, routine.lower())
    if signature is not None:
        return signature
    known = catalogue.routines(link)
    now, last = former.names().get(routine), routine.rpartition(".")[2].lower()
    parts = {name: name.rpartition(".")[2] for name in known}
    same = [now] if now in known else [name for name, part in parts.items() if part == last]
    # A wish, such as backfill, is the name of no routine, but what a few say of themselves.
    wish = re.compile(rf"\b{re.escape(last)}\b", re.IGNORECASE)
    same = same or [name for name, about in known.items() if wish.search(about)]
    if not 0 < len(same) <= _MOST_MEANT:
        near = difflib.get_close_matches(last, [*{*parts.values()}])
        same = [name for part in near for name in known if parts[name] == part]
    raise CallerError(
        f"there is no public routine {routine}",
        hint=_either(f"'omd call {name}'" for name in same)
        or "omd report routine_list --where is_public=true",
    )


def _either(ways: Iterable[str]) -> str:
    texts = " or ".join(ways)
    return f"Did you mean {texts}?" if texts else ""


def _dashed(name: str) -> str:
    return name.replace("_", "-")


_SENTENCE = re.compile(r"(?<=\.) (?=[A-Zp])")
_PARAMETERS = re.compile(r"((?:p_\w+(?: \([^)]*\))?(?:, | and )?)+): (.+)")


def _parts(comment: str) -> tuple[list[str], dict[str, str]]:
    """Return the paragraphs of a COMMENT, and what it says of each parameter."""
    paragraphs: list[str] = []
    parameters: dict[str, str] = {}
    prose: list[str] = []
    for sentence in _SENTENCE.split(" ".join(comment.split())):
        if match := _PARAMETERS.fullmatch(sentence):
            for name, remark in re.findall(r"(p_\w+)(?: \(([^)]*)\))?", match[1]):
                text = match[2].removesuffix(".")
                parameters[name] = f"{text} ({remark})." if remark else f"{text}."
        elif sentence.startswith(("Errors: ", "Locks: ")):
            paragraphs.append(sentence)
        else:
            prose.append(sentence)
    return [" ".join(prose), *paragraphs], parameters


def _with_options(text: str, routine: Signature) -> str:
    """Return a text that names what a routine takes as options, and what it answers as columns."""
    names = {p.name: f"--{_dashed(p.short)}" if p.takes else p.short for p in routine.parameters}
    return re.sub(r"\bp_\w+", lambda match: names.get(match[0], match[0]), text)


def _options(routine: Signature) -> list[click.Parameter]:
    """Return the options of a call: one for each parameter, and one more that says NULL."""
    _, texts = _parts(routine.comment)
    options: list[click.Parameter] = []
    for parameter in routine.parameters:
        if not parameter.takes:
            continue
        option = f"--{_dashed(parameter.short)}"
        is_array = parameter.shown.endswith("[]")
        is_truth = parameter.shown == "boolean"
        about = _with_options(texts.get(parameter.name, ""), routine)
        about = f"{about[:1].upper()}{about[1:]}"
        if is_array:
            about = f"{about} It may be repeated; one empty text is an empty list.".strip()
        if not parameter.has_default:
            about = f"{about}  [required]".strip()
        options += [
            click.Option(
                [parameter.name, option],
                type=click.Choice(["true", "false"], False) if is_truth else str,
                callback=None if is_truth else _read,
                metavar=None if is_truth else parameter.shown.upper(),
                multiple=is_array,
                help=about,
            ),
            click.Option([_null(parameter), f"{option}-null"], is_flag=True, hidden=True),
        ]
    return options


def _null(parameter: Parameter) -> str:
    """Return the name of the option that says NULL."""
    return f"null_{parameter.name}"


def _values(routine: Signature, given: Mapping[str, Any]) -> dict[str, str | Sequence[str] | None]:
    """Return the values of the parameters that the command line gives.

    Raises:
        click.UsageError: a parameter has two values, or one without default has none.
    """
    values: dict[str, str | Sequence[str] | None] = {}
    missing = []
    for parameter in routine.parameters:
        if not parameter.takes:
            continue
        option = f"--{_dashed(parameter.short)}"
        value, is_null = given[parameter.name], given[_null(parameter)]
        is_given = value is not None and value != ()
        if is_given and is_null:
            raise click.UsageError(f"Give either {option} or {option}-null.")
        if is_given:
            # psycopg takes a tuple for a row.
            values[parameter.name] = (
                [text for text in value if value != ("",)] if isinstance(value, tuple) else value
            )
        elif is_null:
            values[parameter.name] = None
        elif not parameter.has_default:
            missing.append(option)
    if missing:
        raise click.UsageError(
            f"{routine.routine} needs {', '.join(missing)}; {missing[0]}-null says NULL."
        )
    return values


def _complete(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the public routines whose name begins so; those of omd need no schema."""
    from omd._core import catalogue

    own = f"{_SCHEMA}."
    schema = "" if incomplete.startswith(own) else own
    return proposals(
        context,
        lambda link: {name.removeprefix(schema): "" for name in catalogue.routines(link)},
        incomplete,
    )


@click.command(
    "call",
    cls=Call,
    epilog="A parameter p_x is --x. Booleans are true or false, arrays repeat the option, --x-null"
    " is NULL, and what is not given is not sent. A value @FILE is what the file holds, - is stdin,"
    " and @@x is the value @x.",
    context_settings={"token_normalize_func": _dashed},
)
@click.argument("routine", shell_complete=_complete)
@dsn_option
@document_option
@click.pass_context
def call(context: click.Context, /, output: str, **given: Any) -> None:
    """Call any public routine, and print what it answers.

    The routine is named as in SQL; one without schema is of the schema omd. omd call ROUTINE --help
    says what it does and takes, and omd report routine_list which there are.

    \b
    Examples:
      omd call set_parameter --help
      omd call omd_lineage.release --topic fact.flights
      omd call omd_dispatch.create_tasks --family-code F --task-type T --tasks @tasks.json
    """
    from omd._core import catalogue

    signature, _ = context.meta[_SIGNATURE]
    rows = catalogue.call(context.meta[_LINK], signature, _values(signature, given))
    if not signature.answer:
        return
    answers = [dict(zip(signature.answer, row, strict=True)) for row in rows]
    if output == "table":
        show_table(answers, signature.answer)
    elif signature.is_set or not answers:
        render(answers, signature.answer, output)
    else:
        show_document(answers[0])
