-- The list of metrics. A sentence of help is what a person sees who meets the name first in a
-- dashboard. What publish counts is kept in omd_event.counter, all else is read by
-- omd_report.metrics. What an alert says is a proposal: a person changes its file. In braces stands
-- a label, its {value}, or its value as {seconds}.

DELETE FROM omd_event.metric;
INSERT INTO omd_event.metric (metric_name, metric_type, help, is_per_code, label_names, alert)
VALUES
-- Counted by publish
(
    'omd_runs_total', 'counter',
    'Ended runs, by kind of Module and status: S succeeded, F failed, A aborted, C skipped.',
    FALSE, '{kind,status}',
    NULL
),
(
    'omd_runs_undone_total', 'counter',
    'Runs that a rollback or a recall has undone, by kind of Module.',
    FALSE, '{kind}',
    NULL
),
(
    'omd_run_seconds', 'histogram',
    'How long runs took, by kind of Module.',
    FALSE, '{kind}',
    NULL
),
(
    'omd_rows_total', 'counter',
    'Rows that ended runs have counted: input, inserted, updated, deleted, discarded, rejected.',
    FALSE, '{kind,count}',
    NULL
),
(
    'omd_module_runs_total', 'counter',
    'Runs of each Module that have ended, by status.',
    TRUE, '{module,status}',
    jsonb_build_object(
        'name', 'OmdRunFailed',
        'condition', 'increase(omd_module_runs_total{status="F"}[10m]) > 0',
        'lasts', '0m',
        'severity', 'warning',
        'summary',
        'A run of Module {module} has failed.'
    )
),
(
    'omd_module_last_success_timestamp_seconds', 'gauge',
    'When each Module succeeded last.',
    TRUE, '{module}',
    NULL
),
(
    'omd_batch_runs_total', 'counter',
    'Runs of each Batch that have ended, by status.',
    TRUE, '{batch,status}',
    jsonb_build_object(
        'name', 'OmdBatchFailed',
        'condition', 'increase(omd_batch_runs_total{status="F"}[10m]) > 0',
        'lasts', '0m',
        'severity', 'critical',
        'summary',
        'A run of Batch {batch} has failed.'
    )
),
(
    'omd_deliveries_total', 'counter',
    'Deliveries that have come to a status.',
    FALSE, '{status}',
    NULL
),
(
    'omd_agreement_deliveries_total', 'counter',
    'Deliveries of each agreement that have come to a status.',
    TRUE, '{agreement,status}',
    jsonb_build_object(
        'name', 'OmdDeliveryRefused',
        'condition', 'increase(omd_agreement_deliveries_total{status="REFUSED"}[10m]) > 0',
        'lasts', '0m',
        'severity', 'warning',
        'summary',
        'A delivery of {agreement} was refused.'
    )
),
(
    'omd_tasks_dead_total', 'counter',
    'Tasks that were given up, because their attempts were used up.',
    FALSE, '{family,task_type}',
    jsonb_build_object(
        'name', 'OmdTaskDead',
        'condition', 'increase(omd_tasks_dead_total[10m]) > 0',
        'lasts', '0m',
        'severity', 'critical',
        'summary',
        'A task of {family}/{task_type} is dead.'
    )
),
(
    'omd_schedule_failures_total', 'counter',
    'Failed firings and lost times of each schedule.',
    TRUE, '{schedule}',
    jsonb_build_object(
        'name', 'OmdScheduleFailed',
        'condition', 'increase(omd_schedule_failures_total[10m]) > 0',
        'lasts', '0m',
        'severity', 'warning',
        'summary',
        'Schedule {schedule} has failed.'
    )
),
-- Read when somebody asks
(
    'omd_info', 'gauge',
    'Always 1; its label is the version of OMD in the database.',
    FALSE, '{version}',
    jsonb_build_object(
        'name', 'OmdUnseen',
        'condition', 'absent(omd_info)',
        'lasts', '5m',
        'severity', 'critical',
        'summary',
        'Nobody gives the metrics of OMD.'
    )
),
(
    'omd_published_timestamp_seconds', 'gauge',
    'When events were published last. The counters stand still while nobody publishes.',
    FALSE, '{}',
    jsonb_build_object(
        'name', 'OmdNotPublished',
        'condition', 'time() - omd_published_timestamp_seconds > 300',
        'lasts', '1m',
        'severity', 'critical',
        'summary',
        'No events were published for {seconds}, so counters stand still.'
    )
),
(
    'omd_runs_executing', 'gauge',
    'Runs of Modules that execute now, by kind of Module.',
    FALSE, '{kind}',
    NULL
),
(
    'omd_rollbacks_pending', 'gauge',
    'Modules whose next begin undoes runs first.',
    FALSE, '{}',
    NULL
),
(
    'omd_problems', 'gauge',
    'Rows of omd_report.problems, by code.',
    FALSE, '{problem}',
    jsonb_build_object(
        'name', 'OmdProblems',
        'condition', 'omd_problems > 0',
        'lasts', '15m',
        'severity', 'warning',
        'summary',
        'OMD shows {problem} {value} times; omd status says what mends it.'
    )
),
(
    'omd_topic_lag_seconds', 'gauge',
    'How far each topic is behind its base table. A topic whose source is silent has no value.',
    TRUE, '{topic}',
    jsonb_build_object(
        'name', 'OmdTopicLag',
        'condition', 'omd_topic_lag_seconds > 3600',
        'lasts', '5m',
        'severity', 'warning',
        'summary',
        'Topic {topic} is {seconds} behind.'
    )
),
(
    'omd_source_age_seconds', 'gauge',
    'How old the newest row of each source is.',
    TRUE, '{source}',
    NULL
),
(
    'omd_sources_stale', 'gauge',
    'Sources whose newest row is older than they promise.',
    FALSE, '{}',
    jsonb_build_object(
        'name', 'OmdSourceStale',
        'condition', 'omd_sources_stale > 0',
        'lasts', '5m',
        'severity', 'warning',
        'summary',
        '{value} sources are older than they promise.'
    )
),
(
    'omd_tasks', 'gauge',
    'Live tasks by family, type and state: due, later, suspended, claimed.',
    FALSE, '{family,task_type,state}',
    NULL
),
(
    'omd_task_oldest_due_seconds', 'gauge',
    'For how long the oldest due task of a type has been due.',
    FALSE, '{family,task_type}',
    jsonb_build_object(
        'name', 'OmdTaskWaits',
        'condition', 'omd_task_oldest_due_seconds > 900',
        'lasts', '1m',
        'severity', 'warning',
        'summary',
        'A task of {family}/{task_type} has waited for {seconds}.'
    )
),
(
    'omd_backends', 'gauge',
    'Workers that live, by group.',
    FALSE, '{group}',
    NULL
),
(
    'omd_queue_items', 'gauge',
    'Accepted deliveries of each interface that the facts have not taken yet.',
    TRUE, '{interface}',
    NULL
),
(
    'omd_queue_oldest_seconds', 'gauge',
    'For how long the oldest of them has waited.',
    TRUE, '{interface}',
    jsonb_build_object(
        'name', 'OmdQueueWaits',
        'condition', 'omd_queue_oldest_seconds > 3600',
        'lasts', '5m',
        'severity', 'warning',
        'summary',
        'A delivery has waited for {seconds} to be loaded into {interface}.'
    )
),
(
    'omd_sink_behind_events', 'gauge',
    'Events that each sink has not settled yet.',
    FALSE, '{sink}',
    NULL
),
(
    'omd_sink_oldest_seconds', 'gauge',
    'For how long the oldest event has waited that a sink has not settled.',
    FALSE, '{sink}',
    jsonb_build_object(
        'name', 'OmdSinkBehind',
        'condition', 'omd_sink_oldest_seconds > 600',
        'lasts', '5m',
        'severity', 'warning',
        'summary',
        'Sink {sink} has not sent for {seconds}.'
    )
),
(
    'omd_outbox_oldest_seconds', 'gauge',
    'For how long the oldest event has waited that is not published yet; 0: none waits.',
    FALSE, '{}',
    NULL
);
