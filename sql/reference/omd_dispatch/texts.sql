-- Each column of this room that can hold text: what an erasure does with it, and why.

INSERT INTO omd.text_column (table_code, column_name, treatment, reason)
SELECT
    t.table_code,
    c.name,
    t.treatment,
    t.reason
FROM (
    VALUES
    (
        'omd_dispatch.backend_registration',
        '{backend_id}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_dispatch.backend_registration',
        '{backend_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.cache_version',
        '{part}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_dispatch.deliver_id_task_type',
        '{deliver_id}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_dispatch.deliver_id_task_type',
        '{task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.error_class',
        '{class_name}',
        'NEVER_PERSONAL',
        'the name of a class of a program, or an SQLSTATE'
    ),
    (
        'omd_dispatch.job_type',
        '{family_code,task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.job_type_criteria',
        '{criterion}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_dispatch.job_type_criteria',
        '{task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.mutex',
        '{family_code,task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_dispatch.mutex', '{key_hash}', 'NEVER_PERSONAL', 'a hash'),
    ('omd_dispatch.mutex', '{key_text}', 'ERASED', 'what people, programs and errors have written'),
    (
        'omd_dispatch.task\_data\_%',
        '{claimed_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_dispatch.task\_data\_%',
        '{error,func\\_%,payload}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    ('omd_dispatch.task\_data\_%', '{key_hash}', 'NEVER_PERSONAL', 'a hash'),
    (
        'omd_dispatch.task\_data\_%',
        '{lane,outcome,schedule_code,status,task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.task\_model\_%',
        '{family_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_conf_custom',
        '{criterion}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_dispatch.task_conf_custom',
        '{family_code,mode}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_conf_custom',
        '{task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.task_conf_dict',
        '{criterion}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_dispatch.task_conf_dict',
        '{external_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_dispatch.task_conf_dict',
        '{family_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_conf_dict',
        '{task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.task_conf_family_desc',
        '{family_code,scheme_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_conf_family_model',
        '{criterion}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_dispatch.task_conf_family_model',
        '{data_type,family_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_conf_partition_scheme',
        '{scheme_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_conf_partition_scheme',
        '{scheme_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_dispatch.task_conf_search_allowed',
        '{criterion}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_dispatch.task_conf_search_allowed',
        '{family_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_conf_search_allowed',
        '{index_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_dispatch.task_conf_type_desc',
        '{deliver_id,on_failure}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_dispatch.task_conf_type_desc',
        '{family_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_conf_type_desc',
        '{handler,limit_criterion,target}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_dispatch.task_conf_type_desc',
        '{task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.task_death',
        '{family_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_death',
        '{task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.task_migration_discrepancy',
        '{detail}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_dispatch.task_migration_discrepancy',
        '{family_code,kind}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_migration_status',
        '{family_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_schedule',
        '{criteria,payload,problem}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_dispatch.task_schedule',
        '{cron,source,time_zone}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_dispatch.task_schedule',
        '{family_code,inactive_indicator,missed}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_schedule',
        '{schedule_code,task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.task_schedule_rest',
        '{schedule_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.task_schedule_rest',
        '{task}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_dispatch.task_source',
        '{family_code,inactive_indicator}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_source',
        '{listen,source}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_dispatch.task_source',
        '{problem}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_dispatch.task_source',
        '{task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.task_suspension',
        '{family_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_dispatch.task_suspension',
        '{looked_lane}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_dispatch.task_suspension',
        '{reason}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_dispatch.task_suspension',
        '{suspended_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_dispatch.task_suspension_criteria',
        '{criterion}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_dispatch.task_suspension_criteria',
        '{criterion_value}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_dispatch.task_suspension_types',
        '{task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.trigger_id_task_type',
        '{task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    (
        'omd_dispatch.trigger_id_task_type',
        '{trigger_id}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_dispatch.turn',
        '{part}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_dispatch.old\_task\_data\_%',
        '{error,payload}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_dispatch.old\_task\_data\_%',
        '{claimed_by,lane,outcome,schedule_code,status,task_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    ),
    ('omd_dispatch.old\_task\_data\_%', '{key_hash}', 'NEVER_PERSONAL', 'a hash'),
    (
        'omd_dispatch.old\_task\_criteria\_%',
        '{criterion_value}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_dispatch.old\_task\_criteria\_%',
        '{criterion}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered it'
    )
) AS t (table_code, columns, treatment, reason)
CROSS JOIN LATERAL unnest(t.columns::text[]) AS c (name)
ON CONFLICT (table_code, column_name)
DO UPDATE SET treatment = excluded.treatment, reason = excluded.reason;
