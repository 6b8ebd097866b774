-- Who takes rows back waits here for those who read them, with no other lock. Which of them it
-- waited for can't be asked of the row, so the runs that execute are named.

CREATE OR REPLACE FUNCTION omd.take_source(
    p_source_code text,
    p_wait interval,
    OUT p_is_taken boolean,
    OUT p_readers text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $take_source$
DECLARE
    v_former CONSTANT text := current_setting('lock_timeout');
BEGIN
    PERFORM FROM omd.source AS s
    WHERE s.source_code = p_source_code
    FOR UPDATE SKIP LOCKED;
    p_is_taken := FOUND OR NOT EXISTS (
        SELECT FROM omd.source AS s WHERE s.source_code = p_source_code
    );
    IF p_is_taken THEN
        RETURN;
    END IF;
    BEGIN
        PERFORM set_config(
            'lock_timeout', greatest(1, extract(EPOCH FROM p_wait) * 1000)::integer::text, TRUE
        );
        PERFORM FROM omd.source AS s
        WHERE s.source_code = p_source_code
        FOR UPDATE;
        PERFORM set_config('lock_timeout', v_former, TRUE);
        p_is_taken := TRUE;
    EXCEPTION
        WHEN lock_not_available THEN
            p_is_taken := FALSE;
    END;
    IF p_is_taken THEN
        RETURN;
    END IF;
    SELECT
        string_agg(
            format('Module Instance %s of %s', mi.module_instance_id, m.module_code), ', '
            ORDER BY mi.module_instance_id
        )
    INTO p_readers
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m USING (module_id)
    INNER JOIN omd.source_control AS c USING (module_instance_id)
    WHERE mi.execution_status_code = 'E' AND c.source_code = p_source_code;
END
$take_source$;

COMMENT ON FUNCTION omd.take_source IS
'For rooms: Takes the source p_source_code from all readers until the transaction ends, when '
'those at work have ended; it waits for p_wait at most. Returns p_is_taken and, if not, p_readers: '
'the runs that read it, NULL when none is recorded. Call it before other locks, and '
'close_source and a commit before it, where that can be. Locks: the source, against readers and '
'those who add to it.';
