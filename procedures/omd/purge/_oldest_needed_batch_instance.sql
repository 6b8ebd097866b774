-- The last success is kept because the chain of failures after it is restarted in part.

CREATE OR REPLACE FUNCTION omd._oldest_needed_batch_instance(
    p_batch_id integer
)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        least(
            coalesce(
                (
                    SELECT max(s.batch_instance_id)
                    FROM omd.batch_instance AS s
                    WHERE s.batch_id = p_batch_id AND s.execution_status_code = 'S'
                ),
                (
                    SELECT min(f.batch_instance_id)
                    FROM omd.batch_instance AS f
                    WHERE f.batch_id = p_batch_id AND f.execution_status_code = 'F'
                )
            ),
            (
                SELECT min(e.batch_instance_id)
                FROM omd.batch_instance AS e
                WHERE e.batch_id = p_batch_id AND e.execution_status_code = 'E'
            ),
            (
                SELECT min(d.batch_instance_id)
                FROM omd.batch_instance AS d
                WHERE d.batch_id = p_batch_id AND d.next_run_indicator IN ('C', 'R')
            )
        );
END;

COMMENT ON FUNCTION omd._oldest_needed_batch_instance IS
'Returns the oldest instance of the Batch p_batch_id that an evaluation may still need: its last '
'success, or its first failure when it never succeeded, and what executes or carries a directive. '
'It returns NULL when there is none. Locks: none.';
