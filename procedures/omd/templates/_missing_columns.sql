-- Each missing column is named with the argument of register_module that names it, since that is
-- what the user has to change. If the target is not in this database, only a column that was never
-- named is known to be missing. It is one CASE, so that no column is looked up that no template
-- names.

CREATE OR REPLACE FUNCTION omd._missing_columns(
    p_module_id integer
)
RETURNS TABLE (
    argument text,
    column_name text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        needed.argument,
        needed.column_name
    FROM omd.module AS m
    CROSS JOIN
        LATERAL omd.target_relation(
            CASE WHEN m.platform_code = 'POSTGRES' THEN m.table_code END
        ) AS r (relation)
    CROSS JOIN
        LATERAL (
            SELECT string_agg(t.statement_template, '') AS text
            FROM omd._fitting_templates(m.module_id) AS t
        ) AS statements
    CROSS JOIN
        LATERAL (
            VALUES
            ('p_insert_instance_column', '{insert_instance_column}', m.insert_instance_column),
            ('p_effective_date_column', '{effective_date_column}', m.effective_date_column),
            ('p_expiry_date_column', '{expiry_date_column}', m.expiry_date_column),
            (
                'p_current_indicator_column', '{current_indicator_column}',
                m.current_indicator_column
            )
            UNION ALL
            SELECT
                'p_business_key_columns' AS argument,
                '{key_columns}' AS placeholder,
                k.key_column
            FROM
                unnest(
                    coalesce(nullif(m.business_key_columns, '{}'), ARRAY[NULL::text])
                ) AS k (key_column)
        ) AS needed (argument, placeholder, column_name)
    WHERE
        m.module_id = p_module_id
        AND CASE
            WHEN coalesce(strpos(statements.text, needed.placeholder), 0) = 0 THEN FALSE
            WHEN m.platform_code = 'POSTGRES'
                THEN NOT EXISTS (
                    SELECT FROM pg_attribute AS a
                    WHERE
                        a.attrelid = r.relation
                        AND a.attname::text = needed.column_name
                        AND a.attnum > 0
                        AND NOT a.attisdropped
                )
            ELSE needed.column_name IS NULL
        END;
END;

COMMENT ON FUNCTION omd._missing_columns IS
'Returns the columns that the rollback templates of the Module p_module_id name and its target '
'lacks: column_name, which is NULL when none was named, and argument, the parameter of '
'register_module that names it. Locks: none.';
