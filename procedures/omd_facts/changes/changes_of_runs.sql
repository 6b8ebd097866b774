-- A reader by changes is known by the numbers of the changes that lie in its block.

CREATE OR REPLACE FUNCTION omd_facts.changes_of_runs(
    p_instance_array bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    source_code text,
    change_id bigint,
    change_datetime timestamptz,
    undone_by_change_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        c.module_instance_id,
        'facts.' || i.interface_code AS source_code,
        c.change_id,
        c.change_datetime,
        c.undone_by_change_id
    FROM omd_facts.change AS c
    INNER JOIN omd_facts.interface AS i ON c.interface_id = i.interface_id
    WHERE c.module_instance_id = any(p_instance_array) AND c.change_kind <> 'UNDO';
END;

COMMENT ON FUNCTION omd_facts.changes_of_runs IS
'For rooms: returns the changes of facts that the runs p_instance_array made, with their source, '
'number and time, and the change that undid each; NULL: it stands. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts.changes_of_runs TO omd_reader;
