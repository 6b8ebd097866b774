-- With a batch size of 2 or more a batch crosses keys, and what an attempt leaves decides about
-- the next one: so this is the algorithm as the rules tell it, record by record, with one cursor
-- per link. Every record is read in one place, the innermost loop. In its first round an attempt
-- reads all links; in each further round the links that are no arrays give their next records.

CREATE OR REPLACE FUNCTION omd_decision._cycles_across_keys(
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
AS $cycles_across_keys$
DECLARE
    v_batch_size CONSTANT bigint := omd_decision._batch_size(p_definition);
    v_most CONSTANT bigint := (p_definition ->> 'max_array_rows')::bigint;
    v_numbers integer[];
    v_names text[];
    v_parameters text[];
    v_arrays boolean[];
    v_links integer;
    -- The head of each link: its next record. A link that has ended has no wave.
    v_cursors refcursor[];
    v_cursor refcursor;
    v_waves text[];
    v_wave_keys text[];
    v_sort_keys text[];
    v_keys jsonb[];
    v_arrivals bigint[];
    v_records jsonb[];
    v_head_wave text;
    v_head_wave_key text;
    v_head_sort_key text;
    v_head_key jsonb;
    v_head_arrival bigint;
    v_head_record jsonb;
    -- The wave and the attempt.
    v_wave_key text;
    v_is_over boolean;
    v_attempt bigint;
    v_round bigint;
    v_batch_keys text[];
    v_places integer[];
    v_place integer;
    v_high text;
    v_first_key jsonb;
    v_primaries bigint;
    v_got bigint;
    v_is_taken boolean;
    v_took boolean;
    v_missing integer;
    v_code text;
    v_list jsonb[];
    v_numbers_read bigint[];
    v_inputs jsonb;
    v_params jsonb;
    v_invocation bigint;
    -- What the attempt has taken in its first round.
    v_taken integer;
    v_taken_links integer[];
    v_taken_arrivals bigint[];
    v_taken_keys jsonb[];
    v_taken_sort_keys text[];
    v_taken_records jsonb[];
    v_rows bigint := 0::bigint;
    v_wave_count bigint := 0::bigint;
BEGIN
    SELECT
        array_agg(l.number ORDER BY l.number),
        array_agg(l.name ORDER BY l.number),
        array_agg(l.parameter ORDER BY l.number),
        array_agg(l.is_array ORDER BY l.number),
        count(*)::integer
    INTO v_numbers, v_names, v_parameters, v_arrays, v_links
    FROM omd_decision._links(p_definition) AS l
    WHERE NOT l.is_buffer;

    FOR j IN 1..v_links LOOP
        v_cursor := NULL;
        OPEN v_cursor FOR EXECUTE omd_decision._link_sql(p_definition, v_numbers[j])
            USING p_wave, p_start_value, p_end_value;
        v_cursors[j] := v_cursor;
        FETCH v_cursor INTO
            v_head_wave, v_head_wave_key, v_head_sort_key, v_head_key, v_head_arrival,
            v_head_record;
        IF FOUND AND v_head_arrival IS NULL THEN
            PERFORM omd_decision._raise_arrival(
                v_names[j], v_head_wave, v_head_key, ARRAY[NULL::bigint]
            );
        END IF;
        v_waves[j] := v_head_wave;
        v_wave_keys[j] := v_head_wave_key;
        v_sort_keys[j] := v_head_sort_key;
        v_keys[j] := v_head_key;
        v_arrivals[j] := v_head_arrival;
        v_records[j] := v_head_record;
    END LOOP;

    <<waves>>
    LOOP
        v_wave_key := (SELECT min(w.wave_key COLLATE "C") FROM unnest(v_wave_keys) AS w (wave_key));
        EXIT WHEN v_wave_key IS NULL;
        FOR j IN 1..v_links LOOP
            IF v_wave_keys[j] = v_wave_key THEN
                wave := v_waves[j];
            END IF;
        END LOOP;
        v_wave_count := v_wave_count + 1;
        v_attempt := 0;
        v_is_over := FALSE;
        <<attempts>>
        LOOP
            v_attempt := v_attempt + 1;
            v_round := 0;
            v_invocation := 0;
            v_batch_keys := '{}';
            v_places := array_fill(1, ARRAY[v_links]);
            v_primaries := 0;
            v_taken := 0;
            v_taken_links := '{}';
            v_taken_arrivals := '{}';
            v_taken_keys := '{}';
            v_taken_sort_keys := '{}';
            v_taken_records := '{}';
            v_missing := NULL;
            v_inputs := '{}';
            v_params := '{}';
            <<rounds>>
            LOOP
                v_round := v_round + 1;
                v_took := FALSE;
                FOR j IN 1..v_links LOOP
                    CONTINUE WHEN v_round > 1 AND (j = 1 OR v_arrays[j]);
                    v_got := 0;
                    v_list := '{}';
                    v_numbers_read := '{}';
                    v_place := v_places[j];
                    LOOP
                        EXIT WHEN v_wave_keys[j] IS DISTINCT FROM v_wave_key;
                        IF v_is_over THEN
                            v_is_taken := FALSE;
                            v_code := 'LEFTOVER';
                        ELSIF j = 1 THEN
                            EXIT WHEN v_primaries = v_batch_size;
                            v_primaries := v_primaries + 1;
                            v_is_taken := TRUE;
                            v_high := v_sort_keys[1];
                            IF v_primaries = 1 THEN
                                v_first_key := v_keys[1];
                            END IF;
                            IF v_high IS DISTINCT FROM v_batch_keys[cardinality(v_batch_keys)] THEN
                                v_batch_keys := array_append(v_batch_keys, v_high);
                            END IF;
                        ELSE
                            EXIT WHEN v_got = 1 AND NOT v_arrays[j];
                            WHILE v_batch_keys[v_place] COLLATE "C" < v_sort_keys[j] LOOP
                                v_place := v_place + 1;
                            END LOOP;
                            v_is_taken := v_batch_keys[v_place] = v_sort_keys[j];
                            EXIT WHEN v_is_taken IS NULL;
                            v_code := 'KEY_MISMATCH';
                        END IF;

                        IF v_is_taken THEN
                            v_got := v_got + 1;
                            IF v_got > v_most THEN
                                PERFORM omd_decision._raise_too_large(
                                    p_definition, v_names[j], wave, v_keys[j], v_got
                                );
                            END IF;
                            v_list := array_append(v_list, v_records[j]);
                            v_numbers_read := array_append(v_numbers_read, v_arrivals[j]);
                            IF v_round = 1 THEN
                                v_taken := v_taken + 1;
                                v_taken_links[v_taken] := j;
                                v_taken_arrivals[v_taken] := v_arrivals[j];
                                v_taken_keys[v_taken] := v_keys[j];
                                v_taken_sort_keys[v_taken] := v_sort_keys[j];
                                v_taken_records[v_taken] := v_records[j];
                            END IF;
                        ELSE
                            key := v_keys[j];
                            cycle_no := NULL;
                            invocation_no := NULL;
                            link := v_names[j];
                            arrival := v_arrivals[j];
                            code := v_code;
                            cause_link := NULL;
                            inputs := NULL;
                            params := v_records[j];
                            sort_key := v_sort_keys[j];
                            RETURN NEXT;
                        END IF;

                        v_rows := v_rows + 1;
                        SELECT v_cursors[j] INTO v_cursor;
                        FETCH v_cursor INTO
                            v_head_wave, v_head_wave_key, v_head_sort_key, v_head_key,
                            v_head_arrival, v_head_record;
                        IF v_head_sort_key = v_sort_keys[j] AND v_head_wave_key = v_wave_key
                            AND v_head_arrival = v_arrivals[j]
                        THEN
                            PERFORM omd_decision._raise_arrival(
                                v_names[j], v_head_wave, v_head_key,
                                ARRAY[v_head_arrival, v_head_arrival]
                            );
                        ELSIF v_head_wave_key IS NOT NULL AND v_head_arrival IS NULL THEN
                            PERFORM omd_decision._raise_arrival(
                                v_names[j], v_head_wave, v_head_key, ARRAY[NULL::bigint]
                            );
                        END IF;
                        v_waves[j] := v_head_wave;
                        v_wave_keys[j] := v_head_wave_key;
                        v_sort_keys[j] := v_head_sort_key;
                        v_keys[j] := v_head_key;
                        v_arrivals[j] := v_head_arrival;
                        v_records[j] := v_head_record;
                    END LOOP;
                    v_places[j] := v_place;

                    IF j = 1 AND v_primaries = 0 THEN
                        v_is_over := TRUE;
                    ELSIF v_round = 1 AND v_got = 0 AND NOT v_arrays[j] AND NOT v_is_over THEN
                        v_missing := j;
                        EXIT rounds;
                    ELSIF v_got > 0 OR v_round = 1 THEN
                        v_took := TRUE;
                        IF v_arrays[j] THEN
                            v_inputs := v_inputs
                                || jsonb_build_object(v_parameters[j], v_numbers_read);
                            v_params := v_params || jsonb_build_object(v_parameters[j], v_list);
                        ELSE
                            v_inputs := v_inputs
                                || jsonb_build_object(v_parameters[j], v_numbers_read[1]);
                            v_params := v_params || jsonb_build_object(v_parameters[j], v_list[1]);
                        END IF;
                    END IF;
                END LOOP;
                EXIT attempts WHEN v_is_over;
                EXIT rounds WHEN NOT v_took;
                v_invocation := v_invocation + 1;
                key := v_first_key;
                cycle_no := v_attempt;
                invocation_no := v_invocation;
                link := NULL;
                arrival := NULL;
                code := NULL;
                cause_link := NULL;
                inputs := v_inputs;
                params := v_params;
                sort_key := NULL;
                RETURN NEXT;
            END LOOP;

            IF v_missing IS NOT NULL THEN
                -- HOLD: its next record has a greater key than the batch.
                code := CASE
                    WHEN v_wave_keys[v_missing] = v_wave_key THEN 'KEY_MISMATCH' ELSE 'LEFTOVER'
                END;
                cycle_no := v_attempt;
                invocation_no := NULL;
                cause_link := v_names[v_missing];
                inputs := NULL;
                FOR i IN 1..v_taken LOOP
                    key := v_taken_keys[i];
                    link := v_names[v_taken_links[i]];
                    arrival := v_taken_arrivals[i];
                    params := v_taken_records[i];
                    sort_key := v_taken_sort_keys[i];
                    RETURN NEXT;
                END LOOP;
            END IF;
        END LOOP;
    END LOOP;

    wave := NULL;
    key := NULL;
    cycle_no := NULL;
    invocation_no := NULL;
    link := NULL;
    arrival := NULL;
    code := NULL;
    cause_link := NULL;
    inputs := jsonb_build_object('rows', v_rows, 'waves', v_wave_count);
    params := NULL;
    sort_key := NULL;
    RETURN NEXT;
END
$cycles_across_keys$;

COMMENT ON FUNCTION omd_decision._cycles_across_keys IS
'Returns what _cycles returns, for a stage document p_definition in KEY with a batch size of 2 '
'or more. Errors: OM289: a NULL arrival; OM290: a double one; OM291. Locks: ACCESS SHARE on the '
'sources.';
REVOKE ALL ON FUNCTION omd_decision._cycles_across_keys FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_decision._cycles_across_keys TO omd_reader, omd_runner;
