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
        'omd.area',
        '{area_code,layer_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.area',
        '{area_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.batch',
        '{batch_code,frequency_code,inactive_indicator}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.batch',
        '{batch_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.batch_hierarchy',
        '{inactive_indicator}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.batch_instance',
        '{execution_context,tried_members}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd.batch_instance',
        '{execution_status_code,next_run_indicator,processing_indicator}',
        'NEVER_PERSONAL',
        'a code of OMD'
    ),
    (
        'omd.batch_instance',
        '{reason_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.batch_instance',
        '{started_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd.batch_module',
        '{inactive_indicator}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.batch_parameter',
        '{parameter_value}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd.error_catalogue',
        '{error_name,hint_template,message_template}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.error_catalogue',
        '{sqlstate_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd.error_sentence', '{sentence,sqlstate_code}', 'NEVER_PERSONAL', 'a text of OMD'),
    (
        'omd.event_log',
        '{event_detail,event_return_code_details,reason}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd.event_type',
        '{event_type_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    ('omd.execution_status', '{execution_status_code}', 'NEVER_PERSONAL', 'a code of OMD'),
    (
        'omd.execution_status',
        '{execution_status_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.frequency',
        '{frequency_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.frequency',
        '{frequency_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.installation',
        '{on_failover,product_version}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd.installed_file',
        '{applied_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd.installed_file',
        '{checksum,product_version}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd.installed_file',
        '{kind}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.installed_file',
        '{path}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.layer',
        '{layer_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.layer',
        '{layer_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.maintenance',
        '{routine}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.module',
        '{area_code,engine_code,inactive_indicator,module_code,module_kind_code,'
        'platform_code,table_code,table_format_code,table_type_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.module',
        '{business_key_columns,current_indicator_column,effective_date_column,'
        'executable,expiry_date_column,insert_instance_column,'
        'update_instance_column}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.module',
        '{job,open_expiry_date}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd.module',
        '{module_description,start_hint}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.module_declaration',
        '{inputs,proposed}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd.module_declaration',
        '{origin}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.module_declaration',
        '{problem}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    ('omd.module_declaration', '{text_hash}', 'NEVER_PERSONAL', 'a hash'),
    (
        'omd.module_input',
        '{declared_code,read_kind,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.module_input',
        '{id_column,pos_column}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.module_instance',
        '{execution_context}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd.module_instance',
        '{execution_status_code,next_run_indicator,processing_indicator}',
        'NEVER_PERSONAL',
        'a code of OMD'
    ),
    (
        'omd.module_instance',
        '{reason_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.module_instance',
        '{started_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd.hook',
        '{answer,arguments,description,hook}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.module_kind',
        '{module_kind_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.module_parameter',
        '{parameter_value}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd.module_read',
        '{table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.module_return',
        '{drop_reason,problem}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd.module_state',
        '{last_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.module_state',
        '{last_problem,last_text}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    ('omd.next_run_indicator', '{next_run_indicator}', 'NEVER_PERSONAL', 'a code of OMD'),
    (
        'omd.next_run_indicator',
        '{next_run_indicator_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.parameter',
        '{parameter_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.parameter',
        '{parameter_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.platform',
        '{platform_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.platform',
        '{platform_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    ('omd.processing_indicator', '{processing_indicator}', 'NEVER_PERSONAL', 'a code of OMD'),
    (
        'omd.processing_indicator',
        '{processing_indicator_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.purge_step',
        '{old_rows,schema_name,step_routine,table_code}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.reason',
        '{reason_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.reason',
        '{reason_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.rollback_template',
        '{area_code,platform_code,statement_kind,table_format_code,table_type_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.rollback_template',
        '{count_template,statement_template}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.run_input',
        '{table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.sequence_bound',
        '{column_name,sequence_name,table_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.sequence_bound',
        '{row_condition,sequence_schema,table_schema}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.server_bound',
        '{column_name,schema_name,table_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.server_bound',
        '{on_change}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd.server_bound',
        '{row_condition}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.server_change',
        '{confirmed_as}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd.server_change',
        '{confirmed_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd.server_change',
        '{kind}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd.server_change', '{reason}', 'ERASED', 'what people, programs and errors have written'),
    (
        'omd.source',
        '{source_code,source_kind_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.source_control',
        '{source_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.room_hook',
        '{for_code,hook,room,routine}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd.source_kind',
        '{source_kind_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.source_reader',
        '{source_code,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.source_table',
        '{source_code,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.table_format',
        '{table_format_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.table_format',
        '{table_format_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.table_type',
        '{table_type_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.table_type',
        '{table_type_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd.text_column',
        '{column_name,reason,table_code,treatment}',
        'NEVER_PERSONAL',
        'a text of OMD'
    ),
    (
        'omd.undone_read',
        '{reader,way_out}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd.undone_read',
        '{source_code,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd.upgrade_step', '{error}', 'ERASED', 'what people, programs and errors have written'),
    (
        'omd.upgrade_step',
        '{last_key,version}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd.upgrade_step',
        '{phase,step_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.window_return',
        '{source_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd.write_ledger',
        '{table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    )
) AS t (table_code, columns, treatment, reason)
CROSS JOIN LATERAL unnest(t.columns::text[]) AS c (name)
ON CONFLICT (table_code, column_name)
DO UPDATE SET treatment = excluded.treatment, reason = excluded.reason;
