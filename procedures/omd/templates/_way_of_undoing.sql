-- Everything that decides how a run is undone ends in its statements, so these are compared, and
-- not a list of columns that would miss the next one.

CREATE OR REPLACE FUNCTION omd._way_of_undoing(
    p_module_id integer
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        string_agg(
            omd._render(t.statement_template, v.given), E';\n' ORDER BY t.step
        )
    FROM omd.module AS m
    CROSS JOIN LATERAL omd._fitting_templates(m.module_id) AS t
    CROSS JOIN LATERAL omd._rollback_values(m.module_id, '{0}') AS v (given)
    WHERE
        m.module_id = p_module_id
        AND (m.platform_code <> 'POSTGRES' OR omd.target_exists(m.table_code))
        AND NOT EXISTS (SELECT FROM omd._missing_columns(m.module_id));
END;

COMMENT ON FUNCTION omd._way_of_undoing IS
'Returns the statements that would undo a run of the Module p_module_id; NULL when it could not be '
'undone as it is registered now. Locks: none.';
