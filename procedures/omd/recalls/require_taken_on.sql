-- The run of a recall executes in one transaction only, so nobody else can end runs in its name.

CREATE OR REPLACE FUNCTION omd.require_taken_on(
    p_instance_array bigint[],
    p_recall_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_taken_on$
BEGIN
    PERFORM FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_recall_instance_id
        AND mi.execution_status_code = 'E'
        AND mi.processing_indicator = 'R'
        AND p_instance_array <@ mi.rollback_instance_array;
    IF NOT FOUND THEN
        PERFORM omd._raise_module_instance_state(p_recall_instance_id, 'take runs back');
    END IF;
END
$require_taken_on$;

COMMENT ON FUNCTION omd.require_taken_on IS
'For rooms: Raises OM101 unless the run p_recall_instance_id of a recall executes and has taken on '
'to undo the runs p_instance_array. Locks: none.';
