-- The caller holds the row of the interface, and keeps it to its commit. So numbers and times rise
-- in the order of commits, also when the clock is set back.

CREATE OR REPLACE FUNCTION omd_facts._begin_change(
    p_interface_id integer,
    p_change_kind text,
    p_at timestamptz,
    p_module_instance_id bigint,
    p_delivery_id bigint,
    p_entity_ids integer[]
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $begin_change$
DECLARE
    v_change_id bigint;
BEGIN
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    IF NOT EXISTS (
        SELECT FROM omd_facts.entity AS e
        WHERE e.interface_id = p_interface_id AND e.keeps_changes
    ) THEN
        RETURN NULL;
    END IF;
    INSERT INTO omd_facts.change (
        interface_id, change_kind, change_datetime, transaction_datetime, module_instance_id,
        delivery_id, entity_ids
    )
    VALUES (
        p_interface_id,
        p_change_kind,
        greatest(
            clock_timestamp(),
            (
                SELECT c.change_datetime + interval '1 microsecond'
                FROM omd_facts.change AS c
                WHERE c.interface_id = p_interface_id
                ORDER BY c.change_id DESC
                LIMIT 1
            )
        ),
        p_at,
        p_module_instance_id,
        p_delivery_id,
        p_entity_ids
    )
    RETURNING change_id INTO v_change_id;
    RETURN v_change_id;
END
$begin_change$;

COMMENT ON FUNCTION omd_facts._begin_change IS
'Begins a change of the interface p_interface_id, of the kind p_change_kind at the transaction '
'time p_at, which p_module_instance_id makes for p_delivery_id in p_entity_ids, and returns it; '
'NULL: no entity of the interface keeps changes. Locks: none.';
