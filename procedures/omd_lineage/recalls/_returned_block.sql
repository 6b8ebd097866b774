-- A step that takes a block again reads that one, and not what is planned.

CREATE OR REPLACE FUNCTION omd_lineage._returned_block(
    p_module_instance_id bigint,
    OUT p_start omd_lineage.row_position,
    OUT p_end omd_lineage.row_position
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $returned_block$
BEGIN
    SELECT w.p_start_value, w.p_start_id, w.p_end_value, w.p_end_id
    INTO p_start.pos, p_start.id, p_end.pos, p_end.id
    FROM omd.taken_window(p_module_instance_id) AS w;
END
$returned_block$;

COMMENT ON FUNCTION omd_lineage._returned_block IS
'Returns the block (p_start, p_end] that the step p_module_instance_id takes again after a recall; '
'NULLs: it takes none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._returned_block TO omd_runner;
