-- An index has rows ahead of the clock at its end, and behind them those with a NULL in its first
-- column, which are counted up to a limit. Rows with a NULL id are scattered: the function looks
-- through the part of the index that came since the last probe, and whether a row that was found
-- earlier is still like that. At the first probe, statistics may spare the look through all of it.
-- It runs with the rights of the caller.

CREATE OR REPLACE FUNCTION omd_lineage._unread_rows(
    p_table_code text,
    p_pos_column text,
    p_id_column text,
    p_since timestamptz,
    p_known_pos timestamptz,
    OUT p_null_rows integer,
    OUT p_null_id_pos timestamptz,
    OUT p_ahead_pos timestamptz
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $unread_rows$
DECLARE
    v_table_name text := omd.quote_table(p_table_code, 'POSTGRES');
    v_nullable text[] := ARRAY(
        SELECT a.attname::text
        FROM pg_attribute AS a
        WHERE a.attrelid = omd.target_relation(p_table_code)
            AND a.attname IN (p_pos_column, p_id_column)
            AND NOT a.attnotnull
    );
    v_first_column text := coalesce(nullif(p_pos_column, ''), p_id_column);
    v_since timestamptz := p_since;
BEGIN
    p_null_rows := 0;
    IF v_first_column = ANY(v_nullable) THEN
        EXECUTE format(
            'SELECT count(*) FROM (SELECT FROM %2$s WHERE %1$I IS NULL ORDER BY %1$I DESC'
            ' LIMIT 1000) AS n',
            v_first_column, v_table_name
        )
        INTO p_null_rows;
    END IF;
    IF p_pos_column = '' THEN
        RETURN;
    END IF;
    EXECUTE format(
        'SELECT %1$I FROM %2$s WHERE %1$I IS NOT NULL ORDER BY %1$I DESC LIMIT 1',
        p_pos_column, v_table_name
    )
    INTO p_ahead_pos;
    IF p_ahead_pos <= clock_timestamp() THEN
        p_ahead_pos := NULL;
    END IF;
    IF p_id_column = ANY(v_nullable) THEN
        IF v_since IS NULL AND NOT EXISTS (
            SELECT FROM pg_stats AS s
            WHERE format('%I.%I', s.schemaname, s.tablename) = v_table_name
                AND s.attname = p_id_column
                AND s.null_frac = 0
        ) THEN
            v_since := '-infinity';
        END IF;
        IF v_since IS NOT NULL THEN
            EXECUTE format(
                'SELECT n.%1$I FROM ((SELECT %1$I, %2$I FROM %3$s WHERE %1$I >= $1 AND %2$I IS NULL'
                ' ORDER BY %1$I DESC, %2$I DESC LIMIT 1)'
                ' UNION ALL (SELECT %1$I, %2$I FROM %3$s WHERE %1$I = $2 AND %2$I IS NULL'
                ' ORDER BY %1$I DESC, %2$I DESC LIMIT 1)) AS n LIMIT 1',
                p_pos_column, p_id_column, v_table_name
            )
            INTO p_null_id_pos
            USING v_since, p_known_pos;
        END IF;
    END IF;
END
$unread_rows$;

COMMENT ON FUNCTION omd_lineage._unread_rows IS
'Returns what no topic reads of the table p_table_code (schema.table) by its columns p_pos_column '
'(empty: none) and p_id_column: p_null_rows, how many rows have a NULL pos (without such a column,'
' a NULL id), at most 1000; p_null_id_pos, the pos of a row with a NULL id, the newest from '
'p_since on (NULL: of all, unless statistics say that there is none), or one at p_known_pos; '
'p_ahead_pos, the greatest pos if it is ahead of the clock; NULL when none was found. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._unread_rows TO omd_runner, omd_admin;
