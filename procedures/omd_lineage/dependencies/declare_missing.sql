-- Topics of before this was declared have no inputs yet.

CREATE OR REPLACE FUNCTION omd_lineage.declare_missing()
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT omd.require_maintenance('omd_lineage.declare_missing');
    SELECT omd_lineage._save_topic_inputs(m.topic_id)
    FROM (
        SELECT t.topic_id
        FROM omd_lineage.topic AS t
        WHERE
            t.processor IS NOT NULL
            AND t.module_id IS NOT NULL
            AND NOT omd.has_inputs(t.module_id)
        ORDER BY t.module_id
        LIMIT 50
    ) AS m;
END;

COMMENT ON FUNCTION omd_lineage.declare_missing IS
'For rooms: tells process control what topics read of which it does not know yet, 50 at a time. '
'omd.maintain_rooms calls it. Errors: OM018: another calls it. Locks: their Modules.';
GRANT EXECUTE ON FUNCTION omd_lineage.declare_missing TO omd_runner, omd_admin;
