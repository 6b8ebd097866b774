-- Who reads a table that was written. Views over a table are not looked through: the whole list has
-- them. OFFSET 0 keeps the order of the look-ups, whatever the statistics say.

CREATE OR REPLACE FUNCTION omd_decision.stages_near(
    p_table_codes text[]
)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $stages_near$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT s.module_id
        FROM omd_decision.stage_source AS t
        CROSS JOIN LATERAL (
            SELECT g.module_id FROM omd_decision.stage AS g
            WHERE g.stage_id = t.stage_id
            OFFSET 0
        ) AS s
        WHERE t.table_code = ANY(p_table_codes) AND s.module_id IS NOT NULL
    );
END
$stages_near$;

COMMENT ON FUNCTION omd_decision.stages_near IS
'For rooms: Returns the Modules of the stages that read one of p_table_codes. Locks: none.';
