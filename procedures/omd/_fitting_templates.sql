-- The rollback templates that count for a Module: its own alone, else those for its area, platform
-- and format, by table type before those for every type.

CREATE OR REPLACE FUNCTION omd._fitting_templates(
    p_module_id integer
)
RETURNS SETOF omd.rollback_template
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    WITH candidate AS (
        SELECT
            t AS template,
            t.step AS place,
            rank() OVER (
                ORDER BY t.module_id IS NULL, t.table_type_code IS NULL
            ) AS preference
        FROM omd.module AS m
        INNER JOIN omd.rollback_template AS t
            ON
                m.module_id = t.module_id
                OR (
                    m.area_code = t.area_code
                    AND m.platform_code = t.platform_code
                    AND t.table_format_code IS NOT DISTINCT FROM m.table_format_code
                    AND (m.table_type_code = t.table_type_code OR t.table_type_code IS NULL)
                )
        WHERE m.module_id = p_module_id
    )

    SELECT (c.template).* FROM candidate AS c
    WHERE c.preference = 1
    ORDER BY c.place;
END;

COMMENT ON FUNCTION omd._fitting_templates IS
'The rollback templates that count for the Module p_module_id, by step; no row when none fits. '
'Locks: none.';
REVOKE ALL ON FUNCTION omd._fitting_templates FROM PUBLIC;
