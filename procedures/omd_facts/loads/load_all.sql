-- As load, which it calls for one item after the other.

CREATE OR REPLACE PROCEDURE omd_facts.load_all(
    p_interface_code text DEFAULT NULL,
    INOUT p_loaded bigint DEFAULT NULL,
    INOUT p_failed text[] DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $load_all$
DECLARE
    v_code pg_catalog.text;
    v_outcome pg_catalog.text;
    v_module_instance_id bigint;
    v_delivery_id bigint;
    v_detail pg_catalog.text;
    v_status pg_catalog.text;
BEGIN
    CALL omd.require_no_transaction_block('omd_facts.load_all');
    p_loaded := 0;
    p_failed := '{}';
    FOREACH v_code IN ARRAY omd_facts._interfaces_to_load(p_interface_code) LOOP
        LOOP
            CALL omd_facts.load(
                v_code, v_outcome, v_module_instance_id, v_delivery_id, v_detail, v_status
            );
            EXIT WHEN v_outcome OPERATOR(pg_catalog.<>) 'PERSISTED';
            p_loaded := p_loaded OPERATOR(pg_catalog.+) 1;
        END LOOP;
        IF v_outcome OPERATOR(pg_catalog.=) 'FAILED' THEN
            p_failed := pg_catalog.array_append(p_failed, v_code);
        END IF;
    END LOOP;
END
$load_all$;

COMMENT ON PROCEDURE omd_facts.load_all IS
'Empties the queue of the interface p_interface_code, or of all (NULL). Returns p_loaded, the '
'number of items that it loaded, and p_failed, the interfaces of which a load failed, which stops '
'that interface alone. It commits, so call it outside a transaction block. Errors: OM005, OM153, '
'OM135, OM013, OM014, OM018, OM031, OM251, 57014. Locks: as load. It may take long.';
GRANT EXECUTE ON PROCEDURE omd_facts.load_all TO omd_runner;
