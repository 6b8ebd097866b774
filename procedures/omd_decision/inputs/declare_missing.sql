-- Stages of before this was declared have no inputs yet.

CREATE OR REPLACE FUNCTION omd_decision.declare_missing()
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT omd.require_maintenance('omd_decision.declare_missing');
    SELECT omd_decision._save_stage_inputs(m.module_id, m.definition)
    FROM (
        SELECT
            s.module_id,
            v.definition
        FROM omd_decision.stage AS s
        INNER JOIN omd_decision.stage_version AS v
            ON s.stage_id = v.stage_id AND s.version = v.version
        WHERE s.module_id IS NOT NULL AND NOT omd.has_inputs(s.module_id)
        ORDER BY s.module_id
        LIMIT 50
    ) AS m;
END;

COMMENT ON FUNCTION omd_decision.declare_missing IS
'For rooms: tells process control what stages read of which it does not know yet, 50 at a time. '
'omd.maintain_rooms calls it. Errors: OM018: another calls it. Locks: their Modules.';
GRANT EXECUTE ON FUNCTION omd_decision.declare_missing TO omd_runner, omd_admin;
