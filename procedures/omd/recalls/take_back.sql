-- Each Module has a rollback, and a recall uses it.

CREATE OR REPLACE FUNCTION omd.take_back(
    p_instance_array bigint[],
    p_recall_instance_id bigint,
    p_recall_id bigint,
    p_reason text
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text,
    rows_gone bigint,
    rows_returned bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $take_back$
BEGIN
    RETURN QUERY
    SELECT t.* FROM omd.take_back_rows(
        (omd._recall_runs(p_instance_array)).p_standing, p_recall_instance_id
    ) AS t;
END
$take_back$;

COMMENT ON FUNCTION omd.take_back IS
'For rooms: Takes those of the runs p_instance_array that are of kind SQL or JOB back, for the '
'recall p_recall_id and its run p_recall_instance_id, because of p_reason, with the rights of the '
'caller: their rows go by the rollback of their own Modules, their load windows are withdrawn, and '
'they are marked as undone. Returns the rows that went and came back, per run. Errors: OM101, '
'OM112. Locks: the target rows; the instances.';
GRANT EXECUTE ON FUNCTION omd.take_back TO omd_admin;
