-- A rule, a trigger or a statement of one's own has left rows of the runs that were to be undone.

CREATE OR REPLACE FUNCTION omd._refuse_left_rows(
    p_module_code text,
    p_table_code text,
    p_instance_array bigint[],
    p_left bigint
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $refuse_left_rows$
BEGIN
    PERFORM omd.raise_error(
        'OM112',
        jsonb_build_object(
            'module_code', p_module_code,
            'table_code', p_table_code,
            'module_instance_ids', p_instance_array,
            'problem', format('%s rows of these runs are still there', p_left),
            'rows_left', p_left,
            'way_out', format(
                'Find the rule or trigger of %s that keeps them. If they have to stay: '
                'CALL omd.register_rollback(%L, p_keeps_rows => TRUE);',
                p_table_code,
                p_module_code
            )
        )
    );
END
$refuse_left_rows$;

COMMENT ON FUNCTION omd._refuse_left_rows IS
'Raises OM112: p_left rows of the instances p_instance_array of the Module p_module_code are still '
'in p_table_code. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._refuse_left_rows TO omd_runner, omd_admin;
