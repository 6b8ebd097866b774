-- One statement decides for a task or for a thousand; complete_tasks and the settlement of dead
-- backends both come here. A task that a purge moves at this moment is tried again.

CREATE OR REPLACE FUNCTION omd_dispatch._end_claims(
    p_family_code text,
    p_backend_id text,
    p_results jsonb
)
RETURNS bigint[]
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_claims$
DECLARE
    v_ended bigint[];
BEGIN
    IF p_results @? '$[*].error_class' THEN
        -- Before any task is locked, and in one order.
        INSERT INTO omd_dispatch.error_class (class_name)
        SELECT DISTINCT r.error_class
        FROM jsonb_to_recordset(p_results) AS r (error_class text)
        WHERE r.error_class ~ '^[A-Za-z0-9_.]{1,200}$'
            AND NOT EXISTS (
                SELECT FROM omd_dispatch.error_class AS c WHERE c.class_name = r.error_class
            )
        ORDER BY r.error_class
        ON CONFLICT DO NOTHING;
    END IF;
    PERFORM omd_dispatch._hold_model(p_family_code);
    LOOP
        BEGIN
            EXECUTE format(
                'SELECT omd_dispatch.%I($1, $2)', omd_dispatch._claim_routine(p_family_code, 'end')
            )
            INTO v_ended
            USING p_backend_id, p_results;
            EXIT;
        EXCEPTION
            WHEN serialization_failure THEN
                NULL;
        END;
    END LOOP;
    RETURN coalesce(v_ended, '{}'::bigint[]);
END
$end_claims$;

COMMENT ON FUNCTION omd_dispatch._end_claims IS
'Ends claims of tasks of p_family_code and returns the tasks whose claim it has ended. p_results: '
'an array of {"task_id", "claim_token", "outcome", "error", "error_code", "error_class"}; a task '
'that is not claimed by p_backend_id (NULL: by claimed_by of the result) under that token is left '
'alone. An outcome that is NULL is that of the instance which the task has begun; LOST says that '
'the backend is dead: the instance decides if it has ended, else the task is due at once. Locks: '
'the tasks and their keys.';
