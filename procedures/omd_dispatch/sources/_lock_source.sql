-- A session that reads a source may end meanwhile: what it would have written is not there, so the
-- source says beforehand that it is read, and is tried again as after an error.

CREATE OR REPLACE FUNCTION omd_dispatch._lock_source(
    p_family_code text,
    p_task_type text,
    p_asked_at timestamptz,
    p_is_begun boolean,
    OUT p_source omd_dispatch.task_source
)
RETURNS omd_dispatch.task_source
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lock_source$
DECLARE
    v_now CONSTANT timestamptz := clock_timestamp();
BEGIN
    PERFORM omd.require_read_committed();
    SELECT s.* INTO p_source
    FROM omd_dispatch.task_source AS s
    WHERE s.family_code = p_family_code AND s.task_type = p_task_type
    FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    ELSIF p_is_begun THEN
        IF NOT p_source.is_firing OR p_source.inactive_indicator = 'Y' THEN
            p_source := NULL;
        END IF;
        RETURN;
    ELSIF NOT omd_dispatch._source_is_due(p_source, p_asked_at, v_now) THEN
        p_source := NULL;
        RETURN;
    END IF;
    UPDATE omd_dispatch.task_source AS s SET
        last_fired_at = v_now,
        -- Who has marked it and has gone leaves this, so that it counts as a failure.
        attempt = s.attempt + 1,
        retry_time = v_now + omd_dispatch._backoff(s.attempt + 1),
        is_firing = TRUE,
        problem = CASE
            WHEN s.is_firing THEN '57P01: the session that read it has ended' ELSE s.problem
        END
    WHERE s.family_code = p_family_code AND s.task_type = p_task_type
    RETURNING s.* INTO p_source;
END
$lock_source$;

COMMENT ON FUNCTION omd_dispatch._lock_source IS
'Returns the source of the type p_task_type in p_family_code if it is to be read for news of '
'p_asked_at and nobody else reads it, else NULL; it is marked as being read. p_is_begun: the '
'caller has marked it, and has committed. Errors: OM014. Locks: the source; a locked one is '
'passed over.';
GRANT EXECUTE ON FUNCTION omd_dispatch._lock_source TO omd_runner, omd_admin;
