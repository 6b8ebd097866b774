-- This is the only place that says when an executing instance is dead, of a Batch or of a Module.

CREATE OR REPLACE FUNCTION omd._cause_of_death(
    p_lease_expires_at timestamptz,
    p_is_session_bound boolean,
    p_backend_pid integer,
    p_statement_start timestamptz,
    p_processing_indicator text,
    p_batch_instance_id bigint
)
RETURNS text
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_lease_expires_at < clock_timestamp() THEN 'its lease has expired'
            WHEN
                p_is_session_bound
                AND omd._statement_runs(p_backend_pid, p_statement_start) IS NOT TRUE
                THEN 'the statement that ran it has ended'
            -- One that may not proceed ends by itself.
            WHEN
                p_batch_instance_id <> 0
                AND p_processing_indicator <> 'A'
                AND EXISTS (
                    SELECT FROM omd.batch_instance AS caller
                    WHERE
                        caller.batch_instance_id = p_batch_instance_id
                        AND caller.execution_status_code <> 'E'
                )
                THEN format('Batch Instance %s has ended', p_batch_instance_id)
        END;
END;

COMMENT ON FUNCTION omd._cause_of_death IS
'Returns why an executing instance is dead, in words; NULL: it lives. The parameters are its '
'columns; p_batch_instance_id is the Batch Instance that called it, 0 for none. Locks: none.';
