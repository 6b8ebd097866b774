-- Lineage and load windows read up to here.

CREATE OR REPLACE FUNCTION omd_lake.newest_position(
    p_table_code text,
    OUT p_pos timestamptz,
    OUT p_id bigint
)
RETURNS record
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        c.commit_datetime,
        c.sequence_number
    FROM omd_lake.table_commit AS c
    WHERE c.table_code = p_table_code
    ORDER BY c.commit_datetime DESC, c.sequence_number DESC
    LIMIT 1;
END;

COMMENT ON FUNCTION omd_lake.newest_position IS
'For rooms: Returns the position of the newest commit of the lake table p_table_code (in its one '
'spelling); NULLs when there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lake.newest_position TO omd_runner, omd_admin;
