-- A key is looked up by its hash, since it may be longer than an index takes.

CREATE OR REPLACE FUNCTION omd_decision.explain(
    p_module_instance_id bigint,
    p_key jsonb DEFAULT NULL,
    p_wave text DEFAULT NULL
)
RETURNS TABLE (
    wave text,
    key jsonb,
    cycle_no bigint,
    invocation_no bigint,
    link text,
    arrival bigint,
    code text,
    cause_link text,
    inputs jsonb,
    params jsonb,
    stage_version integer,
    ruleset_version integer,
    content_hash text,
    result jsonb,
    trace jsonb,
    outputs jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $explain$
DECLARE
    v_reads CONSTANT boolean := omd.reads_rows();
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    RETURN QUERY
    SELECT
        k.wave, k.key, k.cycle_no, k.invocation_no, k.link, k.arrival, k.code, k.cause_link,
        k.inputs, CASE WHEN v_reads THEN k.params END, r.stage_version, r.ruleset_version,
        r.content_hash, CASE WHEN v_reads THEN k.result END, CASE WHEN v_reads THEN k.trace END,
        k.outputs
    FROM omd_decision.run AS r
    CROSS JOIN LATERAL (
        SELECT
            c.wave, c.key, c.cycle_no, c.invocation_no, NULL AS link, NULL::bigint AS arrival,
            NULL AS code, NULL AS cause_link, c.inputs, c.params, c.result, c.trace, c.outputs
        FROM omd_decision.cycle AS c
        WHERE c.module_instance_id = r.module_instance_id
            AND (p_key IS NULL OR (jsonb_hash(c.key) = jsonb_hash(p_key) AND c.key = p_key))
        UNION ALL
        SELECT
            j.wave, j.key, j.cycle_no, NULL, j.link, j.arrival, j.code, j.cause_link, NULL,
            j.record, NULL, NULL, NULL
        FROM omd_decision.reject AS j
        WHERE j.module_instance_id = r.module_instance_id
            AND (p_key IS NULL OR (jsonb_hash(j.key) = jsonb_hash(p_key) AND j.key = p_key))
    ) AS k
    WHERE r.module_instance_id = p_module_instance_id
        AND (p_wave IS NULL OR k.wave = p_wave)
    ORDER BY k.wave, k.key, k.cycle_no, k.invocation_no, k.link, k.arrival;
END
$explain$;

COMMENT ON FUNCTION omd_decision.explain IS
'Returns what the run p_module_instance_id has kept, as rows of cycles. p_key: only cycles and '
'rejects of this key; NULL: all. p_wave: only this wave, as text; NULL: all. params, result and '
'trace are kept by a stage with keep TRACE only, and shown to who has omd_data_reader only; trace '
'is that of a decision model; outputs: how many records each output got. A stage with keep NONE '
'keeps its rejects only, and what is purged or rolled back is gone; what a recall took back stays. '
'Errors: OM005: '
'p_module_instance_id is NULL. Locks: none. May be NULL: wave, key, cycle_no, invocation_no, link, '
'arrival, code, cause_link, inputs, params, result, trace, outputs.';
GRANT EXECUTE ON FUNCTION omd_decision.explain TO omd_reader;
