-- An index has rows with a NULL pos at its end, where they are counted up to a limit. Rows with a
-- NULL id are scattered: the function looks through the part of the index that came since the last
-- probe, and whether a row that was found earlier is still like that. At the first probe, the
-- statistics spare the look through all of it. It runs with the rights of the caller.

CREATE OR REPLACE FUNCTION omd_lineage._null_rows(
    p_table_code text,
    p_pos_column text,
    p_id_column text,
    p_since timestamptz,
    p_null_id_pos timestamptz,
    OUT p_count integer,
    OUT p_pos timestamptz
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $null_rows$
DECLARE
    v_table_name text := omd.quote_table(p_table_code, 'POSTGRES');
    v_nullable text[] := ARRAY(
        SELECT a.attname::text
        FROM pg_attribute AS a
        WHERE a.attrelid = omd_lineage._table_oid(p_table_code)
            AND a.attname IN (p_pos_column, p_id_column)
            AND NOT a.attnotnull
    );
    v_since timestamptz := p_since;
BEGIN
    p_count := 0;
    IF p_pos_column = ANY(v_nullable) THEN
        EXECUTE format(
            'SELECT count(*) FROM (SELECT FROM %2$s WHERE %1$I IS NULL ORDER BY %1$I DESC'
            ' LIMIT 1000) AS n',
            p_pos_column, v_table_name
        )
        INTO p_count;
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
            INTO p_pos
            USING v_since, p_null_id_pos;
        END IF;
    END IF;
END
$null_rows$;

COMMENT ON FUNCTION omd_lineage._null_rows IS
'Returns p_count, how many rows of the table p_table_code (schema.table) have NULL in '
'p_pos_column, at most 1000, and p_pos, the pos of a row that has NULL in p_id_column: the newest '
'from p_since on (NULL: of all, as far as statistics do not deny that there is one), or one at '
'p_null_id_pos; NULL when none was found. Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._null_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._null_rows TO omd_runner, omd_admin;
