-- It takes one look into the index, with the rights of the caller, who owns or may read the table.
-- A row with a NULL has no position, and in the index it would come before all others. The lock on
-- the table is not waited for long: whoever locks one table must not stop those who read another.

CREATE OR REPLACE FUNCTION omd_lineage._newest_row(
    p_table_code text,
    p_pos_column text,
    p_id_column text,
    p_not_after timestamptz DEFAULT NULL
)
RETURNS omd_lineage.row_position
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
AS $newest_row$
DECLARE
    v_row omd_lineage.row_position;
BEGIN
    EXECUTE format(
        'SELECT %1$I, %2$I FROM %3$s WHERE %1$I %4$s AND %2$I IS NOT NULL'
        ' ORDER BY %1$I DESC, %2$I DESC LIMIT 1',
        p_pos_column, p_id_column, omd.quote_table(p_table_code, 'POSTGRES'),
        CASE WHEN p_not_after IS NULL THEN 'IS NOT NULL' ELSE '<= $1' END
    )
    INTO v_row.pos, v_row.id
    USING p_not_after;
    RETURN v_row;
EXCEPTION
    WHEN lock_not_available THEN
        PERFORM omd.raise_error(
            'OM212',
            jsonb_build_object(
                'table_code', p_table_code,
                'problem', omd_lineage._why_unreadable(
                    p_table_code, p_pos_column, p_id_column, sqlstate, sqlerrm
                )
            )
        );
        RETURN NULL;
    WHEN undefined_table OR undefined_column OR undefined_function OR invalid_schema_name
        OR insufficient_privilege OR data_exception
    THEN
        PERFORM omd.raise_error(
            'OM206',
            jsonb_build_object(
                'table_code', p_table_code,
                'problem', omd_lineage._why_unreadable(
                    p_table_code, p_pos_column, p_id_column, sqlstate, sqlerrm
                )
            )
        );
        RETURN NULL;
END
$newest_row$;

COMMENT ON FUNCTION omd_lineage._newest_row IS
'Returns the position of the newest row of the table p_table_code (schema.table) by its columns '
'p_pos_column (timestamptz) and p_id_column (bigint), of those up to p_not_after (NULL: of all); '
'NULL when there is none. A row with a NULL in one of the columns does not count. Errors: OM206: the table can''t '
'be read by blocks; OM212: it is locked. Locks: the table, ACCESS SHARE.';
REVOKE ALL ON FUNCTION omd_lineage._newest_row FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._newest_row TO omd_runner, omd_admin;
