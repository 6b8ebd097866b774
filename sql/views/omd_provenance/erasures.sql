-- The proof is for who must show it; it has no key.

CREATE OR REPLACE VIEW omd_report.erasures AS
SELECT
    e.erasure_id,
    e.interface_code,
    e.entity_code,
    e.key_count,
    e.reference,
    e.erased_by,
    e.erased_datetime,
    e.erasure_status
FROM omd_provenance.erasure AS e;

COMMENT ON VIEW omd_report.erasures IS 'The proof that persons were erased. It holds no key.';
COMMENT ON COLUMN omd_report.erasures.erasure_id IS 'Surrogate key.';
COMMENT ON COLUMN omd_report.erasures.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.erasures.entity_code IS 'The entity.';
COMMENT ON COLUMN omd_report.erasures.key_count IS 'How many keys were to be erased.';
COMMENT ON COLUMN omd_report.erasures.reference IS 'The request, as who erased named it.';
COMMENT ON COLUMN omd_report.erasures.erased_by IS 'Who erased.';
COMMENT ON COLUMN omd_report.erasures.erased_datetime IS 'When.';
COMMENT ON COLUMN omd_report.erasures.erasure_status IS
'DONE; PENDING: something must still be rewritten.';
