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
        'omd_facts.attribute',
        '{attribute_code,data_type}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_facts.change',
        '{change_kind}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_facts.change', '{key_counts}', 'NEVER_PERSONAL', 'counts and codes'),
    ('omd_facts.change_slice', '{own_key}', 'ERASED_WITH_KEY', 'it goes with the keys'),
    (
        'omd_facts.context',
        '{context_code,context_kind}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_facts.context',
        '{context_table}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_facts.context',
        '{indexes,valid_end}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_facts.control',
        '{control_code,inactive_indicator,operation,timing}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_facts.control',
        '{function_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_facts.entity',
        '{anchor_table}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_facts.entity',
        '{entity_code,entity_kind,generalization_code,key_root_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_facts.export',
        '{agreement_code,export_mode,options}',
        'NEVER_PERSONAL',
        'options of a program'
    ),
    (
        'omd_facts.export',
        '{manifest,target_uri}',
        'NOT_REACHED',
        'files of deliveries: the name of a file, or of a folder, that stays'
    ),
    (
        'omd_facts.gdal_delivery',
        '{agreement_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_facts.gdal_delivery',
        '{opened_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_facts.interface',
        '{interface_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_facts.interface',
        '{writer_terms}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_facts.link',
        '{child_columns}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_facts.link',
        '{relationship_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_facts.load_log',
        '{former_anchors,former_marks}',
        'NEVER_PERSONAL',
        'numbers that OMD gave'
    ),
    (
        'omd_facts.load_log',
        '{load_kind}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_facts.load_log', '{row_counts}', 'NEVER_PERSONAL', 'counts and codes'),
    (
        'omd_facts.transaction_log',
        '{written_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    )
) AS t (table_code, columns, treatment, reason)
CROSS JOIN LATERAL unnest(t.columns::text[]) AS c (name)
ON CONFLICT (table_code, column_name)
DO UPDATE SET treatment = excluded.treatment, reason = excluded.reason;
