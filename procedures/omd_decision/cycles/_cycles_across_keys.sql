-- With a batch size of 2 or more a batch crosses keys, and what an attempt leaves decides about
-- the next one. So this is the algorithm as the rules tell it (docs/explanation/decision.md, rule
-- C5), record by record, with one cursor per link. The head of a link is its next record: an
-- attempt takes it, rejects it, or leaves it where it is.

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
    -- Of each link; the first one is the primary one.
    v_names text[] := '{}'::text[];
    v_parameters text[] := '{}'::text[];
    v_arrays boolean[] := '{}'::boolean[];
    v_cursors refcursor[] := '{}'::refcursor[];
    v_heads omd_decision.link_record[] := '{}'::omd_decision.link_record[];
    v_link record;
    v_cursor refcursor;
    v_head omd_decision.link_record;
    v_wave_key text;
    -- The attempt: the sort keys of its batch in their order, at which of them each link is, the
    -- records of its first invocation and their links, and the values of all of its invocations.
    v_attempt bigint;
    v_invocation bigint;
    v_batch_keys text[];
    v_places integer[];
    v_taken omd_decision.link_record[];
    v_taken_links text[];
    v_inputs jsonb;
    v_params jsonb;
    v_took boolean;
    -- What one link gives to one invocation.
    v_arrivals bigint[];
    v_records jsonb[];
    v_missing integer;
    v_rows bigint := 0::bigint;
    v_waves bigint := 0::bigint;
BEGIN
    FOR v_link IN
        SELECT l.* FROM omd_decision._links(p_definition) AS l
        WHERE NOT l.is_buffer
        ORDER BY l.number
    LOOP
        v_cursor := NULL;
        OPEN v_cursor FOR EXECUTE omd_decision._link_sql(p_definition, v_link.number)
            USING p_wave, p_start_value, p_end_value;
        v_names := array_append(v_names, v_link.name);
        v_parameters := array_append(v_parameters, v_link.parameter);
        v_arrays := array_append(v_arrays, v_link.is_array);
        v_cursors := array_append(v_cursors, v_cursor);
        v_heads := array_append(
            v_heads, omd_decision._next_record(v_cursor, v_link.name, NULL)
        );
    END LOOP;

    <<waves>>
    LOOP
        -- The next wave is the least one that is the head of a link. A link that has ended has
        -- none.
        SELECT h.wave, h.wave_key INTO wave, v_wave_key
        FROM unnest(v_heads) AS h
        WHERE h.wave_key IS NOT NULL
        ORDER BY h.wave_key COLLATE "C"
        LIMIT 1;
        EXIT waves WHEN NOT FOUND;
        v_waves := v_waves + 1;
        v_attempt := 0;
        <<attempts>>
        LOOP
            v_attempt := v_attempt + 1;
            v_invocation := 0;
            v_batch_keys := '{}';
            v_places := array_fill(1, ARRAY[cardinality(v_names)]);
            v_taken := '{}';
            v_taken_links := '{}';
            v_inputs := '{}';
            v_params := '{}';
            v_missing := NULL;
            <<invocations>>
            LOOP
                v_took := FALSE;
                FOR j IN 1..cardinality(v_names) LOOP
                    -- An array has got all that match by the first invocation. The primary link
                    -- is one, or the batch size would be 1.
                    CONTINUE WHEN v_invocation > 0 AND v_arrays[j];
                    v_arrivals := '{}';
                    v_records := '{}';
                    v_head := v_heads[j];
                    -- With NULL the link has ended; with another wave it goes on later.
                    WHILE v_head.wave_key IS NOT DISTINCT FROM v_wave_key LOOP
                        IF j = 1 THEN
                            EXIT WHEN cardinality(v_records) = v_batch_size;
                            -- Records of one key follow each other.
                            IF v_batch_keys = '{}'
                                OR v_batch_keys[cardinality(v_batch_keys)] <> v_head.sort_key
                            THEN
                                v_batch_keys := array_append(v_batch_keys, v_head.sort_key);
                            END IF;
                        ELSE
                            EXIT WHEN cardinality(v_records) = 1 AND NOT v_arrays[j];
                            WHILE v_places[j] <= cardinality(v_batch_keys)
                                AND v_batch_keys[v_places[j]] COLLATE "C" < v_head.sort_key
                            LOOP
                                v_places[j] := v_places[j] + 1;
                            END LOOP;
                            -- HOLD: it lies behind all keys of the batch, and waits for a later
                            -- one.
                            EXIT WHEN v_places[j] > cardinality(v_batch_keys);
                        END IF;

                        IF j = 1 OR v_batch_keys[v_places[j]] = v_head.sort_key THEN
                            IF cardinality(v_records) = v_most THEN
                                PERFORM omd_decision._raise_too_large(
                                    p_definition, v_names[j], wave, v_head.key, v_most + 1
                                );
                            END IF;
                            v_arrivals := array_append(v_arrivals, v_head.arrival);
                            v_records := array_append(v_records, v_head.record);
                            -- A later invocation can't fail, so nobody asks for what it took.
                            IF v_invocation = 0 THEN
                                v_taken := array_append(v_taken, v_head);
                                v_taken_links := array_append(v_taken_links, v_names[j]);
                            END IF;
                        ELSE
                            -- The batch has passed its key.
                            key := v_head.key;
                            cycle_no := NULL;
                            invocation_no := NULL;
                            link := v_names[j];
                            arrival := v_head.arrival;
                            code := 'KEY_MISMATCH';
                            cause_link := NULL;
                            inputs := NULL;
                            params := v_head.record;
                            sort_key := v_head.sort_key;
                            RETURN NEXT;
                        END IF;
                        v_rows := v_rows + 1;
                        v_head := omd_decision._next_record(v_cursors[j], v_names[j], v_head);
                    END LOOP;
                    v_heads[j] := v_head;

                    IF v_records = '{}' AND j = 1 THEN
                        EXIT attempts;
                    ELSIF v_records = '{}' AND v_arrays[j] THEN
                        -- No match is a value too: the empty array.
                        v_inputs := v_inputs || jsonb_build_object(v_parameters[j], v_arrivals);
                        v_params := v_params || jsonb_build_object(v_parameters[j], v_records);
                    ELSIF v_records = '{}' AND v_invocation = 0 THEN
                        v_missing := j;
                        EXIT invocations;
                    ELSIF v_records = '{}' THEN
                        -- It keeps the value that it gave last.
                        CONTINUE;
                    ELSIF v_arrays[j] THEN
                        v_took := TRUE;
                        v_inputs := v_inputs || jsonb_build_object(v_parameters[j], v_arrivals);
                        v_params := v_params || jsonb_build_object(v_parameters[j], v_records);
                    ELSE
                        v_took := TRUE;
                        v_inputs := v_inputs
                            || jsonb_build_object(v_parameters[j], v_arrivals[1]);
                        v_params := v_params || jsonb_build_object(v_parameters[j], v_records[1]);
                    END IF;
                END LOOP;
                -- Each invocation but the first one has a record that the one before had not.
                EXIT invocations WHEN NOT v_took;
                v_invocation := v_invocation + 1;
                key := v_taken[1].key;
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
            CONTINUE attempts WHEN v_missing IS NULL;

            -- The attempt has failed: what it took is rejected, and the links behind the one
            -- without a match keep their records. That one holds a greater key in this wave, or
            -- has nothing left here.
            code := CASE
                WHEN v_heads[v_missing].wave_key IS NOT DISTINCT FROM v_wave_key
                    THEN 'KEY_MISMATCH'
                ELSE 'LEFTOVER'
            END;
            cycle_no := v_attempt;
            invocation_no := NULL;
            cause_link := v_names[v_missing];
            inputs := NULL;
            FOR i IN 1..cardinality(v_taken) LOOP
                key := v_taken[i].key;
                link := v_taken_links[i];
                arrival := v_taken[i].arrival;
                params := v_taken[i].record;
                sort_key := v_taken[i].sort_key;
                RETURN NEXT;
            END LOOP;
        END LOOP;

        -- The primary link has no record left in this wave, so nothing can match any more.
        cycle_no := NULL;
        invocation_no := NULL;
        code := 'LEFTOVER';
        cause_link := NULL;
        inputs := NULL;
        FOR j IN 2..cardinality(v_names) LOOP
            v_head := v_heads[j];
            WHILE v_head.wave_key IS NOT DISTINCT FROM v_wave_key LOOP
                key := v_head.key;
                link := v_names[j];
                arrival := v_head.arrival;
                params := v_head.record;
                sort_key := v_head.sort_key;
                RETURN NEXT;
                v_rows := v_rows + 1;
                v_head := omd_decision._next_record(v_cursors[j], v_names[j], v_head);
            END LOOP;
            v_heads[j] := v_head;
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
    inputs := jsonb_build_object('rows', v_rows, 'waves', v_waves);
    params := NULL;
    sort_key := NULL;
    RETURN NEXT;
END
$cycles_across_keys$;

COMMENT ON FUNCTION omd_decision._cycles_across_keys IS
'Returns what _cycles returns, for a stage document p_definition in KEY with a batch size of 2 '
'or more. Errors: OM289: a NULL arrival; OM290: a double one; OM291. Locks: ACCESS SHARE on the '
'sources.';
GRANT EXECUTE ON FUNCTION omd_decision._cycles_across_keys TO omd_reader, omd_runner;
