-- The links of a window by changes are views of one interface, so the first one tells it.

CREATE OR REPLACE FUNCTION omd_decision._block_source(
    p_definition jsonb
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT omd.source_of(l.source, 'FACTS')
    FROM omd_decision._links(p_definition) AS l
    WHERE p_definition #>> '{window,by}' = 'CHANGES' AND NOT l.is_buffer
    ORDER BY l.number
    LIMIT 1;
END;

COMMENT ON FUNCTION omd_decision._block_source IS
'Returns the source whose changes are the windows of the stage document p_definition; NULL: its '
'window does not go by changes. Locks: none.';
