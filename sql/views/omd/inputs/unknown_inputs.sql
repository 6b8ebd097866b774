-- A job may record what it reads when it runs, so a Module that has never run is not unknown yet;
-- one whose newest run has recorded nothing is.

CREATE OR REPLACE VIEW omd.unknown_inputs AS
SELECT
    m.module_id,
    m.module_code,
    m.module_kind_code,
    m.table_code,
    c.problem,
    c.proposed
FROM omd.module AS m
LEFT JOIN omd.module_declaration AS c
    ON m.module_id = c.module_id AND c.origin = 'CATALOGUE' AND c.upto_id IS NULL
WHERE
    m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
    AND m.inactive_indicator = 'N'
    AND NOT EXISTS (
        SELECT FROM omd.module_declaration AS d
        WHERE d.module_id = m.module_id AND d.upto_id IS NULL AND d.inputs IS NOT NULL
    )
    AND (
        c.declaration_id IS NOT NULL
        OR EXISTS (
            SELECT
            FROM (
                SELECT mi.module_instance_id
                FROM omd.module_instance AS mi
                WHERE
                    -- Not =, with which the planner could walk the primary key past other Modules.
                    mi.module_id >= m.module_id
                    AND mi.module_id <= m.module_id
                    AND mi.execution_status_code IN ('S', 'E')
                    AND mi.processing_indicator IN ('P', 'R')
                ORDER BY mi.module_id DESC, mi.module_instance_id DESC
                LIMIT 1
            ) AS newest
            WHERE
                NOT EXISTS (
                    SELECT FROM omd.run_input AS i
                    WHERE
                        i.module_instance_id = newest.module_instance_id
                        AND i.table_code <> ''
                )
        )
    );

COMMENT ON VIEW omd.unknown_inputs IS
'For rooms: '
'The Modules of which nobody knows what they read: nothing is declared, and the catalogue does not '
'know it, or the newest run has recorded nothing.';
COMMENT ON COLUMN omd.unknown_inputs.module_id IS 'The Module.';
COMMENT ON COLUMN omd.unknown_inputs.module_code IS 'Its code.';
COMMENT ON COLUMN omd.unknown_inputs.module_kind_code IS 'SQL or JOB.';
COMMENT ON COLUMN omd.unknown_inputs.table_code IS 'Its target.';
COMMENT ON COLUMN omd.unknown_inputs.problem IS
'Why the catalogue does not know; NULL: it was not asked, as there is no SQL.';
COMMENT ON COLUMN omd.unknown_inputs.proposed IS
'The tables that it does know; NULL: none.';
