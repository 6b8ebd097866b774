-- While a transaction writes to the table, its rows may lie before rows that are already visible.
-- They can't lie before the row that was newest when it began, but at the same instant: sessions
-- take ids from a sequence with a cache in any order. The function runs with the rights of the
-- caller.

CREATE OR REPLACE FUNCTION omd_lineage._safe_position(
    p_table_code text,
    p_pos_column text,
    p_id_column text,
    p_is_remembered boolean,
    OUT p_pos timestamptz,
    OUT p_id bigint,
    OUT p_newest_pos timestamptz,
    OUT p_newest_id bigint,
    OUT p_who text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $safe_position$
DECLARE
    v_table regclass;
    v_key text;
    v_newest omd_lineage.row_position;
    v_writer record;
BEGIN
    PERFORM omd_lineage._require_position(p_table_code, p_pos_column, p_id_column);
    -- The end of the table is read first and the writers second: in this order no writer is missed.
    v_newest := omd_lineage._newest_row(p_table_code, p_pos_column, p_id_column);
    p_newest_pos := v_newest.pos;
    p_newest_id := v_newest.id;
    v_table := omd.quote_table(p_table_code, 'POSTGRES')::regclass;
    -- A table that was dropped and created again is another table.
    v_key := format('%s (%I, %I) %s', p_table_code, p_pos_column, p_id_column, v_table::oid);
    IF p_is_remembered THEN
        PERFORM omd_lineage._see_position(v_key, v_newest);
    END IF;
    v_writer := omd_lineage._writer(v_table);
    IF v_writer.p_since IS NULL THEN
        p_pos := v_newest.pos;
        p_id := v_newest.id;
    ELSE
        p_who := v_writer.p_who;
        SELECT
            (s.position).pos,
            CASE WHEN p_pos_column = '' THEN (s.position).id ELSE -9223372036854775808 END
        INTO p_pos, p_id
        FROM omd_lineage.seen_position AS s
        WHERE s.table_name = v_key AND s.seen_at <= v_writer.p_since
        ORDER BY s.seen_at DESC
        LIMIT 1;
    END IF;
END
$safe_position$;

COMMENT ON FUNCTION omd_lineage._safe_position IS
'Returns the position (p_pos, p_id) up to which all rows of p_table_code are visible, by its '
'columns p_pos_column (empty: none) and p_id_column: that of its newest row, or, while a '
'transaction (p_who) writes to it, just before the instant of the newest row seen before it '
'began; NULL when that is not known. A row ahead of the clock is not counted. (p_newest_pos, '
'p_newest_id) is the newest row. With p_is_remembered, what is seen is remembered. Errors: OM206: '
'the table can''t be read by blocks; OM212: it is locked. Locks: the table, ACCESS SHARE.';
GRANT EXECUTE ON FUNCTION omd_lineage._safe_position TO omd_runner, omd_admin;
