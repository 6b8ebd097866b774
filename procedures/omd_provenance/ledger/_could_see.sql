-- A run whose rows and success are one transaction draws its order before it commits, and a reader
-- draws its own after it has read. Of any other run the rows may be visible from its begin on. Runs
-- that ended before this was recorded are compared by ids and clocks. The entities of a delivery
-- end together, so none has read another one.

CREATE OR REPLACE FUNCTION omd_provenance._could_see(
    p_source omd.ledger_run,
    p_reader omd.ledger_run
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN
                (p_source).is_one_transaction
                AND (p_reader).is_one_transaction
                AND (p_source).batch_instance_id = (p_reader).batch_instance_id
                AND (p_source).batch_instance_id <> 0
                THEN FALSE
            WHEN (p_reader).execution_status_code = 'E' THEN TRUE
            WHEN (p_reader).newest_instance_id IS NULL
                THEN
                    (p_reader).module_instance_id > (p_source).module_instance_id
                    OR (p_reader).end_datetime >= (p_source).start_datetime
            WHEN
                ((p_source).is_session_bound OR (p_source).is_one_transaction)
                AND (p_source).success_order IS NOT NULL
                AND (p_reader).success_order IS NOT NULL
                THEN (p_reader).success_order > (p_source).success_order
            ELSE (p_reader).newest_instance_id >= (p_source).module_instance_id
        END;
END;

COMMENT ON FUNCTION omd_provenance._could_see IS
'Answers whether rows of the run p_source may have been visible when the run p_reader read. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_provenance._could_see TO omd_reader;
