-- The oldest comes first, a part of it in each round. Who marked a task before a resume may commit
-- after it, when the suspension has gone: these tasks are looked for by skips through the index.

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
    SELECT s.suspension_id, s.family_code, s.resumed_at INTO v_suspension
    FROM omd_dispatch.task_suspension AS s
    WHERE s.resumed_at IS NOT NULL OR NOT s.is_marked
    ORDER BY s.suspension_id
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED;
    IF v_suspension.resumed_at IS NOT NULL THEN
        PERFORM omd_dispatch._let_go(
            v_suspension.family_code, v_suspension.suspension_id, p_limit
        );
    ELSIF FOUND THEN
        PERFORM omd_dispatch._mark_suspended(v_suspension.suspension_id, p_limit);
    END IF;
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        EXECUTE format(
            'SELECT omd_dispatch.%I()', omd_dispatch._claim_routine(v_family_code, 'stray')
        )
        INTO v_suspension_id;
        IF v_suspension_id IS NOT NULL THEN
            PERFORM omd_dispatch._let_go(v_family_code, v_suspension_id, p_limit);
        END IF;
    END LOOP;
    RETURN EXISTS (
        SELECT FROM omd_dispatch.task_suspension AS s
        WHERE s.resumed_at IS NOT NULL OR NOT s.is_marked
    );
END
$maintain_suspensions$;

COMMENT ON FUNCTION omd_dispatch._maintain_suspensions IS
'Goes on with one suspension, up to p_limit tasks of it, lets tasks go whose suspension has gone, '
'and returns whether there is more to do. Locks: the suspension and its tasks.';
REVOKE ALL ON FUNCTION omd_dispatch._maintain_suspensions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._maintain_suspensions TO omd_runner, omd_admin;
