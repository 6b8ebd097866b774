-- A RELOAD that a recall took back is due, whatever is new.

CREATE OR REPLACE FUNCTION omd_lineage._is_recalled(
    p_topic_id integer
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
            SELECT
            FROM omd_lineage.topic AS t
            INNER JOIN omd.open_window AS w ON t.module_id = w.module_id
            WHERE t.topic_id = p_topic_id
        );
END;

COMMENT ON FUNCTION omd_lineage._is_recalled IS
'Returns whether a recall took back steps of the topic p_topic_id that are to be taken again. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._is_recalled TO omd_runner, omd_admin;
