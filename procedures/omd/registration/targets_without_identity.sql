-- PostgreSQL refuses an UPDATE or DELETE of such a table as soon as a publication has it that
-- publishes them: the load still inserts, and its rollback fails. The leaves of a partitioned table
-- count, since they are what is written. A target elsewhere may have the name of a table that is
-- here, which no rollback touches.

CREATE OR REPLACE FUNCTION omd.targets_without_identity()
RETURNS TABLE (
    module_code text,
    table_code text,
    publication_name text,
    command text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH published AS MATERIALIZED (
        SELECT DISTINCT
            t.pubname::text AS publication_name,
            coalesce(l.relid, c.oid) AS leaf,
            a.relid AS of_table
        FROM pg_publication_tables AS t
        INNER JOIN pg_publication AS p ON t.pubname = p.pubname AND (p.pubupdate OR p.pubdelete)
        INNER JOIN pg_namespace AS n ON t.schemaname = n.nspname
        INNER JOIN pg_class AS c ON n.oid = c.relnamespace AND t.tablename = c.relname
        LEFT JOIN LATERAL pg_partition_tree(c.oid) AS l ON l.isleaf
        -- Published as a leaf, it may be a part of a Module's table.
        CROSS JOIN LATERAL (
            SELECT c.oid AS relid
            UNION
            SELECT s.relid FROM pg_partition_ancestors(coalesce(l.relid, c.oid)) AS s
        ) AS a
    )

    SELECT DISTINCT
        m.module_code,
        m.table_code,
        p.publication_name,
        format('ALTER TABLE %s REPLICA IDENTITY FULL;', p.leaf::regclass) AS command
    FROM omd.module AS m
    CROSS JOIN LATERAL omd.target_relation(m.table_code) AS r (relation)
    INNER JOIN published AS p ON r.relation = p.of_table
    INNER JOIN pg_class AS c ON p.leaf = c.oid
    WHERE
        m.platform_code = 'POSTGRES'
        -- Nothing else is published.
        AND c.relkind = 'r'
        AND c.relpersistence = 'p'
        AND c.relreplident <> 'f'
        AND NOT EXISTS (
            SELECT FROM pg_index AS i
            WHERE
                i.indrelid = c.oid
                AND (
                    (c.relreplident = 'd' AND i.indisprimary)
                    OR (c.relreplident = 'i' AND i.indisreplident)
                )
        )
    ORDER BY m.module_code, p.publication_name, command;
END;

COMMENT ON FUNCTION omd.targets_without_identity IS
'Returns the tables of Modules in this database that a publication has without a primary key or a '
'replica identity (module_code, table_code, publication_name), and the command that gives them '
'one: rows of them can''t be changed or removed, so a rollback fails. The targets of Modules on '
'SPARK are elsewhere. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.targets_without_identity TO omd_reader;
