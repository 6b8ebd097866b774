-- An instant may have any number of rows, of one commit, and each poll would count them: so it
-- counts up to a limit. The function reads with the rights of the caller, by the index.

CREATE OR REPLACE FUNCTION omd_lineage._taken_rows(
    p_table_code text,
    p_pos_column text,
    p_id_column text,
    p_position omd_lineage.row_position
)
RETURNS integer
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $taken_rows$
DECLARE
    v_rows integer;
BEGIN
    EXECUTE format(
        'SELECT count(*) FROM (SELECT FROM %1$s WHERE %2$I = $1 AND %3$I <= $2'
        ' ORDER BY %2$I, %3$I LIMIT 10001) AS n',
        omd.quote_table(p_table_code, 'POSTGRES'), p_pos_column, p_id_column
    )
    INTO v_rows
    USING p_position.pos, p_position.id;
    RETURN v_rows;
END
$taken_rows$;

COMMENT ON FUNCTION omd_lineage._taken_rows IS
'Returns how many rows of the table p_table_code lie at the instant of p_position up to it, by its '
'columns p_pos_column and p_id_column, 10,001 at most. Locks: the table, ACCESS SHARE.';
GRANT EXECUTE ON FUNCTION omd_lineage._taken_rows TO omd_runner, omd_admin;
