-- The newest state of each folder; what happened to its delivery is in the log of deliveries.

CREATE OR REPLACE VIEW omd_report.arrivals AS
SELECT
    r.arrival_id,
    a.agreement_code,
    i.interface_code,
    a.arrival ->> 'location' AS location,
    r.folder,
    r.snapshot_datetime,
    r.arrival_status,
    r.fingerprint,
    r.files,
    r.bytes,
    r.entities,
    r.found_datetime,
    r.changed_datetime,
    r.delivery_id,
    d.delivery_status,
    r.moved_to,
    r.problem
FROM omd_delivery.arrival AS r
INNER JOIN omd_delivery.agreement AS a ON r.agreement_id = a.agreement_id
INNER JOIN omd_delivery.interface AS i ON a.interface_id = i.interface_id
LEFT JOIN omd_delivery.delivery AS d ON r.delivery_id = d.delivery_id;

COMMENT ON VIEW omd_report.arrivals IS
'The folders at the locations of agreements, and what became of each.';
COMMENT ON COLUMN omd_report.arrivals.arrival_id IS 'The arrival.';
COMMENT ON COLUMN omd_report.arrivals.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.arrivals.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.arrivals.location IS
'The location of the agreement; NULL: it has none any more.';
COMMENT ON COLUMN omd_report.arrivals.folder IS 'The name of the folder in it.';
COMMENT ON COLUMN omd_report.arrivals.snapshot_datetime IS
'The time T that its name gives; NULL: it gives none.';
COMMENT ON COLUMN omd_report.arrivals.arrival_status IS
'UNFIT: it can''t be a delivery. INCOMPLETE: it is not ready. FOUND: it may be delivered. TAKEN: '
'it is being delivered. DONE: it was accepted. REFUSED: it came to another end. CHANGED: it was '
'taken, and has another content now.';
COMMENT ON COLUMN omd_report.arrivals.fingerprint IS
'The SHA-256 of its files: of path, bytes and time of change; NULL: they were not seen.';
COMMENT ON COLUMN omd_report.arrivals.files IS
'How many files it has beside its marker or manifest; NULL: they were not seen.';
COMMENT ON COLUMN omd_report.arrivals.bytes IS 'Their bytes; NULL: they were not seen.';
COMMENT ON COLUMN omd_report.arrivals.entities IS
'The entities of which it has files; NULL: of none, or they were not seen.';
COMMENT ON COLUMN omd_report.arrivals.found_datetime IS
'When it became FOUND last; NULL: it never did.';
COMMENT ON COLUMN omd_report.arrivals.changed_datetime IS
'When its content was first seen as it is now.';
COMMENT ON COLUMN omd_report.arrivals.delivery_id IS
'The newest delivery that was made of it; NULL: none was.';
COMMENT ON COLUMN omd_report.arrivals.delivery_status IS
'The status of that delivery; NULL: there is none.';
COMMENT ON COLUMN omd_report.arrivals.moved_to IS
'Where it was moved when it was done, from the location; NULL: it was not.';
COMMENT ON COLUMN omd_report.arrivals.problem IS
'Why it is UNFIT, INCOMPLETE, REFUSED or CHANGED, or was not moved; NULL: nothing is wrong.';
