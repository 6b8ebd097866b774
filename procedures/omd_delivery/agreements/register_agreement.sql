-- One procedure both inserts and updates, so that a script of definitions can be run again.

CREATE OR REPLACE PROCEDURE omd_delivery.register_agreement(
    p_agreement_code text,
    p_tenant_code text DEFAULT NULL,
    p_interface_code text DEFAULT NULL,
    p_layer_code text DEFAULT NULL,
    p_effective_from date DEFAULT NULL,
    p_effective_to date DEFAULT NULL,
    p_entities jsonb DEFAULT NULL,
    p_completeness text DEFAULT NULL,
    p_context jsonb DEFAULT NULL,
    p_settings jsonb DEFAULT NULL,
    p_options jsonb DEFAULT NULL,
    p_inactive_indicator text DEFAULT NULL,
    p_arrival jsonb DEFAULT NULL,
    INOUT p_agreement_id integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_agreement$
DECLARE
    v_old omd_delivery.agreement;
    v_new omd_delivery.agreement;
    v_interface omd_delivery.interface;
BEGIN
    PERFORM omd.require_name('p_agreement_code', p_agreement_code);
    PERFORM omd.require_read_committed();
    v_new.inactive_indicator := omd.require_code('inactive indicator', p_inactive_indicator);
    SELECT a.* INTO v_old
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_code = p_agreement_code;
    IF p_agreement_code !~ '^[a-z][a-z0-9_]{0,40}$' THEN
        PERFORM omd_delivery._raise_argument(
            'p_agreement_code', p_agreement_code, 'a code is lower case: ^[a-z][a-z0-9_]{0,40}$'
        );
    END IF;

    IF p_tenant_code IS NOT NULL OR v_old.tenant_id IS NULL THEN
        PERFORM omd.require_name('p_tenant_code', p_tenant_code);
        SELECT t.tenant_id INTO v_new.tenant_id
        FROM omd_delivery.tenant AS t
        WHERE t.tenant_code = p_tenant_code
        FOR KEY SHARE;
        IF NOT FOUND THEN
            PERFORM omd.raise_error('OM032', jsonb_build_object('tenant_code', p_tenant_code));
        END IF;
    END IF;
    v_interface := omd_delivery._hold_interface(
        coalesce(
            p_interface_code,
            (
                SELECT i.interface_code FROM omd_delivery.interface AS i
                WHERE i.interface_id = v_old.interface_id
            )
        )
    );
    -- What another session has changed meanwhile is kept too.
    SELECT a.* INTO v_old
    FROM omd_delivery.agreement AS a
    WHERE a.agreement_code = p_agreement_code;
    v_new.interface_id := v_interface.interface_id;
    v_new.layer_code := upper(coalesce(p_layer_code, v_old.layer_code, 'LVL'));
    v_new.completeness := upper(coalesce(p_completeness, v_old.completeness, 'PARTIAL'));
    v_new.effective_from := coalesce(p_effective_from, v_old.effective_from);
    v_new.effective_to := coalesce(p_effective_to, v_old.effective_to);
    IF v_new.layer_code NOT IN ('LVL', 'GDAL', 'EXPORT') THEN
        PERFORM omd_delivery._raise_argument(
            'p_layer_code', p_layer_code, 'it must be LVL, GDAL or EXPORT'
        );
    ELSIF v_new.completeness NOT IN ('PARTIAL', 'COMPLETE') THEN
        PERFORM omd_delivery._raise_argument(
            'p_completeness', p_completeness, 'it must be PARTIAL or COMPLETE'
        );
    ELSIF v_new.effective_from > v_new.effective_to THEN
        PERFORM omd_delivery._raise_argument(
            'p_effective_to', v_new.effective_to::text, 'it must not be before p_effective_from'
        );
    ELSIF v_old.interface_id <> v_new.interface_id THEN
        PERFORM omd_delivery._raise_argument(
            'p_interface_code', p_interface_code, 'the agreement belongs to another interface'
        );
    ELSIF v_old.layer_code <> v_new.layer_code AND EXISTS (
        SELECT FROM omd_delivery.delivery AS d WHERE d.agreement_id = v_old.agreement_id
    ) THEN
        PERFORM omd_delivery._raise_argument(
            'p_layer_code', p_layer_code, 'deliveries were made under the agreement'
        );
    END IF;

    v_new.entity_ids := CASE
        WHEN p_entities IS NULL THEN v_old.entity_ids
        ELSE omd_delivery._agreed_entities(v_new.interface_id, p_entities)
    END;
    v_new.context := CASE
        WHEN p_context IS NULL THEN coalesce(v_old.context, '{}')
        ELSE omd_delivery._require_context(v_new.interface_id, p_context, '{}')
    END;
    v_new.settings := coalesce(p_settings, v_old.settings, '{}');
    IF jsonb_typeof(v_new.settings) <> 'object' THEN
        PERFORM omd_delivery._raise_argument(
            'p_settings', p_settings::text, 'it must be an object of constraint and setting'
        );
    ELSIF p_settings IS NOT NULL THEN
        PERFORM omd_delivery._require_settings(
            omd_delivery._model_document(v_new.interface_id), p_settings
        );
    END IF;
    v_new.options := coalesce(
        omd_delivery._require_options(p_options), v_old.options, '{}'
    );
    v_new.agreement_code := p_agreement_code;
    -- What was agreed stays so when the model has changed meanwhile.
    IF p_options IS NOT NULL OR v_old.layer_code <> v_new.layer_code THEN
        PERFORM omd_delivery._require_export(v_new);
    END IF;
    v_new.arrival := v_old.arrival;
    IF p_arrival IS NOT NULL OR v_new.layer_code <> 'LVL' THEN
        v_new.arrival := omd_delivery._require_arrival(
            v_new, coalesce(p_arrival, v_old.arrival, '{}')
        );
    END IF;

    INSERT INTO omd_delivery.agreement AS a (
        agreement_code, tenant_id, interface_id, layer_code, effective_from, effective_to,
        entity_ids, completeness, context, settings, options, inactive_indicator,
        arrival
    )
    VALUES (
        p_agreement_code, coalesce(v_new.tenant_id, v_old.tenant_id), v_new.interface_id,
        v_new.layer_code, v_new.effective_from, v_new.effective_to, v_new.entity_ids,
        v_new.completeness, v_new.context, v_new.settings, v_new.options,
        coalesce(v_new.inactive_indicator, v_old.inactive_indicator, 'N'),
        v_new.arrival
    )
    ON CONFLICT (agreement_code) DO UPDATE SET
        tenant_id = excluded.tenant_id,
        layer_code = excluded.layer_code,
        effective_from = excluded.effective_from,
        effective_to = excluded.effective_to,
        entity_ids = excluded.entity_ids,
        completeness = excluded.completeness,
        context = excluded.context,
        settings = excluded.settings,
        options = excluded.options,
        inactive_indicator = excluded.inactive_indicator,
        arrival = excluded.arrival
    RETURNING a.agreement_id INTO p_agreement_id;
    IF v_new.arrival IS NOT NULL THEN
        INSERT INTO omd_delivery.arrival_location (agreement_id)
        VALUES (p_agreement_id)
        ON CONFLICT (agreement_id) DO NOTHING;
        -- Another place is looked at soon, and what was wrong with the former one is past.
        UPDATE omd_delivery.arrival_location AS l SET
            looked_datetime = NULL,
            problem = NULL,
            problem_datetime = NULL
        WHERE l.agreement_id = p_agreement_id
            AND v_new.arrival -> 'location' IS DISTINCT FROM v_old.arrival -> 'location';
    END IF;
    PERFORM omd_delivery._keep_lines(v_new.interface_id);
    PERFORM omd_delivery._equip_agreement(p_agreement_id);
END
$register_agreement$;

COMMENT ON PROCEDURE omd_delivery.register_agreement IS
'Inserts or updates the agreement p_agreement_code; a NULL argument keeps the present value. '
'p_tenant_code: who delivers. p_interface_code: to which interface; it stays. p_layer_code: LVL '
'(the default); GDAL and EXPORT belong to the facts. p_effective_from, p_effective_to: the first '
'and the last day. p_entities: a list of the entities that may be delivered (default all; an empty '
'list: all again). p_completeness: PARTIAL (the default), or COMPLETE: each delivery has all of '
'them. p_context: the keys that the tenant is bound to, {entity: [{attribute: value}]}. '
'p_settings: fields of settings that override those of the model, by constraint. p_options: '
'allow_symbolic_links (false), csv, include_existing, lines (false; true keeps file and line of '
'each row), max_concurrent_entities (2), max_sample_size (1000), export: {target_uri, mode, '
'entities, every}, with which an agreement of the layer EXPORT exports by itself. '
'p_inactive_indicator: Y refuses new deliveries. p_arrival: where its '
'deliveries arrive as folders, for the layer LVL: location, folder (the pattern of their names, '
'{yyyy}-{MM}-{dd}), zone (UTC), ready ({"marker": "_SUCCESS"}, {"quiet": interval} or {"manifest": '
'file}), then (KEEP, or {"move": folder}), loads (entity and load), every (10 seconds; 1 minute '
'for a URI); an empty object removes it. A list or object replaces the whole. It makes the Batch '
'delivery.<agreement> and the staging tables stg_<agreement>.<entity>. Returns p_agreement_id. '
'Errors: OM005: a new agreement lacks its code, tenant or interface; OM006: p_inactive_indicator '
'is unknown; OM013: a name is blank or too long; OM014: the isolation level is not read committed; '
'OM031: the interface has no model; OM032: there is no such tenant; OM035: p_settings names an '
'unknown constraint; OM036: another argument is refused; OM042: a setting is impossible; OM043: '
'p_arrival is wrong, and DETAIL lists where; OM136: the first agreement with lines, while a run '
'of the interface executes; OM233: the schema of its staging tables belongs to somebody else; '
'OM234: it can''t be created. Locks: the interface, the Batch, the tables of the interface when '
'they get columns for lines. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.register_agreement TO omd_admin;
