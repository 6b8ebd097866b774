-- V066: sources: up to where what a room makes has come, in one table that the room itself moves,
-- so that nobody has to look into it. Applied once. A call of the former omd.record_load_window
-- goes on under another name, until sql/cleanup/drop_retired.sql drops it.

DO $do$
BEGIN
    IF to_regproc('omd.record_load_window') IS NOT NULL THEN
        COMMENT ON ROUTINE omd.record_load_window IS 'Retired.';
        ALTER ROUTINE omd.record_load_window RENAME TO _former_record_load_window;
    END IF;
END
$do$;

CREATE TABLE omd.source_kind (
    source_kind_code text NOT NULL,
    show_routine text,
    check_routine text,
    CONSTRAINT pk_source_kind PRIMARY KEY (source_kind_code)
);
COMMENT ON TABLE omd.source_kind IS
'Kinds of sources. A room enters its own routines when it is installed, and whoever reads a block '
'of a source calls them by these names.';
COMMENT ON COLUMN omd.source_kind.source_kind_code IS
'FACTS: the facts of an interface. LAKE: a table of a lake. RUNS: a table that Modules write.';
COMMENT ON COLUMN omd.source_kind.show_routine IS
'A function (source, the id that the block begins after, the id that it ends at) that lets the '
'views of the source show this block until the transaction ends; NULL: they need no call.';
COMMENT ON COLUMN omd.source_kind.check_routine IS
'A function (source, the id that a block ends at) that answers whether a block may end there, as '
'an undo has not reached over its end since it was planned; NULL: it always may.';

CREATE TABLE omd.source (
    source_code text NOT NULL,
    source_kind_code text NOT NULL,
    pos timestamptz NOT NULL DEFAULT '-infinity',
    id bigint NOT NULL DEFAULT 0,
    closed_until timestamptz,
    CONSTRAINT pk_source PRIMARY KEY (source_code),
    CONSTRAINT fk_source_kind FOREIGN KEY (source_kind_code)
    REFERENCES omd.source_kind (source_kind_code)
)
WITH (fillfactor = 50);
COMMENT ON TABLE omd.source IS
'Up to where each source has come. Whoever makes rows of it moves it in the commit of these rows. '
'A run that reads holds the row FOR KEY SHARE, who takes rows back holds it FOR UPDATE. Several '
'are taken in the order of source_code.';
COMMENT ON COLUMN omd.source.source_code IS
'The source: facts.<interface>, the table of a lake, the Module or table of runs.';
COMMENT ON COLUMN omd.source.source_kind_code IS 'Its kind.';
COMMENT ON COLUMN omd.source.pos IS
'Its newest position: the time of the newest change, commit or run; -infinity: there is none.';
COMMENT ON COLUMN omd.source.id IS
'The number of that change, commit or run, between those of the same time; 0: there is none.';
COMMENT ON COLUMN omd.source.closed_until IS
'Until then no run begins to read it, since somebody waits for those at work to take rows back; '
'NULL: nobody ever did.';

CREATE TABLE omd.source_table (
    table_code text NOT NULL,
    source_code text NOT NULL,
    CONSTRAINT pk_source_table PRIMARY KEY (table_code, source_code),
    CONSTRAINT fk_source_table_source FOREIGN KEY (source_code)
    REFERENCES omd.source (source_code) ON DELETE CASCADE
);
CREATE INDEX ix_source_table_source ON omd.source_table (source_code);
COMMENT ON TABLE omd.source_table IS 'The tables and views by which each source is read.';
COMMENT ON COLUMN omd.source_table.table_code IS 'The table or view, schema.name.';
COMMENT ON COLUMN omd.source_table.source_code IS 'The source that its rows come from.';

-- Windows are history and stay when their source goes.
ALTER TABLE omd.source_control ADD COLUMN source_code text;
COMMENT ON COLUMN omd.source_control.source_code IS
'The source (omd.source) whose positions the window has; NULL: it is about another one.';
CREATE INDEX ix_source_control_source ON omd.source_control (source_code, end_id)
WHERE source_code IS NOT NULL;
