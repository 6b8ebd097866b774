-- One claim at a time takes from a limited lane: it counts what others have committed, since its
-- statement after the lock has a new snapshot. The row is only a lock, so whoever misses it may
-- make it. Two who made the same one would wait for each other; therefore one at a time makes rows
-- for a type, and the others pass over its new lanes.

CREATE OR REPLACE FUNCTION omd_dispatch._free_in_lane(
    p_family_code text,
    p_lane text,
    p_max_running integer
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $free_in_lane$
DECLARE
    v_lane_key bigint := hashtextextended(p_family_code || ' ' || p_lane, 0);
    v_running integer;
BEGIN
    PERFORM FROM omd_dispatch.limited_lane AS l
    WHERE l.lane_key = v_lane_key
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        PERFORM FROM omd_dispatch.task_conf_type_desc AS t
        WHERE t.family_code = p_family_code AND t.task_type = split_part(p_lane, '/', 2)
            AND NOT EXISTS (
                SELECT FROM omd_dispatch.limited_lane AS l WHERE l.lane_key = v_lane_key
            )
        FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN 0;
        END IF;
        INSERT INTO omd_dispatch.limited_lane (lane_key, made_at)
        VALUES (v_lane_key, clock_timestamp())
        ON CONFLICT (lane_key) DO NOTHING;
        IF NOT FOUND THEN
            RETURN 0;
        END IF;
    END IF;
    EXECUTE format(
        'SELECT count(*) FROM (SELECT FROM %s WHERE status = ''CLAIMED'' AND lane = $1 LIMIT $2)'
        ' AS c',
        omd_dispatch._model_table(p_family_code)
    )
    INTO v_running
    USING p_lane COLLATE "C", p_max_running;
    RETURN p_max_running - v_running;
END
$free_in_lane$;

COMMENT ON FUNCTION omd_dispatch._free_in_lane IS
'Returns how many more tasks of p_family_code may be claimed in p_lane, of which p_max_running run'
' at once; 0 also while another claim holds the lane. Locks: the lane, until the end of the '
'transaction, if it is free.';
