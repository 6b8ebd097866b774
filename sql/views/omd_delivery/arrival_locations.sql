-- A location that can't be read is passed over, and seen here.

CREATE OR REPLACE VIEW omd_report.arrival_locations AS
SELECT
    a.agreement_code,
    a.arrival ->> 'location' AS location,
    t.terms,
    a.inactive_indicator = 'Y' AS is_inactive,
    l.looked_datetime,
    l.looked_datetime + (t.terms ->> 'every')::interval AS next_look,
    a.inactive_indicator = 'N'
    AND omd_delivery._look_is_due(l.looked_datetime, t.terms) AS is_due,
    l.reported_datetime,
    l.problem,
    l.problem_datetime
FROM omd_delivery.agreement AS a
INNER JOIN omd_delivery.arrival_location AS l ON a.agreement_id = l.agreement_id
CROSS JOIN
    LATERAL (
        SELECT omd_delivery._arrival_terms(a.arrival) AS terms
    ) AS t
WHERE a.arrival IS NOT NULL;

COMMENT ON VIEW omd_report.arrival_locations IS
'The locations at which deliveries arrive, and the last look at each.';
COMMENT ON COLUMN omd_report.arrival_locations.agreement_code IS 'The agreement.';
COMMENT ON COLUMN omd_report.arrival_locations.location IS 'The location.';
COMMENT ON COLUMN omd_report.arrival_locations.terms IS
'What was agreed about arrivals, with the defaults of what was not said.';
COMMENT ON COLUMN omd_report.arrival_locations.is_inactive IS
'The agreement is inactive, so nobody looks.';
COMMENT ON COLUMN omd_report.arrival_locations.looked_datetime IS
'When somebody began to look there last; NULL: nobody has.';
COMMENT ON COLUMN omd_report.arrival_locations.next_look IS
'From when on it is time to look again; NULL: at any time.';
COMMENT ON COLUMN omd_report.arrival_locations.is_due IS
'It is time to look; of many who try claim_look lets one.';
COMMENT ON COLUMN omd_report.arrival_locations.reported_datetime IS
'When somebody said last what was there; NULL: nobody has.';
COMMENT ON COLUMN omd_report.arrival_locations.problem IS
'Why the last look failed; NULL: it did not.';
COMMENT ON COLUMN omd_report.arrival_locations.problem_datetime IS
'Since when looks have failed; NULL: the last one did not.';
