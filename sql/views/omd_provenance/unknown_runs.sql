-- A load window says where it read, but not what.

CREATE OR REPLACE VIEW omd_report.unknown_runs AS
SELECT
    mi.module_instance_id,
    m.module_code
FROM omd.module_instance AS mi
INNER JOIN omd.module AS m ON mi.module_id = m.module_id
WHERE
    m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
    AND mi.execution_status_code IN ('S', 'E')
    AND mi.processing_indicator IN ('P', 'R')
    AND mi.rolled_back_by_module_instance_id IS NULL
    AND NOT EXISTS (
        SELECT FROM omd.module_declaration AS d
        WHERE
            d.module_id = mi.module_id
            AND d.inputs IS NOT NULL
            AND d.after_id < mi.module_instance_id
            AND (d.upto_id IS NULL OR d.upto_id >= mi.module_instance_id)
            AND (
                d.origin = 'HAND'
                OR NOT EXISTS (
                    SELECT FROM omd.run_input AS i
                    WHERE i.module_instance_id = mi.module_instance_id AND i.table_code = ''
                )
            )
    )
    AND (
        NOT EXISTS (
            SELECT FROM omd.run_input AS i
            WHERE i.module_instance_id = mi.module_instance_id
        )
        OR EXISTS (
            SELECT FROM omd.run_input AS i
            WHERE i.module_instance_id = mi.module_instance_id AND i.table_code = ''
        )
    );

COMMENT ON VIEW omd_report.unknown_runs IS
'For rooms: '
'The runs of kind SQL or JOB that stand or execute and of which nobody knows what they read: '
'they recorded nothing, and nothing was declared for them.';
COMMENT ON COLUMN omd_report.unknown_runs.module_instance_id IS 'The run.';
COMMENT ON COLUMN omd_report.unknown_runs.module_code IS 'Its Module.';
