-- Which rule of a decision model applied stands in the trace of the call. Of a function and of
-- Python the routine is all that is known.

CREATE OR REPLACE FUNCTION omd_provenance._decision_steps(
    p_module_instance_id bigint,
    p_record jsonb
)
RETURNS TABLE (
    step text,
    value text,
    text text,
    detail jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $decision_steps$
BEGIN
    RETURN QUERY
    WITH call AS MATERIALIZED (
        SELECT d.*, row_number() OVER () AS n
        FROM omd_decision.decided(p_module_instance_id, p_record) AS d
    )

    SELECT s.step, s.value, s.text, s.detail
    FROM (
        SELECT
            1 AS place,
            c.n,
            0 AS nth,
            'DECISION' AS step,
            c.ruleset_code || ' ' || c.ruleset_version AS value,
            concat(
                format(
                    'It was decided by the rules %s, version %s, in the stage %s, version %s',
                    c.ruleset_code, c.ruleset_version, c.stage_code, c.stage_version
                ),
                CASE WHEN c.cycle_no IS NULL THEN '; nothing is kept of the call' END,
                ', for ' || (
                    SELECT string_agg(k.key || ' ' || coalesce(k.value, 'empty'), ', ')
                    FROM jsonb_each_text(c.key) AS k
                ),
                ', wave ' || c.wave,
                '.'
            ) AS text,
            jsonb_build_object(
                'stage_code', c.stage_code, 'stage_version', c.stage_version,
                'ruleset_code', c.ruleset_code, 'ruleset_version', c.ruleset_version,
                'content_hash', c.content_hash, 'wave', c.wave, 'key', c.key,
                'cycle_no', c.cycle_no, 'invocation_no', c.invocation_no, 'result', c.result
            ) AS detail
        FROM call AS c
        UNION ALL
        SELECT
            2,
            c.n,
            coalesce(h.place, 0),
            'RULE',
            coalesce(h.node, c.routine),
            CASE
                WHEN h.hit IS NOT NULL
                    THEN concat(
                        'In the table ', h.node, ' this row applied: ',
                        'row ' || ((h.hit ->> 'index')::integer + 1),
                        ': ' || nullif(h.hit -> 'rule' ->> '_description', ''), '.'
                    )
                WHEN c.routine IS NOT NULL
                    THEN format('The rules are the %s %s.', lower(c.ruleset_kind), c.routine)
                ELSE 'The stage does not keep which row of the rules applied.'
            END,
            coalesce(h.hit, '{}')
        FROM call AS c
        LEFT JOIN LATERAL (
            SELECT
                n.value ->> 'name' AS node,
                hit.item AS hit,
                row_number() OVER (ORDER BY (n.value ->> 'order')::numeric, hit.ordinal)::integer
                AS place
            FROM jsonb_each(
                CASE WHEN jsonb_typeof(c.trace) = 'object' THEN c.trace ELSE '{}' END
            ) AS n
            CROSS JOIN LATERAL omd.json_items(
                CASE jsonb_typeof(n.value -> 'traceData')
                    WHEN 'array' THEN n.value -> 'traceData'
                    ELSE jsonb_build_array(n.value -> 'traceData')
                END
            ) AS hit
            WHERE hit.item ? 'rule'
        ) AS h ON TRUE
    ) AS s
    ORDER BY s.place, s.n, s.nth
    LIMIT 100;
END
$decision_steps$;

COMMENT ON FUNCTION omd_provenance._decision_steps IS
'Returns the steps DECISION and RULE of omd_provenance.explain for the row p_record, which the run '
'p_module_instance_id wrote; none where it is no run of a stage. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._decision_steps TO omd_data_reader;
