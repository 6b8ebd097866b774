-- The row is inserted before the last checks, which read it; a refusal takes it back. Whoever lost
-- the answer finds the delivery in OM131.

CREATE OR REPLACE PROCEDURE omd_delivery.create_delivery(
    p_agreement_code text,
    p_snapshot_datetime timestamptz DEFAULT NULL,
    p_entities jsonb DEFAULT NULL,
    p_context jsonb DEFAULT NULL,
    p_delete_type text DEFAULT 'LOGICAL',
    p_include_existing boolean DEFAULT NULL,
    p_allow_deletes text[] DEFAULT NULL,
    p_dry_run boolean DEFAULT FALSE,
    p_message jsonb DEFAULT NULL,
    INOUT p_delivery_id bigint DEFAULT NULL,
    INOUT p_delivery_status text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $create_delivery$
DECLARE
    v_agreement omd_delivery.agreement;
    v_delete_type text;
    v_snapshot_datetime timestamptz;
    v_delivered text[];
    v_missing text[];
    v_context jsonb;
    v_other record;
BEGIN
    v_agreement := omd_delivery._hold_agreement(p_agreement_code);
    v_delete_type := upper(coalesce(p_delete_type, 'LOGICAL'));
    IF v_agreement.layer_code <> 'LVL' THEN
        PERFORM omd_delivery._raise_argument(
            'p_agreement_code', p_agreement_code,
            'an agreement of the layer ' || v_agreement.layer_code || ' belongs to the facts'
        );
    ELSIF v_delete_type NOT IN ('LOGICAL', 'PHYSICAL') THEN
        PERFORM omd_delivery._raise_argument(
            'p_delete_type', p_delete_type, 'it must be LOGICAL or PHYSICAL'
        );
    ELSIF p_snapshot_datetime < '0001-01-01 00:00:00+00' THEN
        PERFORM omd_delivery._raise_argument(
            'p_snapshot_datetime', p_snapshot_datetime::text, 'it must be 0001-01-01 or later'
        );
    END IF;
    v_snapshot_datetime := coalesce(p_snapshot_datetime, clock_timestamp());
    SELECT array_agg(e.entity_code) INTO v_delivered
    FROM omd_delivery._delivered_entities(v_agreement, p_entities) AS e;
    IF NOT p_allow_deletes <@ v_delivered THEN
        PERFORM omd_delivery._raise_argument(
            'p_allow_deletes', p_allow_deletes::text, 'it must name entities of the delivery'
        );
    END IF;
    v_context := omd_delivery._require_context(
        v_agreement.interface_id, p_context, v_agreement.context
    );
    PERFORM omd_delivery._require_effective(v_agreement, v_snapshot_datetime);

    IF v_agreement.completeness = 'COMPLETE' THEN
        SELECT array_agg(e.entity_code ORDER BY e.ordinal) INTO v_missing
        FROM omd_delivery.entity AS e
        WHERE e.interface_id = v_agreement.interface_id
            AND NOT e.is_retired
            AND NOT e.is_derived
            AND (v_agreement.entity_ids IS NULL OR e.entity_id = ANY(v_agreement.entity_ids))
            AND NOT e.entity_code = ANY(v_delivered);
        IF v_missing IS NOT NULL THEN
            PERFORM omd.raise_error(
                'OM041',
                jsonb_build_object(
                    'agreement_code', p_agreement_code,
                    'missing', array_to_string(v_missing, ', ')
                )
            );
        END IF;
    END IF;

    p_delivery_id := omd_delivery._insert_delivery(
        v_agreement, v_snapshot_datetime, NULL, 'create_delivery'
    );
    p_delivery_status := 'RECEIVED';
    UPDATE omd_delivery.delivery AS d SET
        delete_type = v_delete_type,
        include_existing = coalesce(
            p_include_existing, (v_agreement.options ->> 'include_existing')::boolean, TRUE
        ),
        is_dry_run = coalesce(p_dry_run, FALSE),
        context = v_context,
        message = p_message
    WHERE d.delivery_id = p_delivery_id;
    INSERT INTO omd_delivery.delivery_entity (
        delivery_id, entity_id, load_type, context_type, rows_announced, allows_deletes
    )
    SELECT
        p_delivery_id,
        e.entity_id,
        e.load_type,
        e.context_type,
        e.rows_announced,
        coalesce(e.entity_code = ANY(p_allow_deletes), FALSE)
    FROM omd_delivery._delivered_entities(v_agreement, p_entities) AS e;

    PERFORM omd_delivery._require_marks(p_delivery_id);
    PERFORM omd_delivery._require_contexts(p_delivery_id);
    SELECT d.delivery_id, d.delivery_status INTO v_other
    FROM omd_delivery.delivery AS d
    WHERE d.interface_id = v_agreement.interface_id
        AND d.layer_code = 'LVL'
        AND d.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
        AND d.delivery_status <> 'ACCEPTED'
        AND d.agreement_id = v_agreement.agreement_id
        AND d.delivery_id <> p_delivery_id
    ORDER BY d.delivery_id
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM131',
            jsonb_build_object(
                'agreement_code', p_agreement_code,
                'delivery_id', v_other.delivery_id,
                'delivery_status', v_other.delivery_status
            )
        );
    END IF;
    PERFORM omd_delivery._empty_staging(v_agreement.agreement_id);
END
$create_delivery$;

COMMENT ON PROCEDURE omd_delivery.create_delivery IS
'Creates a delivery under the agreement p_agreement_code and empties its staging tables. '
'p_snapshot_datetime: the time T of the data, later than all before it of each entity; NULL: '
'now. p_entities: ["flights"], {"flights": "DELTA"} or {"flights": {"load": "FULL", "context": '
'"ROWS", "rows": 120}}; NULL: all of the agreement; load is FULL (the default) or DELTA, context '
'ALL or ROWS, rows the announced number. p_context: the keys that it is about, {entity: '
'[{attribute: value}]}, not wider than those of the agreement. p_delete_type: LOGICAL keeps '
'deleted rows as history, PHYSICAL removes all rows of a key. p_include_existing: previous '
'versions of skipped rows stand for them; NULL: as agreed, else TRUE. p_allow_deletes: entities '
'whose threshold of deletes is lifted this once. p_dry_run: it is validated without effect. '
'p_message: the words of the sender. Returns p_delivery_id and p_delivery_status, RECEIVED. '
'Errors, in this order: OM005: p_agreement_code is NULL; OM013: it is not allowed as a name; '
'OM014: the isolation level is not read committed; OM033: there is no such agreement; OM036: '
'another argument is refused; OM232: the agreement is inactive, or not effective today; OM038: '
'p_snapshot_datetime is in the future; OM041: an entity is missing under COMPLETE; OM037: an '
'entity was delivered at the same time or later; OM039: a Full entity has no context; OM131: '
'another delivery of the agreement is not decided yet. Locks: the interface, the staging tables.';
GRANT EXECUTE ON PROCEDURE omd_delivery.create_delivery TO omd_runner;
