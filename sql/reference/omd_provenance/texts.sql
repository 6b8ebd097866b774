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
        'omd_provenance.erasure',
        '{entity_code,erasure_status,interface_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_provenance.erasure',
        '{erased_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_provenance.erasure',
        '{reference}',
        'NEVER_PERSONAL',
        'the number of a request; the page says that no name belongs there'
    ),
    (
        'omd_provenance.erasure_item',
        '{layer,outcome,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_provenance.erasure_item',
        '{text}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_provenance.pending_erasure',
        '{action,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_provenance.pending_erasure',
        '{columns,keys}',
        'ERASED_WITH_KEY',
        'it goes with the keys'
    ),
    (
        'omd_provenance.recall',
        '{executed_by,planned_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    ),
    (
        'omd_provenance.recall',
        '{reason}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_provenance.recall',
        '{recall_status}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_provenance.recall',
        '{target}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_provenance.recall_item',
        '{action,module_code,module_kind_code,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_provenance.recall_item',
        '{comes_again}',
        'NEVER_PERSONAL',
        'a setting or a code, which says nothing of a row'
    ),
    (
        'omd_provenance.recall_item',
        '{problem}',
        'ERASED',
        'what people, programs and errors have written'
    ),
    (
        'omd_provenance.recall_item',
        '{relation}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_provenance.subject',
        '{action,entity_code,interface_code,table_code}',
        'NEVER_PERSONAL',
        'a code of OMD, or of who registered the object'
    ),
    (
        'omd_provenance.subject',
        '{columns}',
        'NEVER_PERSONAL',
        'a definition: names of objects, or the code of who registered it'
    ),
    (
        'omd_provenance.subject',
        '{registered_by}',
        'NEVER_PERSONAL',
        'a role of the database, or a program'
    )
) AS t (table_code, columns, treatment, reason)
CROSS JOIN LATERAL unnest(t.columns::text[]) AS c (name)
ON CONFLICT (table_code, column_name)
DO UPDATE SET treatment = excluded.treatment, reason = excluded.reason;
