-- The room delivery calls this one when an agreement of these layers is made.

INSERT INTO omd_delivery.agreement_listener (layer_code, routine)
VALUES
('GDAL', 'omd_facts.equip_agreement'),
('EXPORT', 'omd_facts.equip_agreement')
ON CONFLICT (layer_code) DO UPDATE SET routine = excluded.routine;
