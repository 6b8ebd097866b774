-- V073: facts: what an export that begins by itself has to look up, however many there were.
-- Applied once.

CREATE INDEX ix_export_unfinished ON omd_facts.export (agreement_code, delivery_id)
WHERE exported_datetime IS NULL;
CREATE INDEX ix_load_log_undone ON omd_facts.load_log (interface_id, undone_by)
WHERE undone_by IS NOT NULL;
