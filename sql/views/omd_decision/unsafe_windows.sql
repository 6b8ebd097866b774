-- A stage that was defined before its room refused such a window runs on, and somebody has to see
-- it.

CREATE OR REPLACE VIEW omd_decision.unsafe_windows AS
SELECT
    s.stage_code,
    s.module_id,
    t.table_code,
    v.defined_at AS since,
    format(
        'The window of stage %s goes by acm_start_dt of %s: a row that comes with an earlier one, '
        'as a correction does, is never read.',
        s.stage_code, t.table_code
    ) AS problem,
    'Define it with "window": {"by": "CHANGES"}; it goes on where its window has ended.' AS way_out
FROM omd_decision.stage AS s
INNER JOIN omd_decision.stage_version AS v ON s.stage_id = v.stage_id AND s.version = v.version
INNER JOIN omd_decision.stage_source AS t ON s.stage_id = t.stage_id
WHERE
    v.definition #>> '{window,column}' = 'acm_start_dt'
    AND omd_decision._shows_facts(t.table_code);

COMMENT ON VIEW omd_decision.unsafe_windows IS
'For rooms: stages whose window passes rows over (the problem WINDOW_UNSAFE).';
COMMENT ON COLUMN omd_decision.unsafe_windows.stage_code IS 'The stage.';
COMMENT ON COLUMN omd_decision.unsafe_windows.module_id IS 'Its Module.';
COMMENT ON COLUMN omd_decision.unsafe_windows.table_code IS 'The view of facts that it reads.';
COMMENT ON COLUMN omd_decision.unsafe_windows.since IS 'Since when it is defined so.';
COMMENT ON COLUMN omd_decision.unsafe_windows.problem IS 'What is wrong.';
COMMENT ON COLUMN omd_decision.unsafe_windows.way_out IS 'What to do.';
