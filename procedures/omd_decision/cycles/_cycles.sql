-- The records of one key, or of one batch, meet in one row of a cursor; the loop takes one step
-- for each, and takes records one by one only where a cell is no plain call. Rejects are rare,
-- and what their codes depend on is read when the first one is met. Only batches that cross keys
-- need all records one by one.

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
    v_is_key CONSTANT boolean := p_definition ->> 'mode' = 'KEY';
    v_is_array CONSTANT boolean := p_definition #> '{links,0,array}' = 'true';
    v_rejects_buffers boolean;
    v_names text[];
    v_parameters text[];
    -- The links that are no arrays, the primary one left out, and the first of them.
    v_is_single boolean[];
    v_first_single integer;
    v_none jsonb;
    -- The cell.
    v_count bigint;
    v_unfit integer;
    v_unfit_arrivals bigint[];
    v_longest bigint;
    v_calls integer;
    v_arrivals jsonb[];
    v_records jsonb[];
    v_counts bigint[];
    v_batch bigint;
    v_missing integer;
    v_cause integer;
    -- The greatest sort keys of the wave.
    v_bounds refcursor;
    v_bound_wave text;
    v_greatest text[];
    v_reached text[];
    v_rows bigint := 0::bigint;
    v_waves bigint := 0::bigint;
    v_wave text;
BEGIN
    PERFORM omd_decision._require_links(p_definition);
    SELECT
        bool_or(l.is_buffer AND NOT l.is_array),
        array_agg(l.name ORDER BY l.number) FILTER (WHERE NOT l.is_buffer),
        array_agg(l.parameter ORDER BY l.number) FILTER (WHERE NOT l.is_buffer),
        array_agg(NOT l.is_array AND l.number > 1 ORDER BY l.number)
            FILTER (WHERE NOT l.is_buffer),
        coalesce(
            jsonb_object_agg(l.parameter, '[]'::jsonb)
            FILTER (WHERE NOT l.is_buffer AND l.number > 1),
            '{}'
        )
    INTO v_rejects_buffers, v_names, v_parameters, v_is_single, v_none
    FROM omd_decision._links(p_definition) AS l;
    v_first_single := array_position(v_is_single, TRUE);
    IF v_rejects_buffers THEN
        RETURN QUERY EXECUTE omd_decision._buffers_sql(p_definition, TRUE)
            USING p_wave, p_start_value, p_end_value;
    END IF;
    IF v_is_key AND v_batch_size > 1 THEN
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
        v_calls, v_arrivals, v_records, v_counts, sort_key
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
        ELSIF params IS NOT NULL THEN
            IF v_longest > v_most THEN
                PERFORM omd_decision._raise_too_large(p_definition, NULL, wave, key, v_longest);
            END IF;
            invocation_no := 1;
            RETURN NEXT;
            CONTINUE WHEN v_records IS NULL;
            FOR i IN 2..v_calls LOOP
                invocation_no := i::bigint;
                FOR j IN 1..cardinality(v_is_single) LOOP
                    IF v_is_single[j] AND v_records[j] -> (i - 1) IS NOT NULL THEN
                        inputs := inputs
                            || jsonb_build_object(v_parameters[j], v_arrivals[j] -> (i - 1));
                        params := params
                            || jsonb_build_object(v_parameters[j], v_records[j] -> (i - 1));
                    END IF;
                END LOOP;
                RETURN NEXT;
            END LOOP;
            CONTINUE WHEN v_counts IS NULL;
            IF v_first_single IS NULL THEN
                -- Each further primary record of the key finds the other links empty.
                FOR i IN 2..v_counts[1]::integer LOOP
                    cycle_no := i::bigint;
                    inputs := v_none || jsonb_build_object(
                        v_parameters[1],
                        CASE
                            WHEN v_is_array THEN jsonb_build_array(v_arrivals[1] -> (i - 1))
                            ELSE v_arrivals[1] -> (i - 1)
                        END
                    );
                    params := v_none || jsonb_build_object(
                        v_parameters[1],
                        CASE
                            WHEN v_is_array THEN jsonb_build_array(v_records[1] -> (i - 1))
                            ELSE v_records[1] -> (i - 1)
                        END
                    );
                    RETURN NEXT;
                END LOOP;
                CONTINUE;
            END IF;
        END IF;

        -- Rejects. v_missing is the first link without any record of the key that had to have one.
        v_batch := cycle_no;
        v_missing := NULL;
        FOR j IN REVERSE cardinality(v_is_single)..1 LOOP
            IF v_is_single[j] AND v_counts[j] = 0 THEN
                v_missing := j;
            END IF;
        END LOOP;
        IF v_is_key THEN
            IF v_bounds IS NULL THEN
                OPEN v_bounds FOR EXECUTE omd_decision._bounds_sql(p_definition)
                    USING p_wave, p_start_value, p_end_value;
                FETCH v_bounds INTO v_bound_wave, v_greatest, v_reached;
            END IF;
            WHILE v_bound_wave IS DISTINCT FROM wave LOOP
                FETCH v_bounds INTO v_bound_wave, v_greatest, v_reached;
            END LOOP;
        END IF;
        invocation_no := NULL;
        inputs := NULL;
        FOR j IN 1..cardinality(v_names) LOOP
            link := v_names[j];
            FOR i IN 1..v_counts[j]::integer LOOP
                -- The attempt that takes the record, if any, and the link where it fails.
                cycle_no := NULL;
                v_cause := v_missing;
                IF v_counts[1] = 0 THEN
                    NULL;
                ELSIF NOT v_is_key THEN
                    cycle_no := v_batch;
                ELSIF v_missing IS NULL THEN
                    -- The first attempt has succeeded, and has taken all but the primary records.
                    CONTINUE WHEN j > 1 OR i = 1;
                    cycle_no := i::bigint;
                    v_cause := v_first_single;
                ELSIF v_is_single[j] OR (j = 1 AND v_batch_size = 1) THEN
                    FOR s IN REVERSE v_missing..2 LOOP
                        IF v_is_single[s] AND v_counts[s] < i THEN
                            v_cause := s;
                        END IF;
                    END LOOP;
                    IF v_cause > j AND (i = 1 OR (v_batch_size = 1 AND i <= v_counts[1])) THEN
                        cycle_no := i::bigint;
                    END IF;
                ELSIF j < v_missing THEN
                    cycle_no := 1;
                END IF;
                code := CASE
                    WHEN NOT v_is_key THEN 'LEFTOVER'
                    WHEN sort_key COLLATE "C"
                        < CASE
                            WHEN cycle_no IS NULL THEN v_reached[j] ELSE v_greatest[v_cause]
                        END
                        THEN 'KEY_MISMATCH'
                    ELSE 'LEFTOVER'
                END;
                cause_link := CASE WHEN cycle_no IS NOT NULL THEN v_names[v_cause] END;
                arrival := (v_arrivals[j] -> (i - 1))::bigint;
                params := v_records[j] -> (i - 1);
                RETURN NEXT;
            END LOOP;
        END LOOP;
        link := NULL;
        arrival := NULL;
        code := NULL;
        cause_link := NULL;
    END LOOP;
    IF v_bounds IS NOT NULL THEN
        CLOSE v_bounds;
    END IF;

    wave := NULL;
    key := NULL;
    cycle_no := NULL;
    invocation_no := NULL;
    inputs := jsonb_build_object('rows', v_rows, 'waves', v_waves);
    params := NULL;
    sort_key := NULL;
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
GRANT EXECUTE ON FUNCTION omd_decision._cycles TO omd_reader, omd_runner;
