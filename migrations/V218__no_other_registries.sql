-- phase: contract
-- V218: the former tables of hooks go, when the routines that read them are gone. Applied once.

-- It is retired, and its body depends on a table.
DROP FUNCTION IF EXISTS omd._undo_routine(integer);
DROP TABLE IF EXISTS omd.undo_listener;
DROP TABLE IF EXISTS omd.read_bound;
DROP TABLE IF EXISTS omd.before_purge;
DROP TABLE IF EXISTS omd.server_routine;
DROP TABLE IF EXISTS omd.room_rollback;
DROP TABLE IF EXISTS omd.room_retry;
DROP TABLE IF EXISTS omd_delivery.agreement_listener;
ALTER TABLE omd.module_kind
DROP COLUMN IF EXISTS begin_routine,
DROP COLUMN IF EXISTS end_routine,
DROP COLUMN IF EXISTS act_routine;
ALTER TABLE omd.source_kind
DROP COLUMN IF EXISTS show_routine,
DROP COLUMN IF EXISTS check_routine,
DROP COLUMN IF EXISTS plan_routine,
DROP COLUMN IF EXISTS next_routine,
DROP COLUMN IF EXISTS view_routine,
DROP COLUMN IF EXISTS at_routine;
-- No Module has this kind any more.
DELETE FROM omd.room_hook WHERE for_code = 'SPARK';
-- Nothing has text there any more.
DELETE FROM omd.text_column AS t
WHERE t.table_code IN (
    'omd.undo_listener', 'omd.read_bound', 'omd.before_purge', 'omd.server_routine',
    'omd.room_rollback', 'omd.room_retry', 'omd_delivery.agreement_listener'
)
OR t.table_code IN ('omd.module_kind', 'omd.source_kind') AND t.column_name LIKE '%\_routine';
