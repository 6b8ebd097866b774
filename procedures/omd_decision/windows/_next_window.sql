-- One rule says what the next run reads, for a begin and for a preview. A block of changes goes to
-- the newest one, which no undo has reached over; one that a person ends goes on to the undo. A
-- window by a column in which nothing can be makes no run: who looks for news would look again at
-- once.

CREATE OR REPLACE FUNCTION omd_decision._next_window(
    p_stage_id integer,
    p_definition jsonb,
    p_asked_value timestamptz,
    p_asked_id bigint,
    OUT p_is_empty boolean,
    OUT p_source_code text,
    OUT p_start_value timestamptz,
    OUT p_start_id bigint,
    OUT p_end_value timestamptz,
    OUT p_end_id bigint,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_window$
DECLARE
    v_never CONSTANT timestamptz := timestamptz '0001-01-02 00:00:00+00';
    v_module_id integer;
    v_source record;
    v_upto timestamptz;
    v_block record;
    v_end record;
BEGIN
    SELECT s.module_id INTO v_module_id FROM omd_decision.stage AS s WHERE s.stage_id = p_stage_id;
    p_is_empty := FALSE;
    IF p_definition #>> '{window,by}' IS DISTINCT FROM 'CHANGES' THEN
        IF p_asked_id IS NOT NULL THEN
            PERFORM omd.raise_error(
                'OM013',
                jsonb_build_object(
                    'argument', 'p_end_id', 'value', p_asked_id,
                    'expected', 'NULL: the window of the stage does not go by changes'
                )
            );
        ELSIF NOT p_definition ? 'window' THEN
            RETURN;
        END IF;
        SELECT w.p_start_value INTO p_start_value FROM omd.load_window_start(v_module_id) AS w;
        v_end := omd_decision._window_end(p_definition, p_start_value, p_asked_value);
        p_end_value := v_end.p_end_value;
        p_detail := v_end.p_detail;
        -- An end that was asked for and lies before the start is an error of the caller.
        p_is_empty := p_end_value = coalesce(p_start_value, v_never);
        IF NOT p_is_empty AND p_definition #>> '{start,when}' = 'NEWS' THEN
            p_is_empty := NOT omd_decision._may_have_rows(
                p_definition, p_start_value, p_end_value
            );
        END IF;
        IF p_is_empty THEN
            p_detail := coalesce(p_detail, 'there is nothing new up to ' || p_end_value);
        END IF;
        RETURN;
    END IF;

    p_source_code := omd_decision._block_source(p_definition);
    SELECT b.p_start_pos, b.p_start_id INTO p_start_value, p_start_id
    FROM omd.block_start(v_module_id, p_source_code) AS b;
    SELECT s.pos, s.id, s.is_closed INTO v_source
    FROM omd.source_position AS s
    WHERE s.source_code = p_source_code
    LIMIT 1;
    p_end_value := v_source.pos;
    p_end_id := v_source.id;
    IF coalesce(p_asked_id, 0) > v_source.id OR p_asked_id < 0 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_end_id', 'value', p_asked_id,
                'expected', format('a change of %s, up to %s', p_source_code, v_source.id)
            )
        );
    ELSIF p_asked_id < p_start_id OR p_asked_value < p_start_value THEN
        PERFORM omd.raise_error(
            'OM010',
            jsonb_build_object(
                'module_instance_id', coalesce(
                    nullif(current_setting('omd.module_instance_id', TRUE), ''), 'of the stage'
                ),
                'problem', 'ends before its start',
                'start', concat_ws(', ', p_start_value, 'id ' || p_start_id),
                'start_value', p_start_value,
                'start_id', p_start_id,
                'end_value', p_asked_value,
                'end_id', p_asked_id
            )
        );
    ELSIF num_nonnulls(p_asked_id, p_asked_value) > 0 THEN
        v_upto := p_asked_value;
        IF p_asked_id IS NOT NULL THEN
            v_upto := least(v_upto, omd.block_upto(p_source_code, p_asked_id));
        END IF;
        v_block := omd.plan_block(
            p_source_code, '{}', p_start_value, p_start_id, v_upto, 9223372036854775807
        );
        p_end_value := v_block.p_end_pos;
        p_end_id := v_block.p_end_id;
    END IF;
    p_is_empty := CASE
        WHEN p_end_id IS NULL OR p_end_id = 0 THEN TRUE
        WHEN p_start_id > -9223372036854775808 THEN p_end_id <= p_start_id
        ELSE coalesce(p_end_value <= p_start_value, FALSE)
    END;
    IF p_is_empty THEN
        p_detail := format('%s has no change that was not read', p_source_code);
    ELSIF v_source.is_closed THEN
        p_is_empty := TRUE;
        p_detail := format('rows of %s are being taken back', p_source_code);
    END IF;
END
$next_window$;

COMMENT ON FUNCTION omd_decision._next_window IS
'Returns what the next run of the stage p_stage_id with the document p_definition reads, up to '
'p_asked_value or the change p_asked_id (NULL: as far as it may): behind p_start_value and '
'p_start_id up to p_end_value and p_end_id, where it goes by changes those of p_source_code. '
'p_is_empty: there is nothing to read, and p_detail says why; else p_detail says why it is not '
'what was asked for. NULL: it has no window. Errors: OM010: the end lies before the start; OM013: '
'there is no such change, or the window does not go by changes. Locks: none.';
