-- FOR SHARE: the backend is not declared dead between this look and the commit, so that a task
-- which it takes has a living holder.

CREATE OR REPLACE FUNCTION omd_dispatch._hold_backend(
    p_backend_id text
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_backend$
DECLARE
    v_backend omd_dispatch.backend_registration;
    v_now timestamptz;
BEGIN
    IF p_backend_id IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_backend_id'));
    END IF;
    SELECT b.* INTO v_backend
    FROM omd_dispatch.backend_registration AS b
    WHERE b.backend_id = p_backend_id
    FOR SHARE;
    -- After the lock. A call would not be inlined with a volatile function.
    v_now := clock_timestamp();
    IF v_backend.backend_id IS NULL
        OR NOT omd_dispatch._lives(v_backend.registration_time, v_backend.ttl, v_now)
    THEN
        PERFORM omd.raise_error('OM172', jsonb_build_object('backend_id', left(p_backend_id, 60)));
    END IF;
    RETURN v_backend.backend_type;
END
$hold_backend$;

COMMENT ON FUNCTION omd_dispatch._hold_backend IS
'Returns the group of the backend p_backend_id, which lives until the end of the transaction. '
'Errors: OM005: p_backend_id is NULL; OM172: it does not live. Locks: the backend FOR SHARE.';
