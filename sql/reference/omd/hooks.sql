-- The occasions on which rooms are called, and the routines of process control for its own kinds.
-- A Module of kind JOB, a program, is begun in the database only to execute SQL that the caller
-- gives.

INSERT INTO omd.hook (hook, arguments, answer, description)
VALUES
(
    'BEFORE_PURGE', '', 'bigint',
    'Takes note of what has ended, before omd.purge deletes. It is called until it answers '
    '0; NULL: another session is at it.'
),
(
    'BEGIN_RUN', 'text, bigint, jsonb, text, bigint, text, text', NULL,
    'for_code: a kind of Modules. A procedure that begins a run and does not commit: '
    '(p_module_code, p_batch_instance_id, p_execution_context, INOUT p_outcome, INOUT '
    'p_module_instance_id, INOUT p_executable, INOUT p_detail). p_outcome: RUN (execute '
    'p_executable), NOTHING, BUSY (another works at it), SKIPPED or FAILED (recorded; '
    'nothing began). Without a row the database performs no run of the kind.'
),
(
    'BLOCK_VIEW', 'text', 'text',
    'for_code: a kind of sources. The view by which a block of a table or view is read; it '
    'raises an error where none can be. Without a row it is read by itself.'
),
(
    'END_RUN', 'bigint, text, boolean', NULL,
    'for_code: a kind of Modules. A procedure that is called when such a run has ended, '
    'and does not commit: (p_module_instance_id, p_execution_status_code, INOUT '
    'p_is_more). p_is_more: more is left of what was there at the moment that the setting '
    'omd.first_begin names.'
),
(
    'EQUIP_AGREEMENT', 'integer, text, text', 'void',
    'for_code: a layer. Makes what an agreement of the layer lacks: (p_interface_id, '
    'p_agreement_code, p_layer_code).'
),
(
    'ERASE', 'jsonb', 'SETOF omd.hook_erased',
    'Erases a person from the tables of the room: {"interface", "entity", "keys", '
    '"targets": [{"entity", "columns"}], "holders": [{"table_code", "action" (NULL: of the '
    'interface), "columns": {column: attribute of the key}, "relations" (NULL: no relation '
    'here)}]}. Texts go by omd.text_column.'
),
(
    'FORGET_ATTEMPTS', 'integer, text', 'omd.hook_attempts',
    'for_code: a kind of Modules. Forgets what the room counts of the Module p_module_id '
    'beside its failures; NULL: of the one that the room names p_name.'
),
(
    'HEAR_SERVER', 'text', 'void',
    'What the room does when an administrator confirms the server, as MOVED or COPY.'
),
(
    'HEAR_UNDO', 'text, timestamp with time zone, bigint', 'SETOF omd.hook_reader',
    'Who reads a table, when rows from a moment on were undone (NULL: all), the oldest of '
    'them of a Module Instance.'
),
(
    'MAY_END', 'text, bigint', 'boolean',
    'for_code: a kind of sources. Whether a block of the source may end at this id, as an '
    'undo has not reached over its end since it was planned. Without a row it always may.'
),
(
    'NEEDED_INSTANCES', 'text, bigint[]', 'bigint[]',
    'Which of these instances, of the type MODULE or BATCH, the room still needs, so that '
    'omd.purge keeps them.'
),
(
    'NEXT_ACT', 'text', 'omd.hook_act',
    'for_code: a kind of Modules. Says what omd.next_act answers for the Module '
    '(p_module_code), and changes nothing. Without a row: what process control says, '
    'omd.next_program.'
),
(
    'NEXT_POSITION', 'text, timestamp with time zone, bigint', 'timestamp with time zone',
    'for_code: a kind of sources. The time of the oldest position of the source behind a '
    'position (pos, id); NULL: nothing is behind it. Without a row nobody knows more than '
    'the newest one.'
),
(
    'PLAN_BLOCK',
    'text, text[], timestamp with time zone, bigint, timestamp with time zone, bigint',
    'omd.hook_block',
    'for_code: a kind of sources. Plans a block of the source, read by these tables, '
    'behind a position (pos, id), of positions not after a time, with so many keys at '
    'most. Without a row a block is planned by its rows.'
),
(
    'POSITION_AT', 'text, timestamp with time zone', 'bigint',
    'for_code: a kind of sources. The id of the newest position of the source at this time.'
),
(
    'READ_BOUND', 'text, text', 'timestamp with time zone',
    'for_code: the names of schemas, as LIKE takes them; the longest one that fits counts. '
    'Up to which moment all rows of a relation are there, by the column that it is read by '
    '(NULL: not known); NULL: the room does not know.'
),
(
    'RECALL_EFFECTS', 'bigint[], boolean, jsonb', 'SETOF omd.hook_effect',
    'What it would do to take back those of the runs whose rows the room keeps in tables '
    'of users. It is called with the rights of the caller. The second argument: count '
    'rows; the third one: those that are counted already, {run: {oid of the table: rows}}.'
),
(
    'RECALL_EFFECTS_OWN', 'bigint[], boolean', 'SETOF omd.hook_effect',
    'The same for rows in tables of OMD, with the rights of the owner.'
),
(
    'RECALL_FOLLOWS', 'bigint[], bigint[]', 'SETOF omd.hook_follower',
    'The runs that go with these by the rules of the room; the second argument: those of '
    'them that come again.'
),
(
    'RECALL_LOCKS', 'bigint[]', 'void',
    'Takes the locks of the room for a recall of these runs. The positions, Modules and '
    'instances of process control are locked after those of all rooms.'
),
(
    'SHOW_BLOCK', 'text, bigint, bigint', 'void',
    'for_code: a kind of sources. Lets the views of the source show the block behind the '
    'second argument up to the third, until the transaction ends. Without a row they need '
    'no call.'
),
(
    'SKIP_COUNTERS', 'bigint', 'void',
    'Passes over so many of the numbers that the room counts in a table.'
),
(
    'STANDS_FOR', 'oid', 'text[]',
    'for_code: that of a READ_BOUND of the room. The tables for which a relation stands '
    'where somebody reads it. Without a row it stands for itself.'
),
(
    'TAKE_BACK', 'bigint[], bigint, bigint, text', 'SETOF omd.hook_taken',
    'for_code: whose runs these are: the kind and the code of a Module with a space '
    'between, as LIKE takes them; the longest one that fits counts. Takes runs of one '
    'level back, for the run of a recall, the recall and because of a reason. It is called '
    'with the rights of the caller. A room has one such routine.'
),
(
    'TAKE_BACK_OWN', 'bigint[], bigint, bigint, text', 'SETOF omd.hook_taken',
    'The same for rows in tables of OMD, with the rights of the owner; all runs of the '
    'room go in one call.'
),
(
    'UNDO_RUNS', 'integer, bigint[]', 'bigint',
    'for_code: a kind of Modules. Undoes runs (p_module_id, p_instance_array) of such a '
    'Module whose target is in this database: it is the rollback of these Modules, and no '
    'template is.'
)
ON CONFLICT (hook) DO UPDATE SET
    arguments = excluded.arguments,
    answer = excluded.answer,
    description = excluded.description;

INSERT INTO omd.room_hook (hook, for_code, room, routine, position)
VALUES
('BEGIN_RUN', 'SQL', 'omd', 'omd.begin_run', 90),
('BEGIN_RUN', 'JOB', 'omd', 'omd.begin_run', 90),
('END_RUN', 'SQL', 'omd', 'omd.end_run', 90),
('END_RUN', 'JOB', 'omd', 'omd.end_run', 90),
('NEXT_ACT', 'SQL', 'omd', 'omd.next_program', 90),
('NEXT_ACT', 'JOB', 'omd', 'omd.next_program', 90),
('NEXT_POSITION', 'RUNS', 'omd', 'omd.next_run', 90),
('RECALL_FOLLOWS', '', 'omd', 'omd.recall_follows', 90),
('RECALL_EFFECTS', '', 'omd', 'omd.recall_effects', 90),
('TAKE_BACK', '%', 'omd', 'omd.take_back', 90)
ON CONFLICT (hook, for_code, room) DO UPDATE SET
    routine = excluded.routine,
    position = excluded.position;

-- Former Modules have this kind until an upgrade has ended.
INSERT INTO omd.room_hook (hook, for_code, room, routine, position)
SELECT
    h.hook,
    k.module_kind_code,
    h.room,
    h.routine,
    h.position
FROM omd.module_kind AS k
INNER JOIN omd.room_hook AS h ON h.hook IN ('BEGIN_RUN', 'END_RUN') AND h.for_code = 'JOB'
WHERE k.module_kind_code = 'SPARK'
ON CONFLICT (hook, for_code, room) DO NOTHING;
