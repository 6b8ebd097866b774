-- Times rise with the numbers, so a walk back by number finds it; most ask for a time not long ago.

CREATE OR REPLACE FUNCTION omd_facts.change_at(
    p_source_code text,
    p_pos timestamptz
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT c.change_id
    FROM omd_facts.change AS c
    INNER JOIN omd_facts.interface AS i ON c.interface_id = i.interface_id
    WHERE i.interface_code = substr(p_source_code, 7) AND c.change_datetime <= p_pos
    ORDER BY c.change_id DESC
    LIMIT 1;
END;

COMMENT ON FUNCTION omd_facts.change_at IS
'For rooms: Returns the newest change of the source p_source_code (facts.<interface>) not after '
'p_pos; NULL: there is none. Locks: none.';
