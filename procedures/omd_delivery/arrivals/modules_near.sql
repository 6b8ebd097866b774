-- What waits for a delivery: those of the same interface, its facts, and what is exported of them.
-- The payload of a notification may be of anybody, so what is no number is passed over.

CREATE OR REPLACE FUNCTION omd_delivery.modules_near(
    p_codes text[],
    p_news jsonb
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $modules_near$
DECLARE
    v_interfaces text[];
    v_agreements text[];
    v_deliveries bigint[];
    v_named integer[]; -- interfaces
    v_agreed integer[]; -- agreements
    v_ids integer[];
BEGIN
    SELECT
        array_agg(substr(c.code, 7)) FILTER (WHERE c.code LIKE 'facts.%'),
        array_agg(split_part(c.code, '.', 2)) FILTER (WHERE c.code ~ '^(delivery|export)[.]')
    INTO v_interfaces, v_agreements
    FROM unnest(p_codes) AS c (code);
    SELECT
        array_agg((n.value ->> 'interface_id')::integer)
        FILTER (WHERE n.value ->> 'interface_id' ~ '^[0-9]{1,9}$'),
        array_agg((n.value ->> 'agreement_id')::integer)
        FILTER (WHERE n.value ->> 'agreement_id' ~ '^[0-9]{1,9}$'),
        array_agg((n.value ->> 'delivery_id')::bigint)
        FILTER (WHERE n.value ->> 'delivery_id' ~ '^[0-9]{1,18}$')
    INTO v_named, v_agreed, v_deliveries
    FROM jsonb_array_elements(p_news) AS n (value)
    WHERE jsonb_typeof(n.value) = 'object';
    IF num_nonnulls(v_interfaces, v_agreements, v_named, v_agreed, v_deliveries) = 0 THEN
        RETURN '{}'::text[];
    END IF;
    v_ids := ARRAY(
        SELECT i.interface_id FROM omd_delivery.interface AS i
        WHERE i.interface_code = ANY(v_interfaces)
        UNION
        SELECT n.interface_id FROM unnest(v_named) AS n (interface_id)
        UNION
        SELECT a.interface_id FROM omd_delivery.agreement AS a
        WHERE a.agreement_id = ANY(v_agreed)
        UNION
        SELECT a.interface_id FROM omd_delivery.agreement AS a
        WHERE a.agreement_code = ANY(v_agreements)
        UNION
        SELECT a.interface_id
        FROM omd_delivery.delivery AS d
        INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
        WHERE d.delivery_id = ANY(v_deliveries)
    );
    RETURN ARRAY(
        SELECT 'facts.' || i.interface_code FROM omd_delivery.interface AS i
        WHERE i.interface_id = ANY(v_ids)
        UNION ALL
        SELECT c.module_code
        FROM omd_delivery.agreement AS a
        CROSS JOIN LATERAL (
            VALUES (a.batch_code), ('export.' || a.agreement_code)
        ) AS c (module_code)
        WHERE a.interface_id = ANY(v_ids)
    );
END
$modules_near$;

COMMENT ON FUNCTION omd_delivery.modules_near IS
'For rooms: Returns the codes of the Modules that deliver, load or export the interfaces that the '
'Modules p_codes deliver, load or export, or that the notifications p_news name, an array of what '
'the channel omd_delivery tells. Locks: none.';
