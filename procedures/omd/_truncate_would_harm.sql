-- TRUNCATE can't undo one Module when others load the same table, however they spell its name,
-- since it would also delete their rows; nor when a foreign key refers to the table, since
-- PostgreSQL refuses it. Without a column of instance ids there is no other way, so TRUNCATE is
-- used.

CREATE OR REPLACE FUNCTION omd._truncate_would_harm(
    p_module_id integer
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (
            m.platform_code <> 'POSTGRES'
            OR omd.target_column_type(m.table_code, m.insert_instance_column) IS NOT NULL
        )
        AND (
            EXISTS (
                SELECT FROM omd.module AS other
                WHERE
                    other.platform_code = m.platform_code
                    AND other.module_id <> m.module_id
                    AND omd.quote_table(other.table_code, other.platform_code)
                    = omd.quote_table(m.table_code, m.platform_code)
            )
            OR EXISTS (
                SELECT FROM pg_constraint AS c
                WHERE
                    m.platform_code = 'POSTGRES'
                    AND c.contype = 'f'
                    AND c.confrelid = omd.target_relation(m.table_code)
                    AND c.conrelid <> c.confrelid
            )
        )
    FROM omd.module AS m
    WHERE m.module_id = p_module_id;
END;

COMMENT ON FUNCTION omd._truncate_would_harm IS
'Returns whether the target of the Module p_module_id must not be truncated to undo a run: other '
'Modules load it, or foreign keys refer to it. It returns FALSE when the target has no column '
'with the insert instance id. Locks: none.';
REVOKE ALL ON FUNCTION omd._truncate_would_harm FROM PUBLIC;
