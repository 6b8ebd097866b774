-- It is the way of omd_facts.changes_of_runs from the other end.

CREATE OR REPLACE FUNCTION omd_facts.changes_in_block(
    p_source_code text,
    p_start_id bigint,
    p_end_id bigint
)
RETURNS TABLE (
    module_instance_id bigint,
    change_id bigint,
    undone_by_change_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        c.module_instance_id,
        c.change_id,
        c.undone_by_change_id
    FROM omd_facts.interface AS i
    INNER JOIN omd_facts.change AS c ON i.interface_id = c.interface_id
    WHERE
        p_source_code = 'facts.' || i.interface_code
        AND c.change_id > coalesce(p_start_id, 0)
        AND c.change_id <= p_end_id
        AND c.module_instance_id IS NOT NULL
        AND c.change_kind <> 'UNDO';
END;

COMMENT ON FUNCTION omd_facts.changes_in_block IS
'For rooms: returns the runs whose changes of p_source_code lie behind p_start_id, up to p_end_id, '
'with the change that undid each; NULL: it stands. Locks: none.';
