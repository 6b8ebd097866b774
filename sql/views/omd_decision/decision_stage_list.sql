-- The document is that of the present version.

CREATE OR REPLACE VIEW omd_report.decision_stage_list AS
SELECT
    s.stage_id,
    s.stage_code,
    m.module_code,
    s.version,
    v.definition ->> 'mode' AS mode,
    v.definition ->> 'ruleset' AS ruleset_code,
    v.definition,
    v.defined_at,
    v.defined_by,
    (
        SELECT
            string_agg(
                DISTINCT format(
                    'It has read rows of %s that were undone later. %s', r.source_code, r.way_out
                ),
                ' '
            )
        FROM omd.standing_read AS r
        WHERE r.module_id = s.module_id
    ) AS problem
FROM omd_decision.stage AS s
INNER JOIN omd_decision.stage_version AS v
    ON s.stage_id = v.stage_id AND s.version = v.version
LEFT JOIN omd.module AS m ON s.module_id = m.module_id;

COMMENT ON VIEW omd_report.decision_stage_list IS
'All stages, with the document of each.';
COMMENT ON COLUMN omd_report.decision_stage_list.stage_id IS
'Surrogate key.';
COMMENT ON COLUMN omd_report.decision_stage_list.stage_code IS
'The stage.';
COMMENT ON COLUMN omd_report.decision_stage_list.module_code IS
'The Module whose instances are its runs.';
COMMENT ON COLUMN omd_report.decision_stage_list.version IS
'Its present version.';
COMMENT ON COLUMN omd_report.decision_stage_list.mode IS
'BATCH or KEY.';
COMMENT ON COLUMN omd_report.decision_stage_list.ruleset_code IS
'The ruleset that it calls.';
COMMENT ON COLUMN omd_report.decision_stage_list.definition IS
'The document, with the defaults filled in.';
COMMENT ON COLUMN omd_report.decision_stage_list.defined_at IS
'When this version was defined.';
COMMENT ON COLUMN omd_report.decision_stage_list.defined_by IS
'By whom.';
COMMENT ON COLUMN omd_report.decision_stage_list.problem IS
'What is wrong with what it has decided, and the way out; NULL when nothing is.';
