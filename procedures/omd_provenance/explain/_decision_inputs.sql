-- It says where to look; who asks reads the records with his own rights (_input_steps).

CREATE OR REPLACE FUNCTION omd_provenance._decision_inputs(
    p_module_instance_id bigint,
    p_record jsonb
)
RETURNS TABLE (
    link text,
    source text,
    arrival_column text,
    arrivals bigint[],
    wave_column text,
    wave text,
    key jsonb,
    kept jsonb,
    stamps text[]
)
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        l.item ->> 'name' AS link,
        omd.quote_table(l.item ->> 'source', 'POSTGRES') AS source,
        l.item ->> 'arrival' AS arrival_column,
        ARRAY(
            SELECT a.value::bigint
            FROM
                jsonb_array_elements_text(
                    CASE jsonb_typeof(i.inputs)
                        WHEN 'array' THEN i.inputs
                        ELSE jsonb_build_array(i.inputs)
                    END
                ) WITH ORDINALITY AS a (value, place)
            WHERE a.value ~ '^-?[0-9]{1,18}$'
            ORDER BY a.place
        ) AS arrivals,
        d.wave_column,
        d.wave,
        d.key,
        CASE jsonb_typeof(i.params)
            WHEN 'array' THEN i.params
            WHEN 'object' THEN jsonb_build_array(i.params)
        END AS kept,
        omd.shown_stamp_columns(l.item ->> 'source') || ARRAY['acm_audit_id'] AS stamps
    FROM omd_decision.decided(p_module_instance_id, p_record) AS d
    CROSS JOIN LATERAL omd.json_items(d.links) AS l
    CROSS JOIN
        LATERAL (
            SELECT
                d.inputs -> coalesce(l.item ->> 'parameter', l.item ->> 'name') AS inputs,
                d.params -> coalesce(l.item ->> 'parameter', l.item ->> 'name') AS params
        ) AS i
    WHERE i.inputs IS NOT NULL
    ORDER BY d.cycle_no, d.invocation_no, l.ordinal;
END;

COMMENT ON FUNCTION omd_provenance._decision_inputs IS
'Returns where the records are that the calls were given which made the row p_record of the run '
'p_module_instance_id: per call and link its source, the arrivals, what of them is kept, and the '
'columns of the source that may name a run. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._decision_inputs TO omd_data_reader;
