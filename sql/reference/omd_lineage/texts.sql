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
        'omd_lineage.dependency',
        '{depends_on}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_lineage.dependency',
        '{source_kind_code,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_lineage.log',
        '{nulls,query_id,reload_method,waited_for}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_lineage.log',
        '{topic}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    ('omd_lineage.offsets', '{hostid}', 'NEVER_PERSONAL', 'a role of the database, or a program'),
    ('omd_lineage.offsets', '{last,next,quiet_start}', 'NEVER_PERSONAL', 'a moment and a number'),
    (
        'omd_lineage.offsets',
        '{processor,waited_for}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    ('omd_lineage.offsets', '{state}', 'ERASED', 'what people, programs and errors have written'),
    (
        'omd_lineage.offsets',
        '{topic}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_lineage.replaced_row',
        '{content}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_lineage.replacement',
        '{key_columns,row_columns}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_lineage.replacement',
        '{table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_lineage.restatement',
        '{block_end,block_start,end_position,resume_position,start_position}',
        'NEVER_PERSONAL',
        'a moment and a number'
    ),
    (
        'omd_lineage.restatement',
        '{requested_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    ('omd_lineage.seen_position', '{position}', 'NEVER_PERSONAL', 'a moment and a number'),
    (
        'omd_lineage.seen_position',
        '{table_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    ('omd_lineage.source_probe', '{newest,taken}', 'NEVER_PERSONAL', 'a moment and a number'),
    (
        'omd_lineage.source_probe',
        '{problem,shown_problem}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_lineage.source_probe',
        '{source}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_lineage.source_probe',
        '{waits_for}',
        'NEVER_PERSONAL',
        'a session of the database: its number, and its role'
    ),
    (
        'omd_lineage.topic',
        '{after_sql,before_sql,id_column,pos_column,topic,transforms}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_lineage.topic',
        '{comment}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_lineage.topic',
        '{depends_on,merge_key,processor,recompute_key,reload_method,run_window,'
        'shard,source_offset,tag}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_lineage.topic',
        '{engine,inactive_indicator,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_lineage.topic', '{updated_by}', 'NEVER_PERSONAL', 'a role of the database, or a program'),
    (
        'omd_lineage.topic_history',
        '{changed_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_lineage.topic_history',
        '{definition,topic}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_lineage.topic_history',
        '{operation}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    )
) AS t (table_code, columns, treatment, reason)
CROSS JOIN LATERAL unnest(t.columns::text[]) AS c (name)
ON CONFLICT (table_code, column_name)
DO UPDATE SET treatment = excluded.treatment, reason = excluded.reason;
