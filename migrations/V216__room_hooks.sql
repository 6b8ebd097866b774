-- phase: expand
-- V216: one table names the routines by which rooms are called that the caller can't name, and
-- another says what such a routine takes and answers. Applied once.

CREATE TYPE omd.hook_act AS (
    p_act text,
    p_arguments jsonb,
    p_status text,
    p_detail text
);
COMMENT ON TYPE omd.hook_act IS 'What is to be done next for a Module, as omd.next_act has it.';

CREATE TYPE omd.hook_attempts AS (
    p_its_module_id integer,
    p_was boolean
);
COMMENT ON TYPE omd.hook_attempts IS
'A Module of a room (NULL: it has none of the name), and whether there was anything to forget.';

CREATE TYPE omd.hook_block AS (
    p_end_pos timestamptz,
    p_end_id bigint,
    p_key_count bigint,
    p_is_full boolean,
    p_min_pos timestamptz
);
COMMENT ON TYPE omd.hook_block IS
'A planned block: its end (NULL: there is nothing new), how many keys it has, whether that is as '
'many as it may have, and its first position.';

CREATE TYPE omd.hook_reader AS (
    module_id integer,
    reader text,
    source_code text,
    is_whole boolean,
    has_positions boolean,
    way_out text
);
COMMENT ON TYPE omd.hook_reader IS
'A reader of a table: its Module, its name, the table by which it reads, whether each run replaces '
'all of its rows, whether its windows are positions in the table, and the call that makes its rows '
'again.';

CREATE TYPE omd.hook_effect AS (
    module_instance_id bigint,
    delivery_id bigint,
    table_code text,
    action text,
    rows_go bigint,
    rows_back bigint,
    comes_again text,
    problem text
);
COMMENT ON TYPE omd.hook_effect IS
'What it would do to take back a run, per table: columns of omd_report.recall_items. comes_again: '
'a word that omd_provenance knows; NULL: nothing does.';

CREATE TYPE omd.hook_follower AS (
    module_instance_id bigint,
    because_of bigint
);
COMMENT ON TYPE omd.hook_follower IS 'A run that goes with another one, and which one that is.';

CREATE TYPE omd.hook_taken AS (
    module_instance_id bigint,
    table_code text,
    rows_gone bigint,
    rows_returned bigint
);
COMMENT ON TYPE omd.hook_taken IS 'The rows of a run that went from a table, and came back.';

CREATE TYPE omd.hook_erased AS (
    layer text,
    table_code text,
    outcome text,
    key_count bigint,
    row_count bigint,
    remark text,
    tables text[] -- noqa: LT01
);
COMMENT ON TYPE omd.hook_erased IS
'What an erasure did to a table: columns of omd_report.erasure_items; remark: its text. tables: '
'those that the rows were in, where table_code is the name of several; NULL: it is that one.';

CREATE TABLE omd.hook (
    hook text NOT NULL,
    arguments text NOT NULL,
    answer text,
    description text NOT NULL,
    CONSTRAINT pk_hook PRIMARY KEY (hook)
);
COMMENT ON TABLE omd.hook IS
'The occasions on which rooms are called by rows of omd.room_hook.';
COMMENT ON COLUMN omd.hook.hook IS 'The occasion.';
COMMENT ON COLUMN omd.hook.arguments IS 'The types that a routine of it takes.';
COMMENT ON COLUMN omd.hook.answer IS
'What the routine returns. A composite type names its columns, whether it returns this type or '
'columns of these names and types. NULL: it is a procedure, whose INOUT parameters answer.';
COMMENT ON COLUMN omd.hook.description IS
'When it is called, with which rights, what it must do, and what for_code is.';

CREATE TABLE omd.room_hook (
    hook text NOT NULL,
    for_code text NOT NULL DEFAULT '',
    room text NOT NULL,
    routine text NOT NULL,
    position smallint NOT NULL DEFAULT 0,
    CONSTRAINT pk_room_hook PRIMARY KEY (hook, for_code, room),
    CONSTRAINT fk_room_hook_hook FOREIGN KEY (hook) REFERENCES omd.hook (hook)
);
COMMENT ON TABLE omd.room_hook IS
'The routines by which rooms are called that the caller can''t name, as their rooms are above its '
'own. A room enters its own when it is installed, and only an installation writes here.';
COMMENT ON COLUMN omd.room_hook.hook IS 'The occasion.';
COMMENT ON COLUMN omd.room_hook.for_code IS
'What it is for, as the hook says: a kind of Modules or of sources, a layer, a pattern. Empty: '
'for everything.';
COMMENT ON COLUMN omd.room_hook.room IS 'The schema of the room.';
COMMENT ON COLUMN omd.room_hook.routine IS
'The routine, with its schema. It is checked when the row is written.';
COMMENT ON COLUMN omd.room_hook.position IS
'The order in which the rooms are called, and so the order of their locks, which is a contract of '
'all rooms: a room has one number, and locks before those with higher ones.';
