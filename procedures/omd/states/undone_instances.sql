-- A room that keeps rows of former runs asks which of these runs count no more.

CREATE OR REPLACE FUNCTION omd.undone_instances(
    p_instance_array bigint[]
)
RETURNS bigint[]
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(array_agg(mi.module_instance_id), '{}')
    FROM omd.module_instance AS mi
    WHERE
        mi.module_instance_id = any(p_instance_array)
        AND mi.rolled_back_by_module_instance_id IS NOT NULL;
END;

COMMENT ON FUNCTION omd.undone_instances IS
'For rooms: Returns those of the Module Instances p_instance_array that are undone. Locks: none.';
