-- It reads the catalogue only. An index in each partition and inheriting table is needed to walk
-- from stamp to stamp: without it each step would read a table.

CREATE OR REPLACE FUNCTION omd._stamp_column(
    p_module_id integer
)
RETURNS TABLE (
    table_name text,
    column_name text,
    is_numeric boolean,
    is_indexed boolean
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        omd.quote_table(m.table_code, m.platform_code) AS table_name,
        m.insert_instance_column AS column_name,
        t.typcategory = 'N' AS is_numeric,
        NOT EXISTS (
            SELECT FROM omd._descendants(r.relation) AS d (relation)
            INNER JOIN pg_class AS c ON d.relation = c.oid
            WHERE
                c.relkind <> 'p'
                AND NOT EXISTS (
                    SELECT FROM pg_index AS x
                    INNER JOIN pg_class AS i ON x.indexrelid = i.oid
                    INNER JOIN pg_am AS am ON i.relam = am.oid
                    INNER JOIN pg_attribute AS o
                        ON x.indrelid = o.attrelid AND x.indkey[0] = o.attnum
                    WHERE
                        x.indrelid = c.oid
                        AND o.attname = a.attname
                        AND x.indisvalid
                        AND x.indpred IS NULL
                        AND am.amname = 'btree'
                )
        ) AS is_indexed
    FROM omd.module AS m
    CROSS JOIN LATERAL omd.target_relation(m.table_code) AS r (relation)
    INNER JOIN pg_attribute AS a
        ON
            r.relation = a.attrelid
            AND m.insert_instance_column = a.attname::text
            AND a.attnum > 0
            AND NOT a.attisdropped
    INNER JOIN pg_type AS t ON a.atttypid = t.oid
    WHERE m.module_id = p_module_id;
END;

COMMENT ON FUNCTION omd._stamp_column IS
'Returns the column of the target of the Module p_module_id that holds the instance ids, whether '
'it holds numbers, and whether an index over all rows begins with it; no row where the target has '
'no such column. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._stamp_column TO omd_reader;
