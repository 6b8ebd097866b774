-- TRUNCATE can't undo one Module when others load rows of the same table, however they spell its
-- name and through whatever partition, parent or view, since it would also delete their rows; nor
-- when a foreign key refers to the table or a part of it, since PostgreSQL refuses it. Only tables
-- take it. Without a column of instance ids nothing tells the rows apart, so TRUNCATE is used where
-- it is possible. rollback_module looks into the table itself, too.

CREATE OR REPLACE FUNCTION omd._truncate_would_harm(
    p_module_id integer
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN m.platform_code <> 'POSTGRES'
                THEN EXISTS (
                    SELECT FROM omd.module AS other
                    WHERE
                        other.platform_code = m.platform_code
                        AND other.module_id <> m.module_id
                        AND omd.quote_table(other.table_code, other.platform_code)
                        = omd.quote_table(m.table_code, m.platform_code)
                )
            WHEN r.relation IS NULL THEN FALSE
            ELSE
                EXISTS (
                    SELECT FROM pg_class AS c
                    WHERE c.oid = r.relation AND c.relkind NOT IN ('r', 'p')
                )
                OR EXISTS (
                    SELECT FROM pg_constraint AS k
                    WHERE
                        k.contype = 'f'
                        AND k.confrelid IN (SELECT omd._descendants(r.relation))
                        AND k.conrelid NOT IN (SELECT omd._descendants(r.relation))
                )
                OR (
                    omd.target_column_type(m.table_code, m.insert_instance_column) IS NOT NULL
                    AND EXISTS (
                        SELECT FROM omd._sharing_modules(r.relation) AS other
                        WHERE other.module_id <> m.module_id
                    )
                )
        END
    FROM omd.module AS m
    CROSS JOIN LATERAL omd.target_relation(m.table_code) AS r (relation)
    WHERE m.module_id = p_module_id;
END;

COMMENT ON FUNCTION omd._truncate_would_harm IS
'Returns whether the target of the Module p_module_id must not be truncated to undo a run: it is '
'no table, foreign keys refer to it, or other Modules load rows of it. Modules that share a table '
'without the insert instance id do not count. Locks: none.';
