-- The Module says in its own row that somebody waits, since the end of each run reads that row. A
-- job that no worker can perform comes again by a person.

CREATE OR REPLACE FUNCTION omd.await_return(
    p_recall_id bigint,
    p_position integer,
    p_module_code text,
    p_is_by_hand boolean,
    p_former_instances bigint[],
    p_former_delivery_id bigint,
    p_snapshot_datetime timestamptz,
    p_problem text,
    p_upstream text[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $await_return$
DECLARE
    v_module omd.module;
    v_window record;
    v_has_no_worker boolean;
BEGIN
    SELECT m.* INTO v_module FROM omd.module AS m WHERE m.module_code = p_module_code;
    v_has_no_worker := omd.start_hint(v_module.module_id) IS NOT NULL;
    SELECT sc.start_value, sc.start_id INTO v_window
    FROM omd.source_control AS sc
    WHERE sc.module_instance_id = ANY(p_former_instances) AND p_former_delivery_id IS NULL
    ORDER BY sc.module_instance_id
    LIMIT 1;
    INSERT INTO omd.module_return (
        recall_id, position, module_id, is_by_hand, former_instances, former_delivery_id,
        snapshot_datetime, start_value, start_id, problem, upstream
    )
    VALUES (
        p_recall_id,
        p_position,
        v_module.module_id,
        p_is_by_hand OR v_has_no_worker,
        p_former_instances,
        p_former_delivery_id,
        p_snapshot_datetime,
        v_window.start_value,
        v_window.start_id,
        coalesce(
            p_problem,
            CASE
                WHEN v_has_no_worker
                    THEN 'its Module has no job that a worker could run'
            END
        ),
        ARRAY(
            SELECT m.module_id FROM omd.module AS m
            WHERE m.module_code = ANY(p_upstream)
            ORDER BY m.module_id
        )
    );
    UPDATE omd.module AS m SET awaits_return = TRUE
    WHERE m.module_id = v_module.module_id
        AND m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
        AND NOT m.awaits_return;
END
$await_return$;

COMMENT ON FUNCTION omd.await_return IS
'For rooms: Notes in omd.module_return, for the recall p_recall_id at p_position, that a run or a '
'delivery of the Module p_module_code must come again, by a person with p_is_by_hand, p_problem '
'saying why; in place of the runs p_former_instances, or of the delivery p_former_delivery_id with '
'the snapshot p_snapshot_datetime; after what the Modules p_upstream make again. Locks: the Module '
'row.';
