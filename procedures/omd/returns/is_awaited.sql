-- Every step and every run of a stage asks, so it must cost nothing while no recall has left
-- anything.

CREATE OR REPLACE FUNCTION omd.is_awaited()
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        EXISTS (SELECT FROM omd.window_return AS w WHERE w.ended_datetime IS NULL)
        OR EXISTS (SELECT FROM omd.module_return AS r WHERE r.ended_datetime IS NULL)
        OR EXISTS (SELECT FROM omd.pending_recall);
END;

COMMENT ON FUNCTION omd.is_awaited IS
'For rooms: Returns whether anything may be to come again, or wait for its rollback, after a '
'recall; FALSE: omd.awaited_tables() is empty. Locks: none.';
