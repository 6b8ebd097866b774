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
    v_cell record;
    v_rows bigint := 0::bigint;
    v_waves bigint := 0::bigint;
    v_wave text;
    v_has_rejects boolean := FALSE;
    i bigint;
    j integer;
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

    FOR v_cell IN EXECUTE omd_decision._cells_sql(p_definition)
        USING p_wave, p_start_value, p_end_value
    LOOP
        v_rows := v_rows + v_cell.n;
        IF v_waves = 0 OR v_cell.wave IS DISTINCT FROM v_wave THEN
            v_waves := v_waves + 1;
            v_wave := v_cell.wave;
        END IF;
        IF v_cell.unfit IS NOT NULL THEN
            PERFORM omd_decision._raise_arrival(
                (
                    SELECT l.name FROM omd_decision._links(p_definition) AS l
                    WHERE l.number = v_cell.unfit
                ),
                v_wave, v_cell.key, v_cell.unfit_arrivals
            );
        ELSIF v_cell.params IS NULL THEN
            v_has_rejects := TRUE;
            CONTINUE;
        ELSIF v_cell.longest > v_most THEN
            PERFORM omd_decision._raise_too_large(
                p_definition, NULL, v_wave, v_cell.key, v_cell.longest
            );
        END IF;
        wave := v_wave;
        key := v_cell.key;
        cycle_no := v_cell.batch + 1;
        invocation_no := 1;
        inputs := v_cell.inputs;
        params := v_cell.params;
        RETURN NEXT;
        IF v_cell.more_records IS NOT NULL THEN
            FOR i IN 2..v_cell.calls LOOP
                invocation_no := i;
                FOR j IN 1..cardinality(v_is_single) LOOP
                    IF v_is_single[j] AND v_cell.more_records[j] -> (i - 1)::integer IS NOT NULL
                    THEN
                        inputs := inputs || jsonb_build_object(
                            v_parameters[j], v_cell.more_inputs[j] -> (i - 1)::integer
                        );
                        params := params || jsonb_build_object(
                            v_parameters[j], v_cell.more_records[j] -> (i - 1)::integer
                        );
                    END IF;
                END LOOP;
                RETURN NEXT;
            END LOOP;
        END IF;
        IF v_cell.primaries > 1 THEN
            IF v_cell.rest_records IS NULL THEN
                v_has_rejects := TRUE;
            ELSE
                -- Each further record of the key finds the other links empty.
                invocation_no := 1;
                FOR i IN 2..v_cell.primaries LOOP
                    cycle_no := i;
                    inputs := v_none_inputs;
                    params := v_none_inputs;
                    IF p_definition #> '{links,0,array}' = 'true' THEN
                        inputs := inputs || jsonb_build_object(
                            v_parameters[1],
                            jsonb_build_array(v_cell.rest_inputs -> (i - 1)::integer)
                        );
                        params := params || jsonb_build_object(
                            v_parameters[1],
                            jsonb_build_array(v_cell.rest_records -> (i - 1)::integer)
                        );
                    ELSE
                        inputs := inputs || jsonb_build_object(
                            v_parameters[1], v_cell.rest_inputs -> (i - 1)::integer
                        );
                        params := params || jsonb_build_object(
                            v_parameters[1], v_cell.rest_records -> (i - 1)::integer
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
