-- What buffer links give is the same for each call of a wave, so the cycles do without it, and a
-- call takes it from here.

CREATE OR REPLACE FUNCTION omd_decision._buffers(
    p_definition jsonb,
    p_wave text,
    p_start_value timestamptz,
    p_end_value timestamptz
)
RETURNS TABLE (
    wave_key text,
    params jsonb,
    row_count bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
ROWS 10
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
SET datestyle = 'ISO'
SET jit = off
AS $buffers$
DECLARE
    v_wave text;
    v_unfit integer;
    v_length bigint;
    v_double integer;
    v_double_arrivals bigint[];
    v_link text;
BEGIN
    IF NOT EXISTS (SELECT FROM omd_decision._links(p_definition) AS l WHERE l.is_buffer) THEN
        RETURN;
    END IF;
    FOR v_wave, params, row_count, v_unfit, v_length, v_double, v_double_arrivals IN
        EXECUTE omd_decision._buffers_sql(p_definition, FALSE)
        USING p_wave, p_start_value, p_end_value
    LOOP
        IF num_nonnulls(v_unfit, v_double) > 0 THEN
            SELECT l.name INTO v_link
            FROM omd_decision._links(p_definition) AS l
            WHERE l.number = coalesce(v_double, v_unfit);
            IF v_double IS NOT NULL THEN
                PERFORM omd_decision._raise_arrival(v_link, v_wave, NULL, v_double_arrivals);
            ELSIF v_length > 0 THEN
                PERFORM omd_decision._raise_too_large(
                    p_definition, v_link, v_wave, NULL, v_length
                );
            END IF;
            PERFORM omd.raise_error(
                'OM285', jsonb_build_object('link', v_link, 'wave', v_wave)
            );
        END IF;
        wave_key := coalesce('1' || v_wave, '0');
        RETURN NEXT;
    END LOOP;
END
$buffers$;

COMMENT ON FUNCTION omd_decision._buffers IS
'Returns for each wave what the buffer links of the stage document p_definition give to its '
'calls, and how many records they have; none where there are no buffer links. wave_key: 1 and '
'the wave, or 0 for NULL. The other parameters are those of _cycles. Errors: OM285: a buffer '
'link that is no array is empty; OM289: a NULL arrival; OM290: a double one; OM291. Locks: '
'ACCESS SHARE on the sources.';
GRANT EXECUTE ON FUNCTION omd_decision._buffers TO omd_reader, omd_runner;
