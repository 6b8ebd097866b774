-- A partial restart makes several failed instances one piece of work, so they belong together: from
-- the success before them up to the success that ended the chain.

CREATE OR REPLACE FUNCTION omd._failed_chains(
    p_batch_id integer,
    p_batch_instance_ids bigint[]
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(DISTINCT f.batch_instance_id ORDER BY f.batch_instance_id), '{}')
    FROM unnest(p_batch_instance_ids) AS given (id)
    CROSS JOIN
        LATERAL (
            SELECT max(s.batch_instance_id) AS id
            FROM omd.batch_instance AS s
            WHERE
                s.batch_id = p_batch_id
                AND s.execution_status_code = 'S'
                AND s.batch_instance_id < given.id
        ) AS success_before
    CROSS JOIN
        LATERAL (
            SELECT min(s.batch_instance_id) AS id
            FROM omd.batch_instance AS s
            WHERE
                s.batch_id = p_batch_id
                AND s.execution_status_code = 'S'
                AND s.batch_instance_id >= given.id
        ) AS success_after
    INNER JOIN omd.batch_instance AS f
        ON
            f.batch_id = p_batch_id
            AND f.execution_status_code = 'F'
            AND f.batch_instance_id > coalesce(success_before.id, 0)
            AND f.batch_instance_id < coalesce(success_after.id, 9223372036854775807);
END;

COMMENT ON FUNCTION omd._failed_chains IS
'Returns the failed instances of the Batch p_batch_id around each of p_batch_instance_ids: newer '
'than the last success before it, and older than the first success from it on. They are in the '
'order of their ids; the result is empty when there are none. Locks: none.';
