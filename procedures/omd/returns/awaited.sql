-- Every step and every run of a stage asks, so it must cost nothing while no recall has left
-- anything: as a table it is inlined into the statement of the caller, which keeps its plan. A
-- routine that answers is planned in each transaction up to PostgreSQL 17.

CREATE OR REPLACE FUNCTION omd.awaited()
RETURNS TABLE (
    is_awaited boolean
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT TRUE AS is_awaited
    WHERE
        EXISTS (SELECT FROM omd.window_return AS w WHERE w.ended_datetime IS NULL)
        OR EXISTS (SELECT FROM omd.module_return AS r WHERE r.ended_datetime IS NULL)
        OR EXISTS (SELECT FROM omd.pending_recall);
END;

COMMENT ON FUNCTION omd.awaited IS
'For rooms: Returns a row if anything may be to come again, or wait for its rollback, after a '
'recall; none: omd.awaited_tables() is empty. Locks: none.';
