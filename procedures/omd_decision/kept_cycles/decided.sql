-- An output that has the columns for it says which call made a row; else, by keys, the row has the
-- key of its cycle. Without either nothing says it, and the run alone is known.

CREATE OR REPLACE FUNCTION omd_decision.decided(
    p_module_instance_id bigint,
    p_record jsonb
)
RETURNS TABLE (
    stage_code text,
    stage_version integer,
    links jsonb,
    wave_column text,
    ruleset_code text,
    ruleset_version integer,
    ruleset_kind text,
    routine text,
    content_hash text,
    wave text,
    key jsonb,
    cycle_no bigint,
    invocation_no bigint,
    inputs jsonb,
    params jsonb,
    result jsonb,
    trace jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $decided$
DECLARE
    v_reads CONSTANT boolean := omd.reads_rows();
BEGIN
    RETURN QUERY
    SELECT
        s.stage_code, r.stage_version, d.definition -> 'links', d.definition ->> 'wave',
        u.ruleset_code, r.ruleset_version, u.kind,
        CASE WHEN u.kind <> 'JDM' THEN v.content #>> '{}' END, r.content_hash,
        c.wave, c.key, c.cycle_no, c.invocation_no, c.inputs, CASE WHEN v_reads THEN c.params END,
        CASE WHEN v_reads THEN c.result END, CASE WHEN v_reads THEN c.trace END
    FROM omd_decision.run AS r
    INNER JOIN omd_decision.stage AS s ON r.stage_id = s.stage_id
    INNER JOIN omd_decision.stage_version AS d
        ON r.stage_id = d.stage_id AND r.stage_version = d.version
    INNER JOIN omd_decision.ruleset AS u ON r.ruleset_id = u.ruleset_id
    INNER JOIN omd_decision.ruleset_version AS v
        ON r.ruleset_id = v.ruleset_id AND r.ruleset_version = v.version
    CROSS JOIN LATERAL (
        SELECT
            p_record ->> 'omd_invocation_no' IS NOT NULL
            AND p_record ->> 'omd_cycle_no' IS NOT NULL AS is_stamped,
            (
                SELECT jsonb_object_agg(n.item ->> 'column', p_record -> (n.item ->> 'column'))
                FROM omd.json_items(d.definition -> 'keys') AS n
                HAVING bool_and(p_record ? (n.item ->> 'column'))
            ) AS key
    ) AS w
    LEFT JOIN LATERAL (
        SELECT n.* FROM omd_decision.cycle AS n
        WHERE n.module_instance_id = r.module_instance_id
            AND CASE
                WHEN w.is_stamped
                    THEN n.cycle_no::text = p_record ->> 'omd_cycle_no'
                        AND n.invocation_no::text = p_record ->> 'omd_invocation_no'
                        AND (
                            NOT p_record ? 'omd_wave'
                            OR n.wave IS NOT DISTINCT FROM p_record ->> 'omd_wave'
                        )
                        AND (
                            NOT p_record ? 'omd_key'
                            OR n.key IS NOT DISTINCT FROM nullif(p_record -> 'omd_key', 'null')
                        )
                        AND (w.key IS NULL OR n.key IS NULL OR n.key = w.key)
                ELSE jsonb_hash(n.key) = jsonb_hash(w.key) AND n.key = w.key
            END
        ORDER BY n.cycle_no, n.invocation_no
        LIMIT 20
    ) AS c ON TRUE
    WHERE r.module_instance_id = p_module_instance_id;
END
$decided$;

COMMENT ON FUNCTION omd_decision.decided IS
'For rooms: Returns what the run p_module_instance_id of a stage has kept about the calls that may '
'have made the row p_record of an output, at most 20: stage, ruleset and its routine, and of each '
'call the columns of cycles; these are NULL where nothing is kept, or nothing says which call it '
'was. params, result and trace are for omd_data_reader. No row where it is no run of a stage. '
'Locks: none.';
