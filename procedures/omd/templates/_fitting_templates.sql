-- This is the only place that says which templates undo a Module. The Module of a room has none:
-- the routine of its kind is the statement. Of others it is its own ones alone, else those for its
-- area, platform and format, where those for its table type come before those for every type. Where
-- the TRUNCATE of an area would destroy other rows, the rows are deleted by their insert instance
-- id instead, as in HSTG. The planner inlines it into the query of the caller, which is planned
-- once a session.

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
            rank() OVER (ORDER BY t.module_id IS NULL, t.table_type_code IS NULL) AS preference,
            t.module_id IS NULL AND t.statement_template ~* '^\s*TRUNCATE\M' AS is_truncate
        FROM omd.module AS m
        INNER JOIN omd.rollback_template AS t
            ON
                m.module_id = t.module_id
                OR (
                    m.area_code = t.area_code
                    AND m.platform_code = t.platform_code
                    AND m.table_format_code IS NOT DISTINCT FROM t.table_format_code
                    AND (m.table_type_code = t.table_type_code OR t.table_type_code IS NULL)
                )
        WHERE
            m.module_id = p_module_id
            AND NOT EXISTS (SELECT FROM omd._undo_routines(m.module_id))
    ),

    chosen AS (
        SELECT
            c.template,
            c.is_truncate AND omd._truncate_would_harm(p_module_id) AS is_harmful
        FROM candidate AS c
        WHERE c.preference = 1
    )

    -- noqa: disable=AM04
    SELECT fitting.*
    FROM (
        SELECT (c.template).*
        FROM chosen AS c
        WHERE NOT c.is_harmful
        UNION ALL
        SELECT t.*
        FROM omd.module AS m
        INNER JOIN omd.rollback_template AS t
            ON
                m.platform_code = t.platform_code
                AND m.table_format_code IS NOT DISTINCT FROM t.table_format_code
        WHERE
            m.module_id = p_module_id
            AND t.area_code = 'HSTG'
            AND t.table_type_code IS NULL
            AND EXISTS (SELECT FROM chosen AS c WHERE c.is_harmful)
        UNION ALL
        SELECT
            (
                jsonb_populate_record(
                    NULL::omd.rollback_template,
                    jsonb_build_object(
                        'module_id', p_module_id,
                        'step', 1,
                        'statement_template', format(
                            'SELECT %s(%s, {instance_array})', u.routine, p_module_id
                        ),
                        'keeps_rows', TRUE,
                        'statement_kind', 'SQL'
                    )
                )
            ).*
        FROM omd._undo_routines(p_module_id) AS u (routine)
    ) AS fitting
    ORDER BY fitting.step;
END;

COMMENT ON FUNCTION omd._fitting_templates IS
'Returns the rollback templates that undo the Module p_module_id now, in the order of their '
'steps; no row when none fits. Locks: none. DIRECT, "Rollback Procedures".';
