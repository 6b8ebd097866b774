-- Calls are matched by what they decided on: the wave and the key, or in BATCH, which has no key,
-- the first record of the primary link that both have. Several calls for one key are matched in
-- their order.

CREATE OR REPLACE VIEW omd_report.superseded_decisions AS
WITH pair AS (
    SELECT
        o.module_instance_id AS old_id,
        o.recall_id,
        o.stage_id,
        v.definition #>> '{links,0,parameter}' AS primary_parameter,
        n.module_instance_id AS new_id
    FROM omd_decision.run AS o
    INNER JOIN omd_decision.stage_version AS v
        ON o.stage_id = v.stage_id AND o.stage_version = v.version
    LEFT JOIN LATERAL (
        SELECT r.module_instance_id
        FROM omd_decision.run AS r
        WHERE
            r.stage_id = o.stage_id
            AND r.supersedes @> ARRAY[o.module_instance_id]
            AND r.recall_id IS NULL
            AND r.invocations IS NOT NULL
        ORDER BY r.module_instance_id DESC
        LIMIT 1
    ) AS n ON TRUE
    WHERE o.recall_id IS NOT NULL
),

old_call AS (
    SELECT
        p.recall_id,
        p.stage_id,
        p.old_id,
        p.new_id,
        c.wave,
        c.key,
        c.cycle_no,
        c.invocation_no,
        c.outputs,
        c.result,
        t.token,
        CASE
            WHEN c.key IS NULL THEN c.invocation_no
            ELSE
                row_number() OVER (
                    PARTITION BY p.old_id, c.wave, c.key ORDER BY c.cycle_no, c.invocation_no
                )
        END AS place
    FROM pair AS p
    INNER JOIN omd_decision.cycle AS c ON p.old_id = c.module_instance_id
    CROSS JOIN LATERAL (
        SELECT c.key AS token
        WHERE c.key IS NOT NULL
        UNION ALL
        SELECT a.value AS token
        FROM jsonb_array_elements(
            CASE jsonb_typeof(c.inputs -> p.primary_parameter)
                WHEN 'array' THEN c.inputs -> p.primary_parameter
                ELSE jsonb_build_array(c.inputs -> p.primary_parameter)
            END
        ) AS a
        WHERE c.key IS NULL
    ) AS t
),

new_call AS (
    SELECT
        p.new_id,
        c.wave,
        c.cycle_no,
        c.outputs,
        c.result,
        t.token,
        CASE
            WHEN c.key IS NULL THEN c.invocation_no
            ELSE
                row_number() OVER (
                    PARTITION BY p.new_id, c.wave, c.key ORDER BY c.cycle_no, c.invocation_no
                )
        END AS place
    FROM (
        SELECT DISTINCT
            q.new_id,
            v.definition #>> '{links,0,parameter}' AS primary_parameter
        FROM pair AS q
        INNER JOIN omd_decision.run AS r ON q.new_id = r.module_instance_id
        INNER JOIN omd_decision.stage_version AS v
            ON r.stage_id = v.stage_id AND r.stage_version = v.version
    ) AS p
    INNER JOIN omd_decision.cycle AS c ON p.new_id = c.module_instance_id
    CROSS JOIN LATERAL (
        SELECT c.key AS token
        WHERE c.key IS NOT NULL
        UNION ALL
        SELECT a.value AS token
        FROM jsonb_array_elements(
            CASE jsonb_typeof(c.inputs -> p.primary_parameter)
                WHEN 'array' THEN c.inputs -> p.primary_parameter
                ELSE jsonb_build_array(c.inputs -> p.primary_parameter)
            END
        ) AS a
        WHERE c.key IS NULL
    ) AS t
),

matched AS (
    SELECT DISTINCT ON (o.old_id, o.wave, o.cycle_no, o.key, o.invocation_no)
        o.*,
        n.new_id IS NOT NULL AS is_matched,
        n.outputs AS new_outputs,
        n.result AS new_result
    FROM old_call AS o
    LEFT JOIN new_call AS n
        ON
            o.new_id = n.new_id
            AND o.token = n.token
            AND o.place = n.place
            AND o.wave IS NOT DISTINCT FROM n.wave
    ORDER BY
        o.old_id, o.wave, o.cycle_no, o.key, o.invocation_no, n.cycle_no ASC NULLS LAST
)

SELECT
    m.recall_id,
    s.stage_code,
    m.wave,
    m.key,
    m.old_id AS old_instance_id,
    CASE WHEN m.is_matched THEN m.new_id END AS new_instance_id,
    m.outputs AS old_outputs,
    m.new_outputs,
    CASE WHEN omd.reads_rows() THEN m.result END AS old_result,
    CASE WHEN omd.reads_rows() THEN m.new_result END AS new_result,
    NOT m.is_matched
    OR m.outputs IS DISTINCT FROM m.new_outputs
    OR m.result IS DISTINCT FROM m.new_result AS is_changed
FROM matched AS m
INNER JOIN omd_decision.stage AS s ON m.stage_id = s.stage_id;

COMMENT ON VIEW omd_report.superseded_decisions IS
'What stages had decided in runs that a recall took back, beside what was decided when their windows '
'were taken again: a row per call of the ruleset that a run kept.';
COMMENT ON COLUMN omd_report.superseded_decisions.recall_id IS 'The recall.';
COMMENT ON COLUMN omd_report.superseded_decisions.stage_code IS 'The stage.';
COMMENT ON COLUMN omd_report.superseded_decisions.wave IS
'The wave; NULL: the stage has none, or it is NULL.';
COMMENT ON COLUMN omd_report.superseded_decisions.key IS 'The key; NULL in BATCH.';
COMMENT ON COLUMN omd_report.superseded_decisions.old_instance_id IS 'The run that was taken back.';
COMMENT ON COLUMN omd_report.superseded_decisions.new_instance_id IS
'The run that decided again; NULL: none has, or it has not decided on this.';
COMMENT ON COLUMN omd_report.superseded_decisions.old_outputs IS
'By output, how many records it had.';
COMMENT ON COLUMN omd_report.superseded_decisions.new_outputs IS
'By output, how many it has now; NULL: it was not decided again.';
COMMENT ON COLUMN omd_report.superseded_decisions.old_result IS
'What the ruleset had answered; NULL: the stage does not keep TRACE, or for who has not '
'omd_data_reader.';
COMMENT ON COLUMN omd_report.superseded_decisions.new_result IS
'What it answers now; NULL: as old_result, or it was not decided again.';
COMMENT ON COLUMN omd_report.superseded_decisions.is_changed IS
'The number of records or the answer is another one, or it was not decided again.';
