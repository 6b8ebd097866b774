-- Each run is looked at by its index, the newest first, so what was decided lately is found at
-- once.

CREATE OR REPLACE FUNCTION omd_decision.last_run_of(
    p_stage_code text,
    p_key jsonb,
    p_wave text DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $last_run_of$
DECLARE
    v_stage_id integer;
BEGIN
    p_stage_code := omd.require_argument('p_stage_code', p_stage_code);
    p_key := omd.require_argument('p_key', p_key);
    SELECT s.stage_id INTO v_stage_id FROM omd_decision.stage AS s
    WHERE s.stage_code = p_stage_code;
    RETURN coalesce(
        (
            SELECT r.module_instance_id FROM omd_decision.run AS r
            WHERE r.stage_id = v_stage_id
                AND r.waves IS NOT NULL
                AND r.recall_id IS NULL
                AND EXISTS (
                    SELECT FROM omd_decision.cycle AS c
                    WHERE c.module_instance_id = r.module_instance_id
                        AND jsonb_hash(c.key) = jsonb_hash(p_key)
                        AND c.key = p_key
                        AND (p_wave IS NULL OR c.wave = p_wave)
                )
            ORDER BY r.module_instance_id DESC
            LIMIT 1
        ),
        (
            SELECT r.module_instance_id FROM omd_decision.run AS r
            WHERE r.stage_id = v_stage_id
                AND r.waves IS NOT NULL
                AND r.recall_id IS NULL
                AND EXISTS (
                    SELECT FROM omd_decision.reject AS j
                    WHERE j.module_instance_id = r.module_instance_id
                        AND jsonb_hash(j.key) = jsonb_hash(p_key)
                        AND j.key = p_key
                        AND (p_wave IS NULL OR j.wave = p_wave)
                )
            ORDER BY r.module_instance_id DESC
            LIMIT 1
        )
    );
END
$last_run_of$;

COMMENT ON FUNCTION omd_decision.last_run_of IS
'For the driver: '
'Returns the newest run of the stage p_stage_code that has decided the key p_key, else the newest '
'one that has rejected a record of it; NULL when nothing is kept about the key. p_wave: only this '
'wave, as text; NULL: all. Errors: OM005: p_stage_code or p_key is NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision.last_run_of TO omd_reader;
