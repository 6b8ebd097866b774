-- Exports are few: one a period and agreement.

CREATE OR REPLACE VIEW omd_delivery.open_export AS
SELECT
    d.delivery_id,
    a.agreement_code,
    a.inactive_indicator,
    d.status_datetime
FROM omd_delivery.agreement AS a
INNER JOIN omd_delivery.delivery AS d ON a.agreement_id = d.agreement_id
WHERE a.layer_code = 'EXPORT' AND d.delivery_status = 'RECEIVED';

COMMENT ON VIEW omd_delivery.open_export IS
'For rooms: the deliveries of the layer EXPORT that are not at their end.';
COMMENT ON COLUMN omd_delivery.open_export.delivery_id IS 'The delivery.';
COMMENT ON COLUMN omd_delivery.open_export.agreement_code IS 'Its agreement.';
COMMENT ON COLUMN omd_delivery.open_export.inactive_indicator IS 'Y: the agreement is inactive.';
COMMENT ON COLUMN omd_delivery.open_export.status_datetime IS 'When it was ordered.';
