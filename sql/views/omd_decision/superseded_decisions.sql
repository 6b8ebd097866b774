-- Calls are matched by what they decided on: the wave and the key, or in BATCH, which has no key,
-- the first record of the primary link that both have. Several calls for one key are matched in
-- their order.

CREATE OR REPLACE VIEW omd_report.superseded_decisions AS
WITH pair AS (
    SELECT
        o.recall_id,
        o.stage_id,
        o.module_instance_id AS old_id,
        n.new_id
    FROM omd_decision.run AS o
    LEFT JOIN LATERAL (
        SELECT max(r.module_instance_id) AS new_id
        FROM omd_decision.run AS r
        WHERE
            r.stage_id = o.stage_id
            AND r.supersedes @> ARRAY[o.module_instance_id]
            AND r.recall_id IS NULL
            AND r.invocations IS NOT NULL
    ) AS n ON TRUE
    WHERE o.recall_id IS NOT NULL
),

kept_call AS (
    SELECT
        c.module_instance_id,
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
                    PARTITION BY c.module_instance_id, c.wave, c.key
                    ORDER BY c.cycle_no, c.invocation_no
                )
        END AS place
    FROM (
        SELECT p.old_id AS id
        FROM pair AS p
        UNION
        SELECT p.new_id AS id
        FROM pair AS p
    ) AS i
    INNER JOIN omd_decision.run AS r ON i.id = r.module_instance_id
    INNER JOIN omd_decision.stage_version AS v
        ON r.stage_id = v.stage_id AND r.stage_version = v.version
    INNER JOIN omd_decision.cycle AS c ON r.module_instance_id = c.module_instance_id
    CROSS JOIN
        LATERAL jsonb_path_query(
            CASE
                WHEN c.key IS NULL THEN c.inputs -> (v.definition #>> '{links,0,parameter}')
                ELSE jsonb_build_array(c.key)
            END,
            '$[*]'
        ) AS t (token)
),

matched AS (
    SELECT
        p.recall_id,
        p.stage_id,
        p.old_id,
        p.new_id,
        o.wave,
        o.key,
        o.outputs,
        o.result,
        n.module_instance_id IS NOT NULL AS is_matched,
        n.outputs AS new_outputs,
        n.result AS new_result,
        row_number() OVER (
            PARTITION BY o.module_instance_id, o.wave, o.key, o.cycle_no, o.invocation_no
            ORDER BY n.cycle_no
        ) AS rank
    FROM pair AS p
    INNER JOIN kept_call AS o ON p.old_id = o.module_instance_id
    LEFT JOIN kept_call AS n
        ON
            p.new_id = n.module_instance_id
            AND o.token = n.token
            AND o.place = n.place
            AND o.wave IS NOT DISTINCT FROM n.wave
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
    (
        NOT m.is_matched
        OR m.outputs IS DISTINCT FROM m.new_outputs
        OR m.result IS DISTINCT FROM m.new_result
    ) AS is_changed
FROM matched AS m
INNER JOIN omd_decision.stage AS s ON m.stage_id = s.stage_id
WHERE m.rank = 1;

COMMENT ON VIEW omd_report.superseded_decisions IS
'What stages had decided in runs that a recall took back, beside what was decided when their '
'windows were taken again: a row per call of the ruleset that a run kept.';
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
