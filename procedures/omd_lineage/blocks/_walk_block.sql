-- One walk along the index of the base table finds the block, however many rows wait behind it. The
-- kept plan must be right for a table of any size, even when it was made while the table was empty,
-- so it uses indexes only. The function runs with the rights of the caller, who reads the base
-- table.

CREATE OR REPLACE FUNCTION omd_lineage._walk_block(
    p_table_code text,
    p_pos_column text,
    p_id_column text,
    p_range text,
    p_start_position omd_lineage.row_position,
    p_safe_position omd_lineage.row_position,
    p_upto timestamptz,
    p_stop_position omd_lineage.row_position,
    p_maxstep bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_row_count bigint,
    OUT p_min_ts timestamptz,
    OUT p_max_id bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $walk_block$
DECLARE
    v_pos text := omd_lineage._pos_expression(p_pos_column);
    v_statement text;
BEGIN
    -- All rows at the position of the last one belong to the block, even beyond maxstep. The names
    -- are others than those of the columns: ORDER BY would take the casts, which no index serves.
    v_statement := format(
        '(timestamptz, bigint, timestamptz, bigint, timestamptz, bigint, timestamptz, bigint) AS'
        ' SELECT b.last_pos, CASE WHEN b.first_pos < b.last_pos THEN ('
        'SELECT %2$I::bigint AS "omd id" FROM %3$s AS t WHERE %4$s ORDER BY %1$s, %2$I'
        ' OFFSET b.n - 1 LIMIT 1'
        ') ELSE b.max_id END, b.n, b.first_pos, b.max_id FROM ('
        'SELECT count(*) AS n, min(r.pos) AS first_pos, max(r.pos) AS last_pos, max(r.id) AS max_id'
        ' FROM (SELECT %1$s::timestamptz AS "omd pos", %2$I::bigint AS "omd id" FROM %3$s'
        ' WHERE %4$s ORDER BY %1$s, %2$I FETCH FIRST ($6) ROWS WITH TIES) AS r (pos, id)'
        ') AS b',
        v_pos, p_id_column,
        omd.quote_table(p_table_code, 'POSTGRES'),
        p_range || CASE WHEN p_stop_position IS NULL THEN '' ELSE format(
            ' AND (%s, %I) < ($7, $8)', v_pos, p_id_column
        ) END
    );
    -- A time travels as JSON has it, since a text of another DateStyle may be read as another time.
    EXECUTE format(
        'EXECUTE %s (%L, %L, %L, %L, %L, %L, %L, %L)',
        omd_lineage._kept_statement(p_table_code, v_statement),
        to_jsonb(p_start_position.pos) #>> '{}', p_start_position.id,
        to_jsonb(p_safe_position.pos) #>> '{}', p_safe_position.id,
        to_jsonb(p_upto) #>> '{}', p_maxstep,
        to_jsonb(p_stop_position.pos) #>> '{}', p_stop_position.id
    )
    INTO p_end_pos, p_end_id, p_row_count, p_min_ts, p_max_id;
END
$walk_block$;

COMMENT ON FUNCTION omd_lineage._walk_block IS
'Returns the block of at most p_maxstep rows of the table p_table_code, by its columns '
'p_pos_column (empty: none) and p_id_column, and more only at the position of the last one. '
'p_range is the condition for its rows, over p_start_position ($1, $2), p_safe_position ($3, $4) '
'and p_upto ($5); before p_stop_position the block ends, NULL: it does not limit. (p_end_pos, '
'p_end_id) is its end, p_row_count the number of its rows, p_min_ts its first time and p_max_id '
'its greatest id. Locks: the table, ACCESS SHARE.';
GRANT EXECUTE ON FUNCTION omd_lineage._walk_block TO omd_runner, omd_admin;
