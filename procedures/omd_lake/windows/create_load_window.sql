-- The commits of a table appear in the order of their positions, so a window may end at the newest
-- one without waiting for anybody. A second call returns the window of the first, although the
-- table may have moved on.

CREATE OR REPLACE PROCEDURE omd_lake.create_load_window(
    p_module_instance_id bigint,
    p_table_code text,
    INOUT p_start_value timestamptz DEFAULT NULL,
    INOUT p_start_id bigint DEFAULT NULL,
    INOUT p_end_value timestamptz DEFAULT NULL,
    INOUT p_end_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_load_window$
DECLARE
    v_table_code text := omd_lake._spell_table(p_table_code);
BEGIN
    PERFORM omd_lake._require_known(v_table_code);
    SELECT s.end_value, s.end_id INTO p_end_value, p_end_id
    FROM omd.instance_state(p_module_instance_id) AS s
    WHERE s.end_value IS NOT NULL;
    IF NOT FOUND THEN
        SELECT p.p_pos, p.p_id INTO p_end_value, p_end_id
        FROM omd_lake.newest_position(v_table_code) AS p;
    END IF;
    IF p_end_value IS NULL THEN
        CALL omd.fence(p_module_instance_id);
    ELSE
        CALL omd.create_load_window(
            p_module_instance_id, p_end_value, p_end_id, p_start_value, p_start_id
        );
        PERFORM omd.record_run_input(
            p_module_instance_id,
            omd.base_tables(v_table_code),
            omd_lake.runs_in_block(
                v_table_code, p_start_value, p_start_id, p_end_value, p_end_id
            )
        );
    END IF;
END
$create_load_window$;

COMMENT ON PROCEDURE omd_lake.create_load_window IS
'For the driver: '
'Records the load window of the Module Instance p_module_instance_id over the commits of the lake '
'table p_table_code: from the end of the newest window that counts up to the newest commit. The '
'values are times of commits, the ids their sequence numbers; an open start is NULL, with the '
'least bigint as its id. A table without a commit has no window yet: all answers are NULL. A '
'second call returns the same. Errors: OM004, OM005, OM009, OM010, OM013, OM019 (another kind than'
' the windows before), OM020, OM101, OM102, OM105, OM107. Locks: the instance row. May be NULL: '
'p_start_value, p_start_id, p_end_value, p_end_id. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lake.create_load_window TO omd_runner;
