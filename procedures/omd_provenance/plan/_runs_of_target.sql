-- Who asks for what is not there gets the error of its own room; who asks for what does not stand
-- learns why.

CREATE OR REPLACE FUNCTION omd_provenance._runs_of_target(
    p_target jsonb
)
RETURNS bigint[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $runs_of_target$
DECLARE
    v_id CONSTANT bigint := (p_target ->> 'module_instance_id')::bigint;
    v_deliveries bigint[];
    v_runs bigint[];
    v_exports bigint[];
    v_status text;
BEGIN
    IF v_id IS NOT NULL THEN
        IF NOT EXISTS (
            SELECT FROM omd.runs_of_modules(ARRAY[v_id])
        ) THEN
            PERFORM omd.raise_error('OM004', jsonb_build_object('module_instance_id', v_id));
        END IF;
        v_runs := ARRAY[v_id];
    ELSIF p_target ? 'delivery_id' THEN
        v_deliveries := ARRAY[(p_target ->> 'delivery_id')::bigint];
        v_status := (omd_delivery.delivery_head(v_deliveries[1])).delivery_status;
        IF v_status IS NULL THEN
            PERFORM omd.raise_error('OM034', jsonb_build_object('delivery_id', v_deliveries[1]));
        END IF;
    ELSIF p_target ? 'batch_instance_id' THEN
        v_runs := omd.runs_of_batch_instance((p_target ->> 'batch_instance_id')::bigint);
    ELSIF p_target ? 'agreement_code' THEN
        v_deliveries := omd_delivery.deliveries_since(
            p_target ->> 'agreement_code', (p_target ->> 'since')::timestamptz
        );
    ELSE
        v_runs := ARRAY(SELECT DISTINCT s.module_instance_id FROM omd_provenance._stale_runs() AS s);
    END IF;
    v_deliveries := v_deliveries || ARRAY(
        SELECT DISTINCT d.delivery_id FROM omd_delivery.deliveries_of_runs(v_runs) AS d
    );
    v_runs := v_runs || omd_facts.runs_of_deliveries(v_deliveries) || ARRAY(
        SELECT unnest(omd_delivery.runs_of_delivery(d.id)) FROM unnest(v_deliveries) AS d (id)
    );
    v_exports := ARRAY(
        SELECT m.module_instance_id
        FROM omd.runs_of_modules(omd.runs_that_stand(v_runs)) AS m
        WHERE m.module_kind_code = 'EXPORT'
        ORDER BY m.module_instance_id
    );
    -- What an export has delivered stays, and a recall or a maintenance has made nothing of its own. A
    -- delivery that was not accepted has changed nothing.
    v_runs := ARRAY(
        SELECT m.module_instance_id
        FROM omd.runs_of_modules(omd.runs_that_stand(v_runs)) AS m
        LEFT JOIN omd_delivery.deliveries_of_runs(v_runs) AS d USING (module_instance_id)
        WHERE
            CASE
                WHEN d.delivery_id IS NULL
                    THEN
                        m.module_kind_code NOT IN ('PART', 'EXPORT')
                        OR starts_with(m.module_code, 'gdal.')
                ELSE
                    (omd_delivery.delivery_head(d.delivery_id)).delivery_status LIKE ANY(
                        '{ACCEPTED,PERSISTED%}'
                    )
            END
        ORDER BY m.module_instance_id
    );
    IF v_runs = '{}' THEN
        v_status := (omd_delivery.delivery_head(v_deliveries[1])).delivery_status;
        PERFORM omd.raise_error(
            'OM091',
            jsonb_build_object(
                'target', p_target,
                'problem', CASE
                    WHEN v_exports <> '{}' THEN 'what an export has delivered has left the house'
                    WHEN v_status IS NOT NULL THEN 'the delivery is ' || v_status
                    ELSE 'no run of it succeeded and is not undone, or it is no work of its own'
                END,
                'way_out', CASE
                    WHEN v_exports <> '{}'
                        THEN
                            format('Recall what it has read: omd explain run:%s --up', v_exports[1])
                    WHEN v_status IN ('RECEIVED', 'LOADED', 'VALIDATED')
                        THEN
                            format(
                                'It is not accepted yet: CALL omd_delivery.cancel_delivery(%s, …);',
                                v_deliveries[1]
                            )
                    WHEN v_deliveries <> '{}'
                        THEN format('Look: omd show delivery:%s', v_deliveries[1])
                    ELSE
                        format(
                            'Look what became of it: omd explain run:%s', coalesce(v_id::text, 'ID')
                        )
                END
            )
        );
    END IF;
    RETURN v_runs;
END
$runs_of_target$;

COMMENT ON FUNCTION omd_provenance._runs_of_target IS
'Returns the runs that p_target means, as _target has it, and that stand, in the order of their '
'ids. Errors: OM003, OM004, OM033, OM034: there is no such thing; OM091: nothing of it stands. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._runs_of_target TO omd_admin;
