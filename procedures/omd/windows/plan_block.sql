-- A block of such a source is planned by its changes and not by its rows, and only its room knows
-- them.

CREATE OR REPLACE FUNCTION omd.plan_block(
    p_source_code text,
    p_table_array text[],
    p_pos timestamptz,
    p_id bigint,
    p_upto timestamptz,
    p_maxstep bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_key_count bigint,
    OUT p_is_full boolean,
    OUT p_min_pos timestamptz
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plan_block$
DECLARE
    v_routine text;
BEGIN
    SELECT h.routine INTO v_routine
    FROM omd.source AS s
    INNER JOIN omd.room_hook AS h
        ON h.hook = 'PLAN_BLOCK' AND s.source_kind_code = h.for_code
    WHERE s.source_code = p_source_code;
    IF v_routine IS NOT NULL THEN
        EXECUTE format(
            'SELECT b.p_end_pos, b.p_end_id, b.p_key_count, b.p_is_full, b.p_min_pos'
            ' FROM %s($1, $2, $3, $4, $5, $6) AS b',
            v_routine
        )
        INTO p_end_pos, p_end_id, p_key_count, p_is_full, p_min_pos
        USING p_source_code, p_table_array, p_pos, p_id, p_upto, p_maxstep;
    END IF;
END
$plan_block$;

COMMENT ON FUNCTION omd.plan_block IS
'For rooms: Plans a block of the source p_source_code, read by the tables or views p_table_array, '
'behind p_pos and p_id, of positions not after p_upto, with at most p_maxstep keys, but at least '
'one change. Returns its end p_end_pos and p_end_id (NULL: there is nothing new), p_key_count, '
'p_is_full (it has as many keys as it may have) and p_min_pos, its first position. Locks: none.';
