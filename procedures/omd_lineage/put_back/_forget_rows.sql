-- What an undo has put back or handed on is kept no longer.

CREATE OR REPLACE FUNCTION omd_lineage._forget_rows(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $forget_rows$
BEGIN
    DELETE FROM omd_lineage.replaced_row AS r WHERE r.module_instance_id = ANY(p_instance_array);
    DELETE FROM omd_lineage.replaced_row AS r WHERE r.written_by = ANY(p_instance_array);
    DELETE FROM omd_lineage.replacement AS r WHERE r.module_instance_id = ANY(p_instance_array);
END
$forget_rows$;

COMMENT ON FUNCTION omd_lineage._forget_rows IS
'Deletes the kept rows that the steps p_instance_array have replaced, and those that they had '
'written. Locks: the deleted rows.';
GRANT EXECUTE ON FUNCTION omd_lineage._forget_rows TO omd_runner, omd_admin;
