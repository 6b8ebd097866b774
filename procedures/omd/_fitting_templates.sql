-- Which templates undo a Module: the one place that says so. Its own alone, else those for its area,
-- platform and format, by table type before those for every type. TRUNCATE is no way where other
-- Modules load the same table, since it would take their rows too, or where a foreign key refers to
-- the table, since PostgreSQL refuses it: there the rows go by their insert instance id, as in HSTG.

CREATE OR REPLACE FUNCTION omd._fitting_templates(
    p_module_id integer
)
RETURNS SETOF omd.rollback_template
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH target AS (
        SELECT
            m.*,
            CASE m.platform_code
                WHEN 'POSTGRES' THEN
                    omd.target_column_type(m.table_code, m.insert_instance_column) IS NOT NULL
                    AND (
                        omd._is_loaded_by_others(m.module_id)
                        OR EXISTS (
                            SELECT FROM pg_constraint AS c
                            WHERE
                                c.contype = 'f'
                                AND c.confrelid = omd._target_relation(m.table_code)
                                AND c.conrelid <> c.confrelid
                        )
                    )
                ELSE omd._is_loaded_by_others(m.module_id)
            END AS is_shared
        FROM omd.module AS m
        WHERE m.module_id = p_module_id
    ),

    candidate AS (
        SELECT
            t AS template,
            rank() OVER (
                ORDER BY
                    t.module_id IS NULL,
                    t.area_code IS DISTINCT FROM m.area_code,
                    t.table_type_code IS NULL
            ) AS preference
        FROM target AS m
        INNER JOIN omd.rollback_template AS t
            ON m.module_id = t.module_id
            OR (
                m.platform_code = t.platform_code
                AND m.table_format_code IS NOT DISTINCT FROM t.table_format_code
                AND (m.table_type_code = t.table_type_code OR t.table_type_code IS NULL)
                AND CASE
                    WHEN m.is_shared AND t.statement_template ~* '^\s*TRUNCATE\M' THEN FALSE
                    ELSE t.area_code = m.area_code OR (m.is_shared AND t.area_code = 'HSTG')
                END
            )
    )

    SELECT (c.template).*
    FROM candidate AS c
    WHERE c.preference = 1
    ORDER BY (c.template).step;
END;

COMMENT ON FUNCTION omd._fitting_templates IS
'The rollback templates that undo the Module p_module_id now, in the order of their steps; no row '
'when none fits. Locks: none. DIRECT, "Rollback Procedures".';
REVOKE ALL ON FUNCTION omd._fitting_templates FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._fitting_templates TO omd_reader;
