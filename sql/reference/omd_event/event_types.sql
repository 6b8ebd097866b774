-- The types of events.

INSERT INTO omd_event.event_type (event_type, subject_type, is_followed, meaning)
VALUES
('RUN_BEGAN', 'MODULE', TRUE, 'A run of a Module proceeds: its evaluation answered P or R.'),
('RUN_SUCCEEDED', 'MODULE', TRUE, 'The run ended with S.'),
('RUN_FAILED', 'MODULE', TRUE, 'The run ended with F.'),
('RUN_ABORTED', 'MODULE', TRUE, 'The run had begun, and ended with A or C.'),
('BATCH_BEGAN', 'BATCH', TRUE, 'A run of a Batch proceeds: its evaluation answered P.'),
('BATCH_SUCCEEDED', 'BATCH', TRUE, 'The run of the Batch ended with S.'),
('BATCH_FAILED', 'BATCH', TRUE, 'The run of the Batch ended with F.'),
('BATCH_ABORTED', 'BATCH', TRUE, 'The run of the Batch had begun, and ended with A or C.'),
('RUN_UNDONE', 'MODULE', FALSE, 'The rows of the run were taken back by a rollback or a recall.'),
('DELIVERY_ACCEPTED', 'DELIVERY', FALSE, 'The delivery passed its validation.'),
('DELIVERY_REFUSED', 'DELIVERY', FALSE, 'The delivery was refused.'),
(
    'DELIVERY_PERSISTED', 'DELIVERY', FALSE,
    'The delivery was persisted, with violated constraints too.'
),
('DELIVERY_REVERTED', 'DELIVERY', FALSE, 'The delivery was taken back.'),
('DELIVERY_EXPORTED', 'DELIVERY', FALSE, 'The delivery was exported.'),
('TASK_DEAD', 'TASK', FALSE, 'A task was given up.'),
(
    'SCHEDULE_FAILED', 'SCHEDULE', FALSE,
    'A schedule has a problem (PROBLEM), begins to lose occurrences (LOST), or works again after '
    'that (RECOVERED).'
),
('LAKE_COMMITTED', 'LAKE_COMMIT', FALSE, 'A table of a lake got a new version.'),
('PROBLEM_BEGAN', 'PROBLEM', FALSE, 'A row of omd_report.problems is new.'),
('PROBLEM_ENDED', 'PROBLEM', FALSE, 'A row of omd_report.problems is gone.')
ON CONFLICT (event_type) DO UPDATE SET
    subject_type = excluded.subject_type,
    is_followed = excluded.is_followed,
    meaning = excluded.meaning;
