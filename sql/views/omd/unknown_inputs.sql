-- What a run has recorded is known of its Module too: its next run will record again.

CREATE OR REPLACE VIEW omd.unknown_inputs AS
SELECT
    m.module_id,
    m.module_code,
    m.module_kind_code,
    m.table_code
FROM omd.module AS m
WHERE
    m.module_kind_code IN ('SQL', 'SPARK')
    AND m.inactive_indicator = 'N'
    AND NOT EXISTS (
        SELECT FROM omd.module_declaration AS d
        WHERE d.module_id = m.module_id AND d.upto_id IS NULL AND d.inputs IS NOT NULL
    )
    AND NOT EXISTS (
        SELECT FROM omd.module_read AS r
        WHERE r.module_id = m.module_id AND r.table_code <> ''
    );

COMMENT ON VIEW omd.unknown_inputs IS
'The Modules of which nobody knows what they read: nothing is declared, the catalogue says '
'nothing, and no run has recorded anything.';
COMMENT ON COLUMN omd.unknown_inputs.module_id IS 'The Module.';
COMMENT ON COLUMN omd.unknown_inputs.module_code IS 'Its code.';
COMMENT ON COLUMN omd.unknown_inputs.module_kind_code IS 'SQL or SPARK.';
COMMENT ON COLUMN omd.unknown_inputs.table_code IS 'Its target.';
