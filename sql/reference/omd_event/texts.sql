-- Each column of this room that can hold text: what an erasure does with it, and why.

INSERT INTO omd.text_column (table_code, column_name, treatment, reason)
SELECT
    t.table_code,
    c.name,
    t.treatment,
    t.reason
FROM (
    VALUES
    ('omd_event.counter', '{label_key}', 'NEVER_PERSONAL', 'a hash'),
    ('omd_event.counter', '{labels}', 'NEVER_PERSONAL', 'counts and codes'),
    (
        'omd_event.counter',
        '{metric_name,sample_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_event.event',
        '{code,event_type,subject_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_event.event', '{detail}', 'ERASED', 'what people, programs and errors have written'),
    (
        'omd_event.event_type',
        '{event_type,subject_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_event.event_type',
        '{meaning}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_event.gap',
        '{subject_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_event.known_problem',
        '{object_key,subject}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_event.known_problem',
        '{object_kind,problem_code,severity}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_event.known_problem', '{problem_key}', 'NEVER_PERSONAL', 'a hash'),
    (
        'omd_event.metric',
        '{alert,label_names}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_event.metric',
        '{help,metric_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_event.metric',
        '{metric_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_event.open_run',
        '{subject_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_event.outbox',
        '{code,event_type,subject_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_event.outbox', '{detail}', 'ERASED', 'what people, programs and errors have written'),
    (
        'omd_event.refused_event',
        '{answer}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_event.refused_event',
        '{sink_code,status}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_event.run_cost',
        '{subject_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_event.setting',
        '{dataset_namespace,job_namespace}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    ('omd_event.setting', '{web_url}', 'NEVER_PERSONAL', 'a place that an administrator named'),
    (
        'omd_event.sink',
        '{codes,format,inactive_indicator,sink_code,sink_kind}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_event.sink',
        '{event_types}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    ('omd_event.sink', '{holder}', 'NEVER_PERSONAL', 'a role of the database, or a program'),
    ('omd_event.sink', '{problem}', 'ERASED', 'what people, programs and errors have written'),
    (
        'omd_event.sink',
        '{secret_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_event.sink',
        '{target}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_event.view_columns',
        '{fields,view_text}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_event.view_columns',
        '{parsed_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_event.view_columns',
        '{view_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    )
) AS t (table_code, columns, treatment, reason)
CROSS JOIN LATERAL unnest(t.columns::text[]) AS c (name)
ON CONFLICT (table_code, column_name)
DO UPDATE SET treatment = excluded.treatment, reason = excluded.reason;
