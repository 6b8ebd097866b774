-- A runner reads nothing of process control; it may know the Module whose run it undoes.

CREATE OR REPLACE FUNCTION omd_lineage._step_module(
    p_module_instance_id bigint,
    OUT p_module_id integer,
    OUT p_module_code text,
    OUT p_table_code text,
    OUT p_insert_instance_column text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $step_module$
BEGIN
    SELECT m.module_id, m.module_code, m.table_code, m.insert_instance_column
    INTO p_module_id, p_module_code, p_table_code, p_insert_instance_column
    FROM omd.instance_state(p_module_instance_id) AS i
    INNER JOIN omd.module_target AS m USING (module_id);
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;
END
$step_module$;

COMMENT ON FUNCTION omd_lineage._step_module IS
'Returns the Module of the run p_module_instance_id: p_module_id, p_module_code, its target '
'p_table_code and the column p_insert_instance_column. Errors: OM004: there is no such instance. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._step_module TO omd_runner, omd_admin;
