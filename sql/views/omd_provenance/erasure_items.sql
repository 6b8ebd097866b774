-- What was not reached stands beside what was: who answers a request must say both.

CREATE OR REPLACE VIEW omd_report.erasure_items AS
SELECT
    i.erasure_id,
    i.layer,
    i.table_code,
    i.outcome,
    i.key_count,
    i.row_count,
    i.text
FROM omd_provenance.erasure_item AS i
ORDER BY i.erasure_id, i.position;

COMMENT ON VIEW omd_report.erasure_items IS
'What erasures did, a row per layer, table and outcome. It holds no key.';
COMMENT ON COLUMN omd_report.erasure_items.erasure_id IS 'The erasure.';
COMMENT ON COLUMN omd_report.erasure_items.layer IS
'LVL, DELTA, STAGING and SAMPLE of delivery; CONTEXT and ANCHOR of the facts; REFERENCE: what '
'refers to the person; TABLE: what was registered; DECISION, TASK; TEXT: logs; STATISTICS; LAKE: '
'registered tables of the lake; NOT_REACHED.';
COMMENT ON COLUMN omd_report.erasure_items.table_code IS 'The table, or what was not reached.';
COMMENT ON COLUMN omd_report.erasure_items.outcome IS
'DELETED, NULLED (the key was emptied), MASKED (texts became [erased]), ANALYZED, KEPT, PENDING '
'(omd erase --finish does it), NOT_REACHED.';
COMMENT ON COLUMN omd_report.erasure_items.key_count IS
'How many keys it was about; NULL: they are not counted there.';
COMMENT ON COLUMN omd_report.erasure_items.row_count IS
'How many rows it was about; NULL: it is not about rows.';
COMMENT ON COLUMN omd_report.erasure_items.text IS 'Why; NULL: the outcome says it.';
