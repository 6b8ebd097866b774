-- Each field of an answer is converted as the server converts it, so the server finds the one that
-- does not fit.

CREATE OR REPLACE FUNCTION omd_decision._require_fit(
    p_definition jsonb,
    p_detail jsonb,
    p_result jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_fit$
DECLARE
    v_output record;
    v_records jsonb;
    v_problem text;
BEGIN
    IF jsonb_typeof(p_result) IS DISTINCT FROM 'object' THEN
        PERFORM omd.raise_error(
            'OM284', p_detail || jsonb_build_object('problem', 'the answer is no object')
        );
    END IF;
    FOR v_output IN
        SELECT o.item ->> 'name' AS name, o.item ->> 'parameter' AS parameter,
            o.item ->> 'table' AS table_code
        FROM omd.json_items(p_definition -> 'outputs') AS o
        ORDER BY o.ordinal
    LOOP
        v_records := p_result -> v_output.parameter;
        v_problem := NULL;
        IF v_records IS NULL OR jsonb_typeof(v_records) = 'null' THEN
            CONTINUE;
        ELSIF jsonb_typeof(v_records) = 'object' THEN
            v_records := jsonb_build_array(v_records);
        END IF;
        IF jsonb_typeof(v_records) <> 'array' THEN
            v_problem := 'it is no object and no list';
        ELSE
            BEGIN
                EXECUTE format(
                    'SELECT count(t.*) FROM jsonb_array_elements($1) AS o (record)'
                    ' CROSS JOIN LATERAL jsonb_populate_record(NULL::%s, o.record) AS t',
                    v_output.table_code
                ) USING v_records;
            EXCEPTION
                WHEN data_exception OR integrity_constraint_violation THEN
                    v_problem := format('%s (%s)', SQLERRM, SQLSTATE);
            END;
        END IF;
        IF v_problem IS NOT NULL THEN
            PERFORM omd.raise_error(
                'OM284',
                p_detail || jsonb_build_object(
                    'output', v_output.name,
                    'problem', format('output "%s": %s', v_output.name, v_problem)
                )
            );
        END IF;
    END LOOP;
END
$require_fit$;

COMMENT ON FUNCTION omd_decision._require_fit IS
'Raises an error unless p_result, what a ruleset has answered, fits the outputs of the stage '
'document p_definition. p_detail: the call, for the error. Errors: OM284. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._require_fit TO omd_runner;
