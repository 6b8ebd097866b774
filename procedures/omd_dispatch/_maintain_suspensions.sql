-- The oldest comes first, a part of it in each round.

CREATE OR REPLACE FUNCTION omd_dispatch._maintain_suspensions(
    p_limit integer
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $maintain_suspensions$
DECLARE
    v_suspension record;
BEGIN
    SELECT s.suspension_id, s.resumed_at INTO v_suspension
    FROM omd_dispatch.task_suspension AS s
    WHERE s.resumed_at IS NOT NULL OR NOT s.is_marked
    ORDER BY s.suspension_id
    LIMIT 1
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN FALSE;
    ELSIF v_suspension.resumed_at IS NOT NULL THEN
        PERFORM omd_dispatch._let_go(v_suspension.suspension_id, p_limit);
    ELSE
        PERFORM omd_dispatch._mark_suspended(v_suspension.suspension_id, p_limit);
    END IF;
    RETURN EXISTS (
        SELECT FROM omd_dispatch.task_suspension AS s
        WHERE s.resumed_at IS NOT NULL OR NOT s.is_marked
    );
END
$maintain_suspensions$;

COMMENT ON FUNCTION omd_dispatch._maintain_suspensions IS
'Goes on with one suspension, up to p_limit tasks of it, and returns whether there is more to do. '
'Locks: the suspension and its tasks.';
REVOKE ALL ON FUNCTION omd_dispatch._maintain_suspensions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._maintain_suspensions TO omd_runner, omd_admin;
