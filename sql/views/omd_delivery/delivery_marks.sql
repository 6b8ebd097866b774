-- An entity without a mark was never delivered.

CREATE OR REPLACE VIEW omd_report.delivery_marks AS
SELECT
    i.interface_code,
    e.entity_code,
    m.snapshot_datetime,
    m.delivery_id
FROM omd_delivery.entity AS e
INNER JOIN omd_delivery.interface AS i ON e.interface_id = i.interface_id
LEFT JOIN omd_delivery.high_water_mark AS m ON e.entity_id = m.entity_id;

COMMENT ON VIEW omd_report.delivery_marks IS 'Up to when each entity was delivered.';
COMMENT ON COLUMN omd_report.delivery_marks.interface_code IS 'The interface.';
COMMENT ON COLUMN omd_report.delivery_marks.entity_code IS 'The entity.';
COMMENT ON COLUMN omd_report.delivery_marks.snapshot_datetime IS
'The newest T; a delivery must be later. NULL: it was never delivered.';
COMMENT ON COLUMN omd_report.delivery_marks.delivery_id IS
'The delivery that set it; NULL: the facts did, or nothing was delivered.';
