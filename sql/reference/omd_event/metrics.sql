-- The list of metrics. A sentence of help is what a person sees who meets the name first in a
-- dashboard. What publish counts is kept in omd_event.counter, all else is read by
-- omd_report.metrics.

DELETE FROM omd_event.metric;
INSERT INTO omd_event.metric (metric_name, metric_type, help, is_per_code, label_names)
VALUES
-- Counted by publish
(
    'omd_runs_total', 'counter',
    'Runs that have ended, by kind of Module and status: S succeeded, F failed, A aborted, C skipped.',
    FALSE, '{kind,status}'
),
(
    'omd_runs_undone_total', 'counter',
    'Runs that a rollback or a recall has undone, by kind of Module.',
    FALSE, '{kind}'
),
(
    'omd_run_seconds', 'histogram',
    'How long runs took, by kind of Module.',
    FALSE, '{kind}'
),
(
    'omd_rows_total', 'counter',
    'Rows that ended runs have counted: input, inserted, updated, deleted, discarded, rejected.',
    FALSE, '{kind,count}'
),
(
    'omd_module_runs_total', 'counter',
    'Runs of each Module that have ended, by status.',
    TRUE, '{module,status}'
),
(
    'omd_module_last_success_timestamp_seconds', 'gauge',
    'When each Module succeeded last.',
    TRUE, '{module}'
),
(
    'omd_batch_runs_total', 'counter',
    'Runs of each Batch that have ended, by status.',
    TRUE, '{batch,status}'
),
(
    'omd_deliveries_total', 'counter',
    'Deliveries that have come to a status.',
    FALSE, '{status}'
),
(
    'omd_agreement_deliveries_total', 'counter',
    'Deliveries of each agreement that have come to a status.',
    TRUE, '{agreement,status}'
),
(
    'omd_tasks_dead_total', 'counter',
    'Tasks that were given up, because their attempts were used up.',
    FALSE, '{family,task_type}'
),
(
    'omd_schedule_failures_total', 'counter',
    'Failed firings and lost times of each schedule.',
    TRUE, '{schedule}'
),
-- Read when somebody asks
(
    'omd_info', 'gauge',
    'Always 1; its label is the version of OMD in the database.',
    FALSE, '{version}'
),
(
    'omd_published_timestamp_seconds', 'gauge',
    'When events were published last. The counters stand still while nobody publishes.',
    FALSE, '{}'
),
(
    'omd_runs_executing', 'gauge',
    'Runs of Modules that execute now, by kind of Module.',
    FALSE, '{kind}'
),
(
    'omd_rollbacks_pending', 'gauge',
    'Modules whose next begin undoes runs first.',
    FALSE, '{}'
),
(
    'omd_problems', 'gauge',
    'Rows of omd_report.problems, by code.',
    FALSE, '{problem}'
),
(
    'omd_topic_lag_seconds', 'gauge',
    'How far each topic is behind its base table. A topic whose source is silent has no value.',
    TRUE, '{topic}'
),
(
    'omd_source_age_seconds', 'gauge',
    'How old the newest row of each source is.',
    TRUE, '{source}'
),
(
    'omd_sources_stale', 'gauge',
    'Sources whose newest row is older than they promise.',
    FALSE, '{}'
),
(
    'omd_tasks', 'gauge',
    'Live tasks by family, type and state: due, later, suspended, claimed.',
    FALSE, '{family,task_type,state}'
),
(
    'omd_task_oldest_due_seconds', 'gauge',
    'For how long the oldest due task of a type has been due.',
    FALSE, '{family,task_type}'
),
(
    'omd_backends', 'gauge',
    'Workers that live, by group.',
    FALSE, '{group}'
),
(
    'omd_queue_items', 'gauge',
    'Accepted deliveries of each interface that the facts have not taken yet.',
    TRUE, '{interface}'
),
(
    'omd_queue_oldest_seconds', 'gauge',
    'For how long the oldest of them has waited.',
    TRUE, '{interface}'
),
(
    'omd_sink_behind_events', 'gauge',
    'Events that each sink has not settled yet.',
    FALSE, '{sink}'
),
(
    'omd_sink_oldest_seconds', 'gauge',
    'For how long the oldest event has waited that a sink has not settled.',
    FALSE, '{sink}'
),
(
    'omd_outbox_oldest_seconds', 'gauge',
    'For how long the oldest event has waited that is not published yet; 0: none waits.',
    FALSE, '{}'
);
