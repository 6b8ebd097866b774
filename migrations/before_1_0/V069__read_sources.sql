-- V069: a Module whose runs are read says so in its own row, which its end reads anyway; and rooms
-- say how a block of their sources is planned. Applied once.

-- An upgrade has added the column before (sql/prepare/module_columns.sql).
DO $do$
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_attribute AS a
        WHERE a.attrelid = 'omd.module'::regclass AND a.attname = 'is_source'
    ) THEN
        ALTER TABLE omd.module ADD COLUMN is_source boolean NOT NULL DEFAULT FALSE;
    END IF;
END
$do$;
COMMENT ON COLUMN omd.module.is_source IS
'TRUE: a topic or a stage reads a table that it writes, so the end of each run that wrote rows '
'moves the position of its source (runs.<module_code>).';

ALTER TABLE omd.source_kind
ADD COLUMN plan_routine text,
ADD COLUMN next_routine text,
ADD COLUMN view_routine text,
ADD COLUMN at_routine text;
COMMENT ON COLUMN omd.source_kind.plan_routine IS
'A function (source, the tables that are read, the position pos and id that the block begins '
'after, the time before which it ends, how many keys it may have) that plans a block: its end '
'(p_end_pos and p_end_id, NULL: there is nothing new), p_key_count, p_is_full and p_min_pos; NULL: '
'a block of this kind is planned by its rows.';
COMMENT ON COLUMN omd.source_kind.next_routine IS
'A function (source, position pos and id) that answers the oldest position behind it: pos, or '
'NULL; NULL: nobody knows more than the newest one.';
COMMENT ON COLUMN omd.source_kind.view_routine IS
'A function (table or view) that answers the view by which a block of it is read, and raises an '
'error where there is none; NULL: a block is read from the table itself.';
COMMENT ON COLUMN omd.source_kind.at_routine IS
'A function (source, time) that answers the id of its newest position up to then; NULL: none.';

ALTER TABLE omd.source
ADD COLUMN former_pos timestamptz NOT NULL DEFAULT '-infinity',
ADD COLUMN former_id bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN omd.source.former_pos IS
'The position before the newest one: who has read up to here misses the newest one alone.';
COMMENT ON COLUMN omd.source.former_id IS 'The number of that change, commit or run.';
