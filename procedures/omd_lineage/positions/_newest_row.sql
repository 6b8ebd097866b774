-- It takes one look into the index, with the rights of the caller, who owns or may read the table.
-- A row with a NULL has no position, and in the index it would come before all others. A row ahead
-- of the clock is passed over too: rows that are written after it lie before it. The lock on the
-- table is not waited for long: whoever locks one table must not stop those who read another. The
-- kept plan uses indexes only, since it may have been made while the table was empty. What can't be
-- cast is a value of a row: the text of that error stands in the DETAIL, and its code in the
-- message, which everybody sees. The other errors name what the catalogue knows.

CREATE OR REPLACE FUNCTION omd_lineage._newest_row(
    p_table_code text,
    p_pos_column text,
    p_id_column text
)
RETURNS omd_lineage.row_position
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
SET enable_seqscan = off
SET jit = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $newest_row$
DECLARE
    -- Other names than those of the columns: ORDER BY would take the casts, which no index serves.
    v_look CONSTANT text := 'SELECT %1$s::timestamptz AS "omd pos", %2$I::bigint AS "omd id"'
        ' FROM %3$s WHERE %4$s AND %2$I IS NOT NULL ORDER BY %1$s DESC, %2$I DESC LIMIT 1';
    v_pos text := omd_lineage._pos_expression(p_pos_column);
    v_table_name text := omd.quote_table(p_table_code, 'POSTGRES');
    v_row omd_lineage.row_position;
BEGIN
    EXECUTE 'EXECUTE ' || omd_lineage._kept_statement(
        p_table_code,
        'AS ' || format(
            v_look, v_pos, p_id_column, v_table_name, format('%s IS NOT NULL', v_pos)
        )
    )
    INTO v_row.pos, v_row.id;
    IF v_row.pos > clock_timestamp() THEN
        EXECUTE format(
            v_look, v_pos, p_id_column, v_table_name, format('%s <= $1', v_pos)
        )
        INTO v_row.pos, v_row.id
        USING clock_timestamp();
    END IF;
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
                    p_table_code, p_pos_column, p_id_column, sqlstate,
                    CASE WHEN sqlstate ~ '^22' THEN omd.shown_error(sqlstate, sqlerrm) ELSE sqlerrm END
                ),
                'whole_problem', omd_lineage._why_unreadable(
                    p_table_code, p_pos_column, p_id_column, sqlstate, sqlerrm
                )
            )
        );
        RETURN NULL;
END
$newest_row$;

COMMENT ON FUNCTION omd_lineage._newest_row IS
'Returns the position of the newest row of the table p_table_code (schema.table) by its columns '
'p_pos_column (timestamptz; empty: none) and p_id_column (integer); NULL when there is none. A row'
' with a NULL in one of the columns, or ahead of the clock, does not count. Errors: OM206: the '
'table can''t be read by blocks; OM212: it is locked. Locks: the table, ACCESS SHARE.';
GRANT EXECUTE ON FUNCTION omd_lineage._newest_row TO omd_runner, omd_admin;
