-- The records are read where they are now, with the rights of who asks, unless the run has kept
-- them or the session calls no code of users (omd.user_code is off). Keys of cycles were written in
-- UTC, so records are too.

CREATE OR REPLACE FUNCTION omd_provenance._input_steps(
    p_module_instance_id bigint,
    p_record jsonb
)
RETURNS TABLE (
    value text,
    module_instance_id bigint,
    text text,
    detail jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $input_steps$
DECLARE
    v_most CONSTANT integer := 50;
    v_input record;
    v_rows jsonb;
    v_problem text;
    v_now jsonb;
BEGIN
    FOR v_input IN
        SELECT * FROM omd_provenance._decision_inputs(p_module_instance_id, p_record)
    LOOP
        v_rows := '{}';
        v_problem := NULL;
        BEGIN
            IF current_setting('omd.user_code', TRUE) = 'off' THEN
                v_problem := 'omd.user_code is off';
            ELSIF v_input.source IS NOT NULL AND v_input.arrival_column IS NOT NULL THEN
                EXECUTE format(
                    'SELECT coalesce(jsonb_object_agg(t.%1$I::text, to_jsonb(t)), ''{}'') FROM %2$s AS t'
                    ' WHERE t.%1$I = ANY($1) AND ($2 IS NULL OR to_jsonb(t) @> $2) AND %3$s',
                    v_input.arrival_column, v_input.source,
                    CASE
                        WHEN v_input.wave_column IS NULL THEN 'TRUE'
                        ELSE format('t.%I::text IS NOT DISTINCT FROM $3', v_input.wave_column)
                    END
                )
                INTO v_rows
                USING v_input.arrivals[1:v_most], v_input.key, v_input.wave;
            END IF;
        EXCEPTION
            WHEN insufficient_privilege OR undefined_table OR undefined_column THEN
                v_problem := SQLERRM;
        END;
        FOR v_place IN 1 .. least(cardinality(v_input.arrivals), v_most) LOOP
            v_now := v_rows -> v_input.arrivals[v_place]::text;
            value := coalesce(v_input.kept -> (v_place - 1), v_now)::text;
            module_instance_id := (
                SELECT (v_now ->> s.name)::bigint
                FROM unnest(v_input.stamps) WITH ORDINALITY AS s (name, place)
                WHERE v_now ->> s.name ~ '^[0-9]{1,18}$'
                ORDER BY s.place
                LIMIT 1
            );
            text := concat(
                format('The rules were given record %s of %s', v_input.arrivals[v_place], v_input.link),
                ', written by run ' || module_instance_id,
                ' (it can''t be read: ' || v_problem || ')',
                CASE
                    WHEN v_now IS NULL AND v_problem IS NULL AND v_input.source IS NOT NULL
                        THEN ', which is not there any more'
                END,
                '.'
            );
            detail := jsonb_build_object(
                'link', v_input.link, 'source', v_input.source,
                'arrival', v_input.arrivals[v_place], 'kept', v_input.kept -> (v_place - 1),
                'now', v_now
            );
            RETURN NEXT;
        END LOOP;
        IF cardinality(v_input.arrivals) > v_most THEN
            value := NULL;
            module_instance_id := NULL;
            text := format(
                'They were given %s more records of %s.', cardinality(v_input.arrivals) - v_most,
                v_input.link
            );
            detail := jsonb_build_object('link', v_input.link, 'source', v_input.source);
            RETURN NEXT;
        END IF;
    END LOOP;
END
$input_steps$;

COMMENT ON FUNCTION omd_provenance._input_steps IS
'Returns the steps INPUT of omd_provenance.explain for the row p_record, which the run '
'p_module_instance_id wrote: each record that the rules were given, at most 50 of a link, with the '
'run that wrote it. Locks: ACCESS SHARE on the sources.';
GRANT EXECUTE ON FUNCTION omd_provenance._input_steps TO omd_data_reader;
