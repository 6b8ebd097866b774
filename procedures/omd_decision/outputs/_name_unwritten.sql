-- A constraint of an output is violated by one record among many, and the statement that writes
-- them all does not tell which. So the calls are written again, one by one, until one fails in the
-- same way; of a call with many records the first that fails is the last of the shortest list that
-- does. The caller raises an error in any case, so nothing of this stays.

CREATE OR REPLACE FUNCTION omd_decision._name_unwritten(
    p_module_instance_id bigint,
    p_calls text,
    p_sqlstate text,
    p_constraint text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $name_unwritten$
DECLARE
    v_run record;
    v_wave text;
    v_key jsonb;
    v_cycle_no bigint;
    v_invocation_no bigint;
    v_params jsonb;
    v_result jsonb;
    v_output record;
    v_records jsonb;
    v_fits bigint;
    v_tried bigint;
    v_least bigint;
    v_state text;
    v_constraint text;
    v_message text;
    v_problem text;
    v_is_written boolean;
    v_is_refused boolean;
BEGIN
    SELECT r.* INTO v_run FROM omd_decision._run_plan(p_module_instance_id) AS r;
    FOR v_wave, v_key, v_cycle_no, v_invocation_no, v_params, v_result IN
        EXECUTE p_calls USING v_run.definition, v_run.start_value, v_run.end_value
    LOOP
        FOR v_output IN
            SELECT
                o.item ->> 'name' AS name,
                o.item ->> 'parameter' AS parameter,
                'WITH called AS (SELECT $4::text AS wave, $5::jsonb AS key, $6::bigint AS cycle_no,'
                ' $7::bigint AS invocation_no, NULL::text AS link, $8::jsonb AS params,'
                ' $9::jsonb AS result) '
                || omd_decision._output_sql(v_run.definition, o.item, v_run.insert_column) AS sql
            FROM omd.json_items(v_run.definition -> 'outputs') AS o
            ORDER BY o.ordinal
        LOOP
            v_records := v_result -> v_output.parameter;
            IF jsonb_typeof(v_records) = 'object' THEN
                v_records := jsonb_build_array(v_records);
            ELSIF v_records IS NULL OR jsonb_typeof(v_records) <> 'array' THEN
                CONTINUE;
            END IF;
            -- v_fits records can be written, v_least can't.
            v_fits := 0::bigint;
            v_least := NULL;
            v_tried := jsonb_array_length(v_records);
            WHILE v_tried > v_fits LOOP
                v_is_written := FALSE;
                v_is_refused := FALSE;
                BEGIN
                    EXECUTE v_output.sql
                    USING
                        p_module_instance_id, v_run.module_code, v_run.ruleset_version,
                        v_wave, v_key, v_cycle_no, v_invocation_no,
                        v_params, jsonb_build_object(
                            v_output.parameter,
                            jsonb_path_query_array(
                                v_records, '$[0 to $last]',
                                jsonb_build_object('last', v_tried - 1)
                            )
                        );
                    v_is_written := TRUE;
                    IF v_least IS NOT NULL THEN
                        RAISE EXCEPTION USING
                            ERRCODE = 'raise_exception', MESSAGE = 'it was a try';
                    END IF;
                EXCEPTION
                    WHEN assert_failure OR OTHERS THEN
                        GET STACKED DIAGNOSTICS
                            v_state = RETURNED_SQLSTATE,
                            v_constraint = CONSTRAINT_NAME,
                            v_message = MESSAGE_TEXT;
                        IF NOT v_is_written
                            AND (v_state, v_constraint) = (p_sqlstate, p_constraint)
                        THEN
                            v_is_refused := TRUE;
                            v_problem := format('%s (%s)', v_message, v_state);
                        END IF;
                END;
                IF v_is_refused THEN
                    v_least := v_tried;
                ELSE
                    v_fits := v_tried;
                END IF;
                EXIT WHEN v_least IS NULL OR v_least = v_fits + 1;
                v_tried := (v_fits + v_least) / 2;
            END LOOP;
            IF v_least IS NOT NULL THEN
                PERFORM omd.raise_error(
                    'OM284',
                    jsonb_build_object(
                        'stage_code', v_run.definition -> 'stage',
                        'ruleset_code', v_run.ruleset_code,
                        'wave', v_wave,
                        'key', v_key,
                        'cycle_no', v_cycle_no,
                        'invocation_no', v_invocation_no,
                        'output', v_output.name,
                        'record', v_least,
                        'constraint', nullif(p_constraint, ''),
                        'problem', format(
                            'output "%s", record %s: %s', v_output.name, v_least, v_problem
                        )
                    )
                );
            END IF;
        END LOOP;
    END LOOP;
END
$name_unwritten$;

COMMENT ON FUNCTION omd_decision._name_unwritten IS
'Raises the error of the first record of the run p_module_instance_id that its output does not '
'take: the write fails with p_sqlstate and, of a constraint, with p_constraint. p_calls: a query '
'of the calls with wave, key, cycle_no, invocation_no, params and result; $1 is the stage '
'document, ($2, $3] the window. It returns when there is none. Errors: OM181, OM284; those of '
'p_calls. Locks: what writing takes.';
GRANT EXECUTE ON FUNCTION omd_decision._name_unwritten TO omd_runner;
