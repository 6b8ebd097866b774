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
        'omd_delivery.agreement',
        '{agreement_code,batch_code,completeness,inactive_indicator,layer_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.agreement',
        '{arrival}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    ('omd_delivery.agreement', '{context}', 'ERASED_WITH_KEY', 'it goes with the keys'),
    (
        'omd_delivery.agreement',
        '{options,settings}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_delivery.agreement',
        '{staging_schema}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_delivery.alternate_key',
        '{alternate_key_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.arrival',
        '{arrival_status}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.arrival',
        '{entities}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.arrival',
        '{fingerprint,refused_fingerprint,seen_fingerprint}',
        'NEVER_PERSONAL',
        'a hash'
    ),
    (
        'omd_delivery.arrival',
        '{folder,moved_to}',
        'NOT_REACHED',
        'files of deliveries: the name of a file, or of a folder, that stays'
    ),
    (
        'omd_delivery.arrival',
        '{problem}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_delivery.arrival_location',
        '{problem}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_delivery.attribute',
        '{attribute_code,data_type,format}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.attribute',
        '{computed,facts,value_list}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.attribute',
        '{source_column}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_delivery.constraint_result',
        '{action,level}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.constraint_setting',
        '{setting}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.constraint_type',
        '{actions,default_threshold}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.constraint_type',
        '{constraint_type,default_action}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_delivery.delivery', '{context}', 'ERASED_WITH_KEY', 'it goes with the keys'),
    (
        'omd_delivery.delivery',
        '{created_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_delivery.delivery',
        '{delete_type,delivery_status,layer_code,verdict}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.delivery',
        '{message,options,reasons}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_delivery.delivery_entity',
        '{context_type,load_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.delivery_event',
        '{editor}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_delivery.delivery_event',
        '{event}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.delivery_event',
        '{from_status,to_status}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.delivery_event',
        '{reason}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_delivery.delivery_file',
        '{root,uri}',
        'NOT_REACHED',
        'files of deliveries: the name of a file, or of a folder, that stays'
    ),
    (
        'omd_delivery.delivery_status',
        '{delivery_status,layer_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.delivery_status',
        '{status_description}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_delivery.delivery_transition',
        '{event}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.delivery_transition',
        '{from_status,layer_code,to_status}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.delta_queue',
        '{delete_type,queue_status}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_delivery.delta_queue', '{row_counts}', 'NEVER_PERSONAL', 'counts and codes'),
    (
        'omd_delivery.entity',
        '{derived_from,facts,indicator_delete}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.entity',
        '{derived_query,indicator_column}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_delivery.entity',
        '{entity_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.entity_result',
        '{findings}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_delivery.entity_result',
        '{load_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.interface',
        '{facts}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.interface',
        '{interface_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.interface',
        '{lvl_schema,work_schema}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_delivery.model_constraint',
        '{constraint_code,constraint_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.model_constraint',
        '{expression,spark_expression}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_delivery.model_version',
        '{changes}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.model_version',
        '{deployed_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_delivery.relationship',
        '{relationship_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.removal',
        '{layer}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.removal',
        '{table_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_delivery.sample',
        '{constraint_codes}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_delivery.sample',
        '{origin}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.sample',
        '{raw,record_key,staged_from}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_delivery.stage_result',
        '{delivery_status,verdict}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.stage_result',
        '{reasons}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_delivery.tenant',
        '{tenant_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_delivery.tenant',
        '{tenant_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    )
) AS t (table_code, columns, treatment, reason)
CROSS JOIN LATERAL unnest(t.columns::text[]) AS c (name)
ON CONFLICT (table_code, column_name)
DO UPDATE SET treatment = excluded.treatment, reason = excluded.reason;
