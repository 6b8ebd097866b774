-- What a run had read is gone, so it may not succeed. It is ended as by hand: this says nothing
-- about its next run, which has no pause.

CREATE OR REPLACE FUNCTION omd.give_up_readers(
    p_instance_array bigint[],
    p_recall_instance_id bigint,
    p_recall_id bigint,
    p_reason text
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $give_up_readers$
BEGIN
    PERFORM omd.require_taken_on(p_instance_array, p_recall_instance_id);
    FOR module_instance_id, table_code IN
        SELECT
            mi.module_instance_id,
            m.table_code
        FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m USING (module_id)
        WHERE mi.module_instance_id = ANY(p_instance_array)
            AND mi.execution_status_code = 'E'
        ORDER BY mi.module_instance_id
    LOOP
        PERFORM omd.fail_module_instance(
            module_instance_id,
            format('recall %s took back what it had read: %s', p_recall_id, p_reason),
            'ENDED'
        );
        RETURN NEXT;
    END LOOP;
END
$give_up_readers$;

COMMENT ON FUNCTION omd.give_up_readers IS
'For rooms: Ends those of the runs p_instance_array that execute with F, because the recall '
'p_recall_id, whose run is p_recall_instance_id, took back what they read, for p_reason; and '
'returns them with their targets. Errors: OM101: the run of the recall has not taken these on. '
'Locks: the instances; then the states of their Modules.';
GRANT EXECUTE ON FUNCTION omd.give_up_readers TO omd_admin;
