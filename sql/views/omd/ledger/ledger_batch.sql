-- A room reads views of this one, and no tables.

CREATE OR REPLACE VIEW omd.ledger_batch AS
SELECT
    b.batch_id,
    b.batch_code
FROM omd.batch AS b;

COMMENT ON VIEW omd.ledger_batch IS 'For rooms: the Batches, as who names their runs needs them.';
COMMENT ON COLUMN omd.ledger_batch.batch_id IS 'Surrogate key.';
COMMENT ON COLUMN omd.ledger_batch.batch_code IS 'The name that callers use.';
