"""What `omd help TOPIC` prints: what every command has in common."""

from __future__ import annotations

import click

from omd.programs.terminal.commands import meant

TOPICS = {
    "dsn": """\
Which database; the first of these is used:
  1. --dsn CONNINFO            a URL (postgresql://user@host/db) or the key=value form of libpq
  2. OMD_DSN, DATABASE_URL     the same, from the environment
  3. PGHOST, PGSERVICE, ...    libpq's own settings, when any of them is set
  4. the embedded server       when it runs (omd embedded start)
  5. libpq's defaults          the local server, a database named like you

--dsn stands after the command: omd status --dsn "$PROD". omd doctor says where you are.
""",
    "environment": """\
Environment:
  OMD_DSN, DATABASE_URL        the database: omd help dsn
  OMD_HOME                     data folder of the embedded server; otherwise .omd in the working
                               directory if it is there, otherwise the platform's data folder
  OMD_BATCH_INSTANCE_ID        the Batch Instance that a job started elsewhere joins
  OMD_EXECUTOR_DSN             the database as executors of Spark reach it
  OMD_JOBS                     the functions that a worker may execute: omd worker --jobs
  OMD_SECRET_...               the secrets of webhooks that omd send signs with
  OMD_DEBUG                    set to 1, it is like omd --debug
""",
    "exit-codes": """\
Exit codes:
  0  done
  1  failed
  2  wrong usage
  3  skipped: it need not run
  4  aborted: it must not run now
  5  the database needs: omd install
  6  no connection to the database
  7  rejected: a delivery is not acceptable

Data goes to stdout, everything else to stderr, so: omd status --output json | jq .
""",
    "things": """\
A THING is kind:key, or the key alone where it is the key of one thing:
  run:7, batchrun:7            a run of a Module, of a Batch
  delivery:7, export:7         what was delivered, facts that are exported
  task:7, recall:7             a task of a worker, a recall
  module:m_orders              and batch, topic, stage, ruleset: by their codes
  agreement:nyc, interface:I   what is delivered by whom, and in which form
  table:app.orders             a table that a Module reads or writes

Digits without a kind are looked for among numbers, and if there is none among codes; any other
text among codes. A Module, what it performs and the table that it writes are one thing. A key
that two things have is refused, with both spellings.
""",
}


@click.command("help")
@click.argument("topic", metavar="[TOPIC|COMMAND]", required=False)
@click.pass_context
def help_(context: click.Context, topic: str | None) -> None:
    """Print a page about a topic: dsn, environment, exit-codes, things; or the help of a command.

    \b
    Examples:
      omd help dsn            which database a command uses
      omd help status         the same as omd status --help
    """
    root = context.find_root()
    group = root.command
    if topic in TOPICS:
        click.echo(TOPICS[topic], nl=False)
        return
    if topic is None:
        click.echo(root.get_help())
        return
    assert isinstance(group, click.Group)  # noqa: S101 - it holds this command
    command = group.get_command(root, topic)
    if command is not None:
        with click.Context(command, info_name=topic, parent=root) as its:
            click.echo(command.get_help(its))
        return
    question = meant(topic, [*TOPICS, *group.list_commands(root)], "omd help")
    answer = question or f"The topics are {', '.join(TOPICS)}."
    raise click.UsageError(f"No such topic '{topic}'. {answer}", context)
