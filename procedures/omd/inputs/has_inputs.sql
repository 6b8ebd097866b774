-- A room asks before it looks up what it has declared long ago.

CREATE OR REPLACE FUNCTION omd.has_inputs(
    p_module_id integer
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        EXISTS(
            SELECT FROM omd.module_declaration AS d
            WHERE
                d.module_id = p_module_id
                AND d.origin = 'ROOM'
                AND d.upto_id IS NULL
                AND d.inputs IS NOT NULL
        );
END;

COMMENT ON FUNCTION omd.has_inputs IS
'For rooms: answers whether a room has declared what the runs of the Module p_module_id read. '
'Locks: none.';
