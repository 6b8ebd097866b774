-- The records of one key, or of one batch, meet in one row of a cursor; the loop takes one step
-- for each. What is rejected is rare, and is read by a second query of the same snapshot, which
-- has the time to look ahead. Only batches that cross keys need the records one by one.

CREATE OR REPLACE FUNCTION omd_decision._cycles(
    p_definition jsonb,
    p_wave text,
    p_start_value timestamptz,
    p_end_value timestamptz
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
    sort_key text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
ROWS 100000
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET datestyle = 'ISO'
SET jit = off
AS $cycles$
DECLARE
    v_batch_size CONSTANT bigint := omd_decision._batch_size(p_definition);
    v_most CONSTANT bigint := (p_definition ->> 'max_array_rows')::bigint;
    v_rejects_buffers boolean;
    v_parameters text[];
    v_is_single boolean[];
    v_none_inputs jsonb;
    v_count bigint;
    v_unfit integer;
    v_unfit_arrivals bigint[];
    v_longest bigint;
    v_calls integer;
    v_more_inputs jsonb[];
    v_more_records jsonb[];
    v_primaries integer;
    v_rest_inputs jsonb;
    v_rest_records jsonb;
    v_rows bigint := 0::bigint;
    v_waves bigint := 0::bigint;
    v_wave text;
    v_has_rejects boolean := FALSE;
BEGIN
    PERFORM omd_decision._require_links(p_definition);
    SELECT
        bool_or(l.is_buffer AND NOT l.is_array),
        array_agg(l.parameter ORDER BY l.number) FILTER (WHERE NOT l.is_buffer),
        array_agg(NOT l.is_array AND l.number > 1 ORDER BY l.number)
            FILTER (WHERE NOT l.is_buffer),
        coalesce(
            jsonb_object_agg(l.parameter, '[]'::jsonb)
            FILTER (WHERE NOT l.is_buffer AND l.number > 1),
            '{}'
        )
    INTO v_rejects_buffers, v_parameters, v_is_single, v_none_inputs
    FROM omd_decision._links(p_definition) AS l;
    IF v_rejects_buffers THEN
        RETURN QUERY EXECUTE omd_decision._buffers_sql(p_definition, TRUE)
            USING p_wave, p_start_value, p_end_value;
    END IF;
    IF p_definition ->> 'mode' = 'KEY' AND v_batch_size > 1 THEN
        RETURN QUERY
        SELECT c.*
        FROM omd_decision._cycles_across_keys(
            p_definition, p_wave, p_start_value, p_end_value
        ) AS c;
        RETURN;
    END IF;

    -- A cell of one call is returned as it is fetched.
    FOR
        wave, key, cycle_no, v_count, v_unfit, v_unfit_arrivals, v_longest, inputs, params,
        v_calls, v_more_inputs, v_more_records, v_primaries, v_rest_inputs, v_rest_records
    IN
        EXECUTE omd_decision._cells_sql(p_definition) USING p_wave, p_start_value, p_end_value
    LOOP
        v_rows := v_rows + v_count;
        IF v_waves = 0 OR wave IS DISTINCT FROM v_wave THEN
            v_waves := v_waves + 1;
            v_wave := wave;
        END IF;
        IF v_unfit IS NOT NULL THEN
            PERFORM omd_decision._raise_arrival(
                (
                    SELECT l.name FROM omd_decision._links(p_definition) AS l
                    WHERE l.number = v_unfit
                ),
                wave, key, v_unfit_arrivals
            );
        ELSIF params IS NULL THEN
            v_has_rejects := TRUE;
            CONTINUE;
        ELSIF v_longest > v_most THEN
            PERFORM omd_decision._raise_too_large(
                p_definition, NULL, wave, key, v_longest
            );
        END IF;
        invocation_no := 1;
        RETURN NEXT;
        IF v_more_records IS NOT NULL THEN
            FOR i IN 2..v_calls LOOP
                invocation_no := i::bigint;
                FOR j IN 1..cardinality(v_is_single) LOOP
                    IF v_is_single[j] AND v_more_records[j] -> (i - 1) IS NOT NULL
                    THEN
                        inputs := inputs || jsonb_build_object(
                            v_parameters[j], v_more_inputs[j] -> (i - 1)
                        );
                        params := params || jsonb_build_object(
                            v_parameters[j], v_more_records[j] -> (i - 1)
                        );
                    END IF;
                END LOOP;
                RETURN NEXT;
            END LOOP;
        END IF;
        IF v_primaries > 1 THEN
            IF v_rest_records IS NULL THEN
                v_has_rejects := TRUE;
            ELSE
                -- Each further record of the key finds the other links empty.
                invocation_no := 1;
                FOR i IN 2..v_primaries LOOP
                    cycle_no := i::bigint;
                    inputs := v_none_inputs;
                    params := v_none_inputs;
                    IF p_definition #> '{links,0,array}' = 'true' THEN
                        inputs := inputs || jsonb_build_object(
                            v_parameters[1],
                            jsonb_build_array(v_rest_inputs -> (i - 1))
                        );
                        params := params || jsonb_build_object(
                            v_parameters[1],
                            jsonb_build_array(v_rest_records -> (i - 1))
                        );
                    ELSE
                        inputs := inputs || jsonb_build_object(
                            v_parameters[1], v_rest_inputs -> (i - 1)
                        );
                        params := params || jsonb_build_object(
                            v_parameters[1], v_rest_records -> (i - 1)
                        );
                    END IF;
                    RETURN NEXT;
                END LOOP;
            END IF;
        END IF;
    END LOOP;

    IF v_has_rejects THEN
        RETURN QUERY EXECUTE omd_decision._rejects_sql(p_definition)
            USING p_wave, p_start_value, p_end_value;
    END IF;
    wave := NULL;
    key := NULL;
    cycle_no := NULL;
    invocation_no := NULL;
    inputs := jsonb_build_object('rows', v_rows, 'waves', v_waves);
    params := NULL;
    RETURN NEXT;
END
$cycles$;

COMMENT ON FUNCTION omd_decision._cycles IS
'Returns the calls and the rejects of the stage document p_definition, without the parameters of '
'buffer links: docs/explanation/decision.md. p_wave: only this wave; NULL: all. p_start_value, '
'p_end_value: the window (start, end] of a stage that has one; NULL: no bound. A call has link '
'and code NULL; inputs holds arrivals, params the records. A reject has its record in params, '
'and the sort key of wave and key. The last row, without cycle_no and link, has in inputs how '
'many rows and waves were read. Errors: OM289: a source lacks something, or a NULL arrival; '
'OM290: a double one; OM291: an array has too many records. Locks: ACCESS SHARE on the sources.';
REVOKE ALL ON FUNCTION omd_decision._cycles FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_decision._cycles TO omd_reader, omd_runner;
