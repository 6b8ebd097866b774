-- The event and the problem say the same.

CREATE OR REPLACE FUNCTION omd_lake._withheld_text(
    p_table_code text,
    p_module_instance_id bigint,
    p_snapshot_id bigint,
    p_row_count bigint,
    p_other_snapshot_id bigint
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        format(
            '%s: the run %s is undone, but %s row(s) that it had overwritten in the snapshot %s '
            'stay away, because %s.',
            p_table_code, p_module_instance_id, p_row_count, p_snapshot_id,
            coalesce(
                'the later snapshot ' || p_other_snapshot_id
                || ', which no run of OMD made, has left nothing of what was live',
                'somebody has deleted their files'
            )
        );
END;

COMMENT ON FUNCTION omd_lake._withheld_text IS
'Returns in words that p_row_count rows of the table p_table_code, which the run '
'p_module_instance_id had overwritten in p_snapshot_id, stay away because of p_other_snapshot_id '
'(NULL: their files are gone). No locks.';
GRANT EXECUTE ON FUNCTION omd_lake._withheld_text TO omd_reader;
