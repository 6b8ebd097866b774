-- A part of one suspension in each round: those that were resumed come first, since their tasks
-- wait for it, while marks only save work; then the oldest. Who marked a task before a resume may
-- commit after it, when the suspension has gone: these tasks are looked for by skips through the
-- index.

CREATE OR REPLACE FUNCTION omd_dispatch._maintain_suspensions(
    p_limit integer
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $maintain_suspensions$
DECLARE
    v_suspension record;
    v_family_code text;
    v_suspension_id bigint;
BEGIN
    PERFORM FROM omd_dispatch.turn AS t WHERE t.part = 'CLEANING' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    FOR v_suspension IN
        SELECT s.suspension_id, s.family_code, s.resumed_at
        FROM omd_dispatch.task_suspension AS s
        WHERE s.resumed_at IS NOT NULL OR NOT s.is_marked
        ORDER BY (s.resumed_at IS NULL), s.suspension_id
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        CONTINUE WHEN NOT omd_dispatch._try_hold_model(v_suspension.family_code);
        IF v_suspension.resumed_at IS NULL THEN
            PERFORM omd_dispatch._mark_suspended(v_suspension.suspension_id, p_limit);
        ELSE
            PERFORM omd_dispatch._release_held_tasks(
                v_suspension.family_code, v_suspension.suspension_id, p_limit
            );
        END IF;
        EXIT;
    END LOOP;
    DELETE FROM omd_dispatch.limited_lane AS l
    WHERE l.lane_key IN (
        SELECT o.lane_key FROM omd_dispatch.limited_lane AS o
        WHERE o.made_at < clock_timestamp() - interval '1 day'
        LIMIT 1000
        FOR UPDATE SKIP LOCKED
    );
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        CONTINUE WHEN NOT omd_dispatch._try_hold_model(v_family_code);
        EXECUTE format(
            'SELECT omd_dispatch.%I()', omd_dispatch._claim_routine(v_family_code, 'stray')
        )
        INTO v_suspension_id;
        IF v_suspension_id IS NOT NULL THEN
            PERFORM omd_dispatch._release_held_tasks(v_family_code, v_suspension_id, p_limit);
        END IF;
    END LOOP;
    RETURN EXISTS (
        SELECT FROM omd_dispatch.task_suspension AS s
        WHERE s.resumed_at IS NOT NULL OR NOT s.is_marked
    );
END
$maintain_suspensions$;

COMMENT ON FUNCTION omd_dispatch._maintain_suspensions IS
'Goes on with one suspension, up to p_limit tasks, lets tasks go whose suspension has gone, '
'removes old rows of lanes, and returns whether there is more to do. It does nothing while another '
'session is at it; a family that is being changed is passed over. Locks: its turn; the suspension '
'and its tasks.';
GRANT EXECUTE ON FUNCTION omd_dispatch._maintain_suspensions TO omd_runner, omd_admin;
