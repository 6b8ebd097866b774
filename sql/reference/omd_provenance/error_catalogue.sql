-- The errors of provenance. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- There is no such recall, or it has no such entry. For example: the number of a recall was
    -- mistyped.
    'OM090', 'UnknownRecall', 'there is no {object} {key}',
    'SELECT * FROM omd_report.recalls; or CALL omd_provenance.plan_recall(…);'
),
(
    -- Nothing of what is to be taken back stands. For example: the delivery was taken back already.
    'OM091', 'NothingToRecall', 'nothing of {target} stands: {problem}', '{way_out}'
),
(
    -- The interface, its entity or the columns of its key are not these. For example: the key of an
    -- entity is given by a column that is an attribute.
    'OM092', 'UnknownSubject', 'there is no {object} {key}{of}',
    'SELECT * FROM omd_report.delivery_models;'
),
(
    -- The key does not find exactly one row, or the table can't be explained. For example:
    -- explain_row is asked with half of a key, which two rows have.
    'OM093', 'UnfitRow', '{table_code} can''t be explained: {problem}', '{way_out}'
),
(
    -- Other runs are concerned than those that were planned. For example: a run has read the rows
    -- after the recall was planned.
    'OM190', 'PlanChanged',
    'the plan of recall {recall_id} is no longer what would happen: {problem}',
    '{way_out}'
),
(
    -- Something in the plan can't be taken back. For example: what a run replaced was purged, so
    -- that it can't come back.
    'OM191', 'RecallBlocked', 'recall {recall_id} is blocked: {problem}',
    'SELECT * FROM omd_report.recall_items WHERE recall_id = {recall_id} AND action = ''BLOCKED'';'
),
(
    -- The plan does something that the caller has not accepted by name. For example: a recall would
    -- undo steps of topics, and accept does not name that.
    'OM192', 'ConsentMissing', 'recall {recall_id} needs consent for {actions}',
    'CALL omd_provenance.recall({recall_id}, {accept});'
),
(
    -- The recall was executed, or its entry was filled or dropped. For example: a recall is
    -- executed twice.
    'OM193', 'WrongRecallState', '{object} {key} can''t {action}: it is {status}',
    'SELECT * FROM omd_report.recall_returns;'
),
(
    -- Runs in the database that the recall needs out of the way are still at work. For example: a
    -- load still reads the rows that are to be taken back.
    'OM194', 'StillRunning',
    'runs that recall {recall_id} needs out of the way are at work: {problem}',
    'Wait for them and call again, or end them: SELECT pg_terminate_backend(…);'
),
(
    -- What erase is to do with a table can't be done. For example: a table has no column by which
    -- the person can be found.
    'OM292', 'SubjectUnfit', '{table_code} can''t be registered: {problem}', '{way_out}'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template
WHERE (
    error_catalogue.error_name,
    error_catalogue.message_template,
    error_catalogue.hint_template
) IS DISTINCT FROM (
    excluded.error_name,
    excluded.message_template,
    excluded.hint_template
);
