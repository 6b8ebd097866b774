-- Only the routine that commits rows and success together knows that it does.

CREATE OR REPLACE FUNCTION omd.note_one_transaction(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    UPDATE omd.module_instance AS mi SET is_one_transaction = TRUE
    WHERE
        mi.module_instance_id = p_module_instance_id
        AND mi.execution_status_code = 'E'
        AND NOT mi.is_one_transaction;
END;

COMMENT ON FUNCTION omd.note_one_transaction IS
'For rooms: says that the rows of the run p_module_instance_id and its success are one '
'transaction, so that nobody has read them before; runs of one Batch Instance of '
'which this is said end in the same one. Locks: the instance.';
