-- An OID that was restored from a dump may be that of any other table by now. So a table that has
-- no such columns, or is known under its own name, is not taken for the former one.

CREATE OR REPLACE FUNCTION omd_lineage._former_name(
    p_table_oid oid,
    p_pos_column text,
    p_id_column text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT n.name
    FROM pg_class AS c
    INNER JOIN pg_namespace AS s ON c.relnamespace = s.oid
    CROSS JOIN LATERAL format('%I.%I', s.nspname, c.relname) AS n (name)
    WHERE
        c.oid = p_table_oid
        AND c.relkind IN ('r', 'p')
        AND NOT EXISTS (
            SELECT
            FROM unnest(ARRAY[nullif(p_pos_column, ''), p_id_column]) AS w (name)
            LEFT JOIN pg_attribute AS a ON c.oid = a.attrelid AND w.name = a.attname
            WHERE w.name IS NOT NULL AND a.attname IS NULL
        )
        AND NOT EXISTS (SELECT FROM omd_lineage.topic AS t WHERE t.table_code = n.name)
        AND NOT EXISTS (SELECT FROM omd_lineage.dependency AS d WHERE d.table_code = n.name);
END;

COMMENT ON FUNCTION omd_lineage._former_name IS
'Returns the name that the table p_table_oid has now, if it has the columns p_pos_column and '
'p_id_column and no topic is about it under that name; else NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._former_name TO omd_runner, omd_admin;
