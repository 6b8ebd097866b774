-- It is in force from its commit on, and ends by itself, since who closed the source may be gone.
-- What is open has no time: one that has just passed would close it again when the clock is set
-- back.

CREATE OR REPLACE FUNCTION omd.close_source(
    p_source_code text,
    p_for interval
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    UPDATE omd.source AS s SET
        closed_until = CASE WHEN p_for > interval '0' THEN clock_timestamp() + p_for END
    WHERE s.source_code = p_source_code;
END;

COMMENT ON FUNCTION omd.close_source IS
'For rooms: Lets no run begin to read the source p_source_code for p_for from now, once this is '
'committed; zero opens it. Those at work go on. Locks: the source, beside readers.';
