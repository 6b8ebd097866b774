-- The begin and the rows are two commits, so that a run is seen while it executes and found when it
-- dies. A procedure that commits can't set a search_path, so every name is qualified.

CREATE OR REPLACE PROCEDURE omd_facts.load(
    p_interface_code text,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_delivery_id bigint DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL,
    INOUT p_execution_status_code text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $load$
DECLARE
    v_executable pg_catalog.text;
    v_is_more boolean;
    v_is_cancelled boolean;
BEGIN
    CALL omd.require_no_transaction_block('omd_facts.load');
    p_outcome := NULL;
    p_module_instance_id := NULL;
    p_delivery_id := NULL;
    p_detail := NULL;
    p_execution_status_code := NULL;
    CALL omd_facts._begin_item(
        p_interface_code, NULL, NULL, p_outcome, p_module_instance_id, p_delivery_id,
        v_executable, p_detail
    );
    COMMIT;
    IF p_outcome OPERATOR(pg_catalog.<>) 'RUN' THEN
        p_execution_status_code := CASE
            WHEN p_outcome OPERATOR(pg_catalog.=) 'RUNNING' THEN 'A' ELSE 'C'
        END;
        RETURN;
    END IF;
    CALL omd.finish_run(
        'FACTS', p_module_instance_id, v_executable, p_execution_status_code, p_detail, v_is_more,
        v_is_cancelled
    );
    IF p_execution_status_code OPERATOR(pg_catalog.=) 'S' THEN
        p_outcome := 'PERSISTED';
        RETURN;
    END IF;
    p_outcome := 'FAILED';
    IF v_is_cancelled THEN
        RAISE EXCEPTION USING
            ERRCODE = 'query_canceled',
            MESSAGE = pg_catalog.format('the load of %s was cancelled', p_interface_code),
            DETAIL = pg_catalog.jsonb_build_object(
                'module_instance_id', p_module_instance_id
            )::pg_catalog.text,
            HINT = pg_catalog.format(
                'The failure is recorded. CALL omd_facts.load(%L);', p_interface_code
            );
    END IF;
END
$load$;

COMMENT ON PROCEDURE omd_facts.load IS
'Loads the oldest item of the queue of the interface p_interface_code that is not persisted, in '
'one transaction. Returns p_outcome: PERSISTED, p_module_instance_id has loaded p_delivery_id; '
'NOTHING, there was no item; RUNNING, another session loads, or readers are at work of what is to '
'be undone first, and no new one begins; SKIPPED, the Module facts.<interface> is inactive or '
'skipped; FAILED, nothing was changed, p_detail says why. p_execution_status_code: S for '
'PERSISTED, F for FAILED, C for NOTHING and SKIPPED, A for RUNNING. It commits, so call it outside '
'a transaction block. Errors: OM135, OM153: what is to be undone first can''t be, OM005, OM013, '
'OM014, OM018: it is called in a transaction block, OM031, OM251: the interface is not deployed, '
'57014: it was cancelled, which is recorded. Locks: the Module row while it begins; the interface '
'in this room, the rows that change. May be NULL: p_module_instance_id, p_delivery_id, p_detail. '
'It may take long.';
GRANT EXECUTE ON PROCEDURE omd_facts.load TO omd_runner;
