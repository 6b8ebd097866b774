-- The server tells such an error in the language of the server, and for a locked table it does not
-- tell who has locked it. The catalog is asked, and not the table, so no lock is waited for.

CREATE OR REPLACE FUNCTION omd_lineage._why_unreadable(
    p_table_code text,
    p_pos_column text,
    p_id_column text,
    p_sqlstate text,
    p_message text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $why_unreadable$
DECLARE
    v_table oid := omd.target_relation(p_table_code);
BEGIN
    RETURN CASE
        WHEN p_sqlstate IN ('42P01', '3F000') THEN coalesce(
            (
                SELECT
                    coalesce(
                        'it was renamed to '
                        || omd_lineage._former_name(p.table_oid, p_pos_column, p_id_column),
                        'it is gone'
                    )
                FROM omd_lineage.source_probe AS p
                WHERE p.source = p_table_code AND p.table_oid IS NOT NULL
            ),
            'it does not exist'
        )
        WHEN p_sqlstate = '42501'
            THEN format('the role %s has no right to read it: %s', current_user, p_message)
        WHEN p_sqlstate = '42703' THEN coalesce(
            (
                SELECT format('its column %s is missing', string_agg(c.name, ' and its column '))
                FROM unnest(ARRAY[p_pos_column, p_id_column]) AS c (name)
                WHERE c.name <> '' AND NOT EXISTS (
                    SELECT FROM pg_attribute AS a
                    WHERE a.attrelid = v_table AND a.attname = c.name AND NOT a.attisdropped
                )
            ),
            p_message
        )
        WHEN p_sqlstate = '55P03' THEN concat(
            'it is locked',
            (
                SELECT ' by process ' || l.pid
                FROM pg_locks AS l
                WHERE l.locktype = 'relation'
                    AND l.relation = v_table
                    AND l.mode = 'AccessExclusiveLock'
                    AND l.database = (
                        SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()
                    )
                ORDER BY l.granted DESC
                LIMIT 1
            )
        )
        WHEN p_sqlstate = '42883' OR p_sqlstate LIKE '22%' THEN (
            SELECT
                format(
                    'its position has the types %s: %s',
                    string_agg(
                        format_type(a.atttypid, a.atttypmod), ' and '
                        ORDER BY a.attname <> p_pos_column
                    ),
                    p_message
                )
            FROM pg_attribute AS a
            WHERE a.attrelid = v_table AND a.attname IN (p_pos_column, p_id_column)
        )
        ELSE 'its probe failed: ' || p_message
    END;
END
$why_unreadable$;

COMMENT ON FUNCTION omd_lineage._why_unreadable IS
'Returns in plain words why the table p_table_code (schema.table) can''t be read by p_pos_column '
'and p_id_column, after the error p_sqlstate with p_message: it is gone, was renamed or is locked,'
' a column is missing, or the role has no right. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._why_unreadable TO omd_runner, omd_admin;
