-- It reads a table of users with the rights of the caller. Where these don't suffice, or rows of the
-- run are gone by other hands, nobody knows where its rows were.

CREATE OR REPLACE FUNCTION omd_provenance._row_windows(
    p_module_instance_id bigint,
    p_table_code text,
    p_stamp_columns text[],
    p_rows bigint,
    p_pos_column text,
    p_id_column text,
    p_windows jsonb
)
RETURNS bigint[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $row_windows$
DECLARE
    v_relation CONSTANT oid := omd.target_relation(p_table_code);
    v_stamp text;
    v_pos text;
    v_id text;
    v_count bigint;
    v_found bigint[];
BEGIN
    SELECT
        string_agg(format('s.%I = $1', a.attname), ' OR ' ORDER BY a.attnum)
        FILTER (WHERE a.attname = ANY(p_stamp_columns)),
        min(format('s.%I::timestamptz', a.attname)) FILTER (WHERE a.attname = p_pos_column),
        min(format('s.%I::bigint', a.attname)) FILTER (WHERE a.attname = p_id_column)
    INTO v_stamp, v_pos, v_id
    FROM pg_attribute AS a
    WHERE a.attrelid = v_relation AND a.attnum > 0 AND NOT a.attisdropped;
    IF v_stamp IS NULL
        OR coalesce(v_pos, v_id) IS NULL
        OR (p_pos_column <> '' AND v_pos IS NULL)
    THEN
        RETURN NULL;
    END IF;
    BEGIN
        EXECUTE format(
            'WITH row_position AS MATERIALIZED ('
            'SELECT %1$s AS pos, %2$s AS id FROM %3$s AS s WHERE %4$s)'
            ' SELECT (SELECT count(*) FROM row_position),'
            ' ARRAY(SELECT w.id FROM jsonb_to_recordset($2)'
            ' AS w(id bigint, start_pos timestamptz, start_id bigint, end_pos timestamptz,'
            ' end_id bigint)'
            ' WHERE EXISTS (SELECT FROM row_position AS p'
            ' WHERE (p.pos, p.id) > (w.start_pos, w.start_id)'
            ' AND (p.pos, p.id) <= (w.end_pos, w.end_id)))',
            coalesce(v_pos, '''-infinity''::timestamptz'),
            coalesce(v_id, '0::bigint'),
            p_table_code,
            v_stamp
        ) INTO v_count, v_found USING p_module_instance_id, p_windows;
    EXCEPTION
        WHEN insufficient_privilege OR undefined_table OR undefined_column
            OR datatype_mismatch OR cannot_coerce OR undefined_function
            OR feature_not_supported OR lock_not_available
        THEN
            RETURN NULL;
    END;
    RETURN CASE WHEN v_count > 0 AND v_count >= p_rows THEN v_found END;
END
$row_windows$;

COMMENT ON FUNCTION omd_provenance._row_windows IS
'Returns those of p_windows (objects of id, start_pos, start_id, end_pos, end_id) that hold the '
'position of a row of p_table_code with the stamp p_module_instance_id in one of p_stamp_columns; '
'NULL: nobody knows, since the caller may not read them, or less than p_rows rows are there. '
'p_pos_column, p_id_column: the columns of positions. Locks: none but those of reading.';
REVOKE ALL ON FUNCTION omd_provenance._row_windows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance._row_windows TO omd_reader;
