-- Of several workers one creates the export: the lock of the interface in delivery, which no load
-- takes, makes the others wait until they see it. The rules are those of omd_facts.export_work.

CREATE OR REPLACE PROCEDURE omd_facts.due_export(
    p_agreement_code text,
    INOUT p_delivery_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $due_export$
DECLARE
    v_terms record;
    v_export jsonb;
    v_work record;
    v_entities text[];
BEGIN
    PERFORM omd.require_read_committed();
    p_delivery_id := NULL;
    SELECT t.* INTO v_terms FROM omd_delivery.agreement_terms(p_agreement_code) AS t;
    IF v_terms.layer_code <> 'EXPORT' THEN
        PERFORM omd_facts._raise_export(
            'p_agreement_code', p_agreement_code,
            'it is an agreement of the layer ' || v_terms.layer_code
        );
    END IF;
    PERFORM omd_delivery.hold_interface(v_terms.interface_code);
    SELECT w.state, w.reason, w.delivery_id INTO v_work
    FROM omd_facts.export_work AS w
    WHERE w.agreement_code = p_agreement_code;
    IF v_work.state IS DISTINCT FROM 'READY' THEN
        RETURN;
    ELSIF v_work.reason = 'RESUME' THEN
        p_delivery_id := v_work.delivery_id;
        RETURN;
    END IF;
    v_export := v_terms.options -> 'export';
    IF v_export ? 'entities' THEN
        SELECT array_agg(e.entity_code) INTO v_entities
        FROM jsonb_array_elements_text(v_export -> 'entities') AS e (entity_code);
    END IF;
    CALL omd_facts.create_export(
        p_agreement_code,
        p_target_uri => v_export ->> 'target_uri',
        p_entities => v_entities,
        p_mode => coalesce(v_export ->> 'mode', 'FULL'),
        p_delivery_id => p_delivery_id
    );
END
$due_export$;

COMMENT ON PROCEDURE omd_facts.due_export IS
'For the driver: '
'Returns p_delivery_id, the export that the EXPORT agreement p_agreement_code is to run next: the '
'oldest that was begun and not ended; else a new one, when its facts have changed since the last '
'one and the pause is over, as the option export of the agreement says. NULL: there is nothing to '
'do, one runs, or the agreement takes none today. Errors: OM005: p_agreement_code is NULL; OM013: '
'it is not allowed as a name; OM014: the isolation level is not read committed; OM033: there is no '
'such agreement; OM060: it is of another layer, or the option does not suit the model any more. '
'Locks: the interface in delivery, the agreement FOR KEY SHARE. Call again when the answer was '
'lost. May be NULL: p_delivery_id.';
GRANT EXECUTE ON PROCEDURE omd_facts.due_export TO omd_runner;
