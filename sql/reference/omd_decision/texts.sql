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
        'omd_decision.cycle',
        '{inputs,key,outputs,params,result,trace}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_decision.cycle',
        '{wave}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_decision.reject',
        '{cause_link,key,link,record,text}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_decision.reject',
        '{code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_decision.reject',
        '{wave}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_decision.ruleset',
        '{kind,ruleset_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_decision.ruleset_test',
        '{expected,input}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_decision.ruleset_test',
        '{test_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_decision.ruleset_test_result',
        '{actual,error}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_decision.ruleset_test_result',
        '{test_name}',
        'NEVER_PERSONAL',
        'a name or a text of who registered the object, or of OMD'
    ),
    (
        'omd_decision.ruleset_version',
        '{content}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    ('omd_decision.ruleset_version', '{content_hash}', 'NEVER_PERSONAL', 'a hash'),
    (
        'omd_decision.ruleset_version',
        '{defined_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_decision.ruleset_version',
        '{state}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    ('omd_decision.run', '{content_hash}', 'NEVER_PERSONAL', 'a hash'),
    (
        'omd_decision.run',
        '{engine}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_decision.stage',
        '{stage_code,start_code,window_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_decision.stage_source',
        '{table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_decision.stage_version',
        '{defined_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_decision.stage_version',
        '{definition}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    )
) AS t (table_code, columns, treatment, reason)
CROSS JOIN LATERAL unnest(t.columns::text[]) AS c (name)
ON CONFLICT (table_code, column_name)
DO UPDATE SET treatment = excluded.treatment, reason = excluded.reason;
