-- The code of a failure stands in the event of its end. The caller of module_failure gives it, and
-- may have given a sentence with values of rows instead: what is not one word is left out.

CREATE OR REPLACE FUNCTION omd.return_code_of(
    p_subject_type text,
    p_instance_id bigint
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT CASE WHEN f.code ~ '^[A-Za-z0-9_.:+-]{1,64}$' THEN f.code END
    FROM (
        (
            SELECT
                e.event_id,
                e.event_return_code_details AS code
            FROM omd.event_log AS e
            WHERE
                p_subject_type = 'MODULE'
                AND e.module_instance_id = p_instance_id
                AND e.module_instance_id <> 0
                AND e.event_type_code = 2
            ORDER BY e.event_id DESC
            LIMIT 1
        )
        UNION ALL
        (
            SELECT
                e.event_id,
                e.event_return_code_details AS code
            FROM omd.event_log AS e
            WHERE
                p_subject_type = 'BATCH'
                AND e.batch_instance_id = p_instance_id
                AND e.batch_instance_id <> 0
                AND e.module_instance_id = 0
                AND e.event_type_code = 2
            ORDER BY e.event_id DESC
            LIMIT 1
        )
    ) AS f;
END;

COMMENT ON FUNCTION omd.return_code_of IS
'For rooms: Returns the SQLSTATE or other code with which the instance failed; NULL when it has '
'not, or has none that is one word. p_subject_type: MODULE or BATCH. p_instance_id: the instance. '
'Locks: none.';
