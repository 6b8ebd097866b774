-- It takes one look into the index, with the rights of the caller, who owns or may read the table.
-- A row ahead of the clock is passed over: rows that are written after it lie before it.

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
        'SELECT %1$s, %2$I FROM %3$s WHERE %1$s <= $1 AND %2$I IS NOT NULL'
        ' ORDER BY %1$s DESC, %2$I DESC LIMIT 1',
        omd_lineage._pos_expression(p_pos_column), p_id_column,
        omd.quote_table(p_table_code, 'POSTGRES')
    ) INTO v_row.pos, v_row.id USING clock_timestamp();
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
'Returns the position of the newest row of the table p_table_code (schema.table) that is not ahead'
' of the clock, by its columns p_pos_column (timestamptz; empty: none) and p_id_column (integer); '
'NULL when there is none. Errors: OM206: the table can''t be read by blocks. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._newest_row FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._newest_row TO omd_runner, omd_admin;
