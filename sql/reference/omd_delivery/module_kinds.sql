-- The kind of the Modules of agreements, which workers perform. The agreements and entities of a
-- former version get their Modules and kinds.

INSERT INTO omd.module_kind (module_kind_code, is_batch) VALUES ('DELIVERY', TRUE)
ON CONFLICT (module_kind_code) DO UPDATE SET is_batch = excluded.is_batch;

DO $do$
BEGIN
    PERFORM omd.set_module_kind(e.module_id, 'PART')
    FROM omd_delivery.entity AS e
    WHERE e.module_id IS NOT NULL;
    PERFORM omd_delivery._register_agreement_module(a.agreement_code)
    FROM omd_delivery.agreement AS a
    WHERE a.layer_code = 'LVL'
    ORDER BY a.agreement_code;
END
$do$;
