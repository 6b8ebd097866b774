-- What a kind without a room is, is said here alone.

CREATE OR REPLACE VIEW omd.own_kind AS
SELECT h.for_code AS module_kind_code
FROM omd.room_hook AS h
WHERE h.hook = 'BEGIN_RUN' AND h.room = 'omd';

COMMENT ON VIEW omd.own_kind IS
'For rooms: the kinds of process control itself, SQL and JOB: what a run of such a Module is, no '
'other room knows.';
COMMENT ON COLUMN omd.own_kind.module_kind_code IS 'The kind.';
