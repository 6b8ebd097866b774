-- The end of a run is taken before it has the lock, so a position may come late. It never goes
-- back.

CREATE OR REPLACE FUNCTION omd.move_source(
    p_source_code text,
    p_pos timestamptz,
    p_id bigint
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    UPDATE omd.source AS s SET
        pos = p_pos, id = p_id, former_pos = s.pos, former_id = s.id
    WHERE s.source_code = p_source_code AND (s.pos, s.id) < (p_pos, p_id);
END;

COMMENT ON FUNCTION omd.move_source IS
'For rooms: Moves the position of the source p_source_code to p_pos and p_id, unless it is there '
'or further. Call it last before the commit of the rows, of several in the order of their codes. '
'Locks: the source, beside readers.';
