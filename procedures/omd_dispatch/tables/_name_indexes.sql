-- PostgreSQL invents the names of the indexes of a partition and of a spare partition; this gives
-- them those of the partitioned table, with the name of their own table in it.

CREATE OR REPLACE PROCEDURE omd_dispatch._name_indexes(
    p_table text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $name_indexes$
DECLARE
    v_old text;
    v_new text;
BEGIN
    FOR v_old, v_new IN
        WITH indexes AS (
            SELECT
                i.indexrelid, i.indrelid AS relid, c.relname, t.relname AS table_name,
                regexp_replace(
                    pg_get_indexdef(i.indexrelid),
                    '^CREATE (UNIQUE )?INDEX \S+ ON (ONLY )?\S+', '\1'
                ) AS definition
            FROM pg_index AS i
            INNER JOIN pg_class AS c ON i.indexrelid = c.oid
            INNER JOIN pg_class AS t ON i.indrelid = t.oid
        )

        SELECT DISTINCT ON (c.relname)
            c.relname::text, replace(p.relname, p.table_name, c.table_name)
        FROM omd_dispatch._task_tables(p_table) AS t (relation)
        INNER JOIN indexes AS c ON t.relation = c.relid
        INNER JOIN indexes AS p
            ON p.relid = p_table::regclass AND c.definition = p.definition
        LEFT JOIN pg_inherits AS h ON c.indexrelid = h.inhrelid
        WHERE c.relname !~ '^(pk|ix)_'
            AND coalesce(h.inhparent = p.indexrelid, TRUE)
            AND to_regclass(
                'omd_dispatch.' || replace(p.relname, p.table_name, c.table_name)
            ) IS NULL
        ORDER BY c.relname, p.relname
    LOOP
        -- Two indexes of the same columns would get the same name.
        CONTINUE WHEN to_regclass('omd_dispatch.' || quote_ident(v_new)) IS NOT NULL;
        EXECUTE format('ALTER INDEX omd_dispatch.%I RENAME TO %I', v_old, v_new);
    END LOOP;
END
$name_indexes$;

COMMENT ON PROCEDURE omd_dispatch._name_indexes IS
'Names the new indexes of the partitions of p_table and of its spare partition. Locks: these '
'indexes.';
