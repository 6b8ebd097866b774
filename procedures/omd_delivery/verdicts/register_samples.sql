-- Samples are few, so they go through the fence like counts.

CREATE OR REPLACE PROCEDURE omd_delivery.register_samples(
    p_delivery_id bigint,
    p_attempt integer,
    p_entity_code text,
    p_samples jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_samples$
DECLARE
    v_delivery omd_delivery.delivery;
    v_entity_id integer;
BEGIN
    p_samples := omd.require_argument('p_samples', p_samples);
    p_entity_code := omd.require_argument('p_entity_code', p_entity_code);
    v_delivery := omd_delivery._hold_attempt(p_delivery_id, p_attempt);
    PERFORM omd_delivery._require_event(v_delivery, 'stage_verdict', 'take samples');
    PERFORM omd_delivery._require_run(v_delivery);
    SELECT e.entity_id INTO v_entity_id
    FROM omd_delivery.entity AS e
    WHERE e.interface_id = v_delivery.interface_id AND e.entity_code = p_entity_code;
    IF NOT FOUND OR jsonb_typeof(p_samples) <> 'array' OR EXISTS (
        SELECT FROM jsonb_array_elements(p_samples) AS s (row)
        WHERE jsonb_typeof(s.row) <> 'object'
            OR s.row ->> 'origin' IS NULL
            OR s.row ->> 'origin' NOT IN ('DELIVERED', 'EXISTING')
            OR jsonb_typeof(s.row -> 'constraint_codes') IS DISTINCT FROM 'array'
            OR coalesce(jsonb_typeof(s.row -> 'is_skipped'), 'boolean') <> 'boolean'
            OR (
                coalesce(s.row -> 'record_key', 'null') <> 'null'
                AND omd_delivery._context_keys(
                    v_entity_id, jsonb_build_array(s.row -> 'record_key')
                ) IS NULL
            )
    ) THEN
        PERFORM omd_delivery._raise_measures(
            p_delivery_id,
            p_entity_code,
            'samples are a list of rows with record_key, origin, constraint_codes, is_skipped, '
            'raw and staged_from'
        );
    END IF;
    DELETE FROM omd_delivery.sample AS s
    WHERE s.delivery_id = p_delivery_id
        AND s.attempt = p_attempt
        AND s.entity_id = v_entity_id;
    INSERT INTO omd_delivery.sample (
        delivery_id, attempt, entity_id, record_key, origin, constraint_codes, is_skipped, raw,
        staged_from
    )
    SELECT
        p_delivery_id,
        p_attempt,
        v_entity_id,
        omd_delivery._context_keys(v_entity_id, jsonb_build_array(s.row -> 'record_key')) -> 0,
        s.row ->> 'origin',
        ARRAY(SELECT jsonb_array_elements_text(s.row -> 'constraint_codes')),
        coalesce((s.row ->> 'is_skipped')::boolean, FALSE),
        s.row -> 'raw',
        s.row ->> 'staged_from'
    FROM jsonb_array_elements(p_samples) WITH ORDINALITY AS s (row, place)
    ORDER BY s.place;
END
$register_samples$;

COMMENT ON PROCEDURE omd_delivery.register_samples IS
'For programs: '
'Replaces the samples of the entity p_entity_code of the run p_attempt of the delivery '
'p_delivery_id by p_samples, a list of {"record_key": {attribute: value} or null, "origin": '
'"DELIVERED" or "EXISTING", "constraint_codes", "is_skipped", "raw", "staged_from"}, which the '
'view quarantine shows. Errors: OM005: an argument is NULL; OM014: the isolation level is not '
'read committed; OM034: there is no such delivery; OM040: p_samples is not such a list; OM130: '
'the delivery is in another status than LOADED; OM132: p_attempt is not its newest run, or has '
'ended. Locks: the interface. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_delivery.register_samples TO omd_runner;
