-- What a kind without a room is, is said here alone.

CREATE OR REPLACE VIEW omd.own_kind AS
SELECT k.module_kind_code
FROM omd.module_kind AS k
WHERE k.begin_routine = 'omd.begin_run';

COMMENT ON VIEW omd.own_kind IS
'For rooms: the kinds of process control itself, SQL and JOB: what a run of such a Module is, no '
'other room knows.';
COMMENT ON COLUMN omd.own_kind.module_kind_code IS 'The kind.';
