-- It takes one look into the index, with the rights of the caller, who owns or may read the table.

CREATE OR REPLACE FUNCTION omd_lineage._newest_row(
    p_table_code text,
    p_pos_column text,
    p_id_column text
)
RETURNS omd_lineage.row_position
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $newest_row$
DECLARE
    v_row omd_lineage.row_position;
BEGIN
    EXECUTE format(
        'SELECT %1$I, %2$I FROM %3$s ORDER BY %1$I DESC, %2$I DESC LIMIT 1',
        p_pos_column, p_id_column, omd.quote_table(p_table_code, 'POSTGRES')
    ) INTO v_row.pos, v_row.id;
    RETURN v_row;
EXCEPTION
    WHEN undefined_table OR undefined_column OR invalid_schema_name OR insufficient_privilege
        OR data_exception
    THEN
        PERFORM omd.raise_error(
            'OM206', jsonb_build_object('table_code', p_table_code, 'problem', sqlerrm)
        );
        RETURN NULL;
END
$newest_row$;

COMMENT ON FUNCTION omd_lineage._newest_row IS
'Returns the position of the newest row of the table p_table_code (schema.table) by its columns '
'p_pos_column (timestamptz) and p_id_column (bigint); NULL when the table is empty. Errors: '
'OM206: the table can''t be read by blocks. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._newest_row FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._newest_row TO omd_runner, omd_admin;
