-- phase: expand
-- V197: each room says by rows what of its history a purge deletes. Applied once.

CREATE TABLE omd.purge_step (
    schema_name text NOT NULL,
    position smallint NOT NULL,
    step_routine text NOT NULL,
    rows_per_step integer NOT NULL,
    needs_keep boolean NOT NULL,
    table_code text,
    old_rows text,
    CONSTRAINT ck_purge_step_rows CHECK (rows_per_step > 0),
    CONSTRAINT pk_purge_step PRIMARY KEY (schema_name, position)
);

COMMENT ON TABLE omd.purge_step IS
'What omd.purge does. A room enters its own steps when it is installed.';
COMMENT ON COLUMN omd.purge_step.schema_name IS 'The schema of the room, and of the routine.';
COMMENT ON COLUMN omd.purge_step.position IS
'The order of the steps of a room. When one fails, those after it are left out.';
COMMENT ON COLUMN omd.purge_step.step_routine IS
'A function (p_before, p_limit, p_last_id, p_deleted) that deletes some rows: p_last_id says where '
'it is, NULL at the beginning and at the end, and p_deleted how many rows are gone. It is called '
'again and again, each time in a transaction of its own.';
COMMENT ON COLUMN omd.purge_step.rows_per_step IS 'Its p_limit.';
COMMENT ON COLUMN omd.purge_step.needs_keep IS
'FALSE: nobody needs what it deletes, so that it is also called when no p_keep is given.';
COMMENT ON COLUMN omd.purge_step.table_code IS
'The table whose rows p_deleted counts; NULL: it deletes none.';
COMMENT ON COLUMN omd.purge_step.old_rows IS
'A query over at most 1,000 rows: those that are older than $1. Some of them may be needed yet.';
