-- The kinds of the Modules of interfaces and of agreements about exports. Those of a former version
-- get them.

INSERT INTO omd.module_kind (module_kind_code, begin_routine, end_routine, keeps_settings)
VALUES
('FACTS', 'omd_facts.begin_run', 'omd_facts.end_run', TRUE),
('EXPORT', NULL, NULL, FALSE)
ON CONFLICT (module_kind_code) DO UPDATE SET
    begin_routine = excluded.begin_routine,
    end_routine = excluded.end_routine,
    keeps_settings = excluded.keeps_settings;

DO $do$
BEGIN
    PERFORM omd.set_module_kind(i.module_id, 'FACTS', 'POSTGRES')
    FROM omd_facts.interface AS i
    WHERE i.module_id IS NOT NULL;
    PERFORM omd_facts.equip_agreement(i.interface_id, a.agreement_code, a.layer_code)
    FROM omd_facts.interface AS i
    CROSS JOIN LATERAL omd_delivery.agreements_of(i.interface_id) AS a
    ORDER BY a.agreement_code;
END
$do$;
