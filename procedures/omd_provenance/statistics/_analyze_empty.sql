-- Its parents are analyzed with it; a partition is analyzed with its table.

CREATE OR REPLACE FUNCTION omd_provenance._analyze_empty(
    p_table regclass
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET row_security = off
SET client_min_messages = error
AS $analyze_empty$
DECLARE
    v_columns text;
    v_values text;
    v_root record;
BEGIN
    SELECT
        string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
        string_agg(
            CASE
                WHEN NOT a.attnotnull AND t.typnotnull IS NOT TRUE THEN 'NULL'
                WHEN a.attname = 'acm_record_ind' THEN '''R'''
                WHEN a.attname = 'acm_end_dt' AND pg_get_expr(c.relpartbound, c.oid) LIKE '%9999%'
                    THEN '''9999-12-31 00:00:00+00'''
                ELSE
                    CASE t.typcategory
                        WHEN 'N' THEN '0'
                        WHEN 'B' THEN 'FALSE'
                        WHEN 'D' THEN '''2000-01-01'''
                        WHEN 'T' THEN '''0'''
                        WHEN 'A' THEN '''{}'''
                        ELSE
                            CASE t.typname
                                WHEN 'jsonb' THEN '''{}'''
                                WHEN 'json' THEN '''{}'''
                                WHEN 'uuid' THEN '''00000000-0000-0000-0000-000000000000'''
                                ELSE ''''''
                            END
                    END
            END,
            ', ' ORDER BY a.attnum
        )
    INTO v_columns, v_values
    FROM pg_class AS c
    INNER JOIN pg_attribute AS a ON c.oid = a.attrelid
    INNER JOIN pg_type AS t ON a.atttypid = t.oid
    WHERE c.oid = p_table AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
    BEGIN
        EXECUTE format(
            'INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE VALUES (%s)', p_table, v_columns, v_values
        );
        FOR v_root IN
            SELECT c.oid::regclass AS name
            FROM pg_class AS c
            WHERE c.oid = ANY(omd_provenance._family(p_table)) AND NOT c.relispartition
            ORDER BY c.oid
        LOOP
            EXECUTE format('ANALYZE %s', v_root.name);
        END LOOP;
        EXECUTE format('DELETE FROM ONLY %s', p_table);
        SET CONSTRAINTS ALL IMMEDIATE;
    EXCEPTION
        WHEN deadlock_detected OR lock_not_available THEN
            RAISE;
        WHEN OTHERS THEN
            RETURN format(
                'no row is left in %s, and its statistics can''t be emptied (SQLSTATE %s)', p_table,
                SQLSTATE
            );
    END;
    RETURN NULL;
END
$analyze_empty$;

COMMENT ON FUNCTION omd_provenance._analyze_empty IS
'Makes the statistics of p_table, which has no row, those of a row without values, and returns why '
'it could not; NULL: it could. Locks: it, against DDL.';
GRANT EXECUTE ON FUNCTION omd_provenance._analyze_empty TO omd_admin;
