-- A run that is undone must run again, so no partial restart may skip its Module for it.

CREATE OR REPLACE FUNCTION omd._end_take_back(
    p_instance_array bigint[],
    p_recall_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $end_take_back$
BEGIN
    PERFORM omd.require_taken_on(p_instance_array, p_recall_instance_id);
    UPDATE omd.module_instance AS mi SET
        next_run_indicator = 'P',
        next_run_batch_id = NULL
    WHERE mi.module_instance_id = ANY(p_instance_array)
        AND mi.next_run_indicator <> 'P';
    PERFORM omd.mark_taken_back(p_instance_array, p_recall_instance_id);
END
$end_take_back$;

COMMENT ON FUNCTION omd._end_take_back IS
'Marks the runs p_instance_array as undone by p_recall_instance_id and withdraws their load '
'windows. Errors: OM101: the run of the recall has not taken these on. Locks: the instances.';
GRANT EXECUTE ON FUNCTION omd._end_take_back TO omd_admin;
