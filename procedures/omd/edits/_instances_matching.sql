-- The plan is made for the values of each call, so that what a filter does not name costs nothing.
-- What executes has an index of its own; + 0 keeps the planner from walking all of history to it.

CREATE OR REPLACE FUNCTION omd._instances_matching(
    p_filter jsonb,
    p_counted_at timestamptz,
    p_limit bigint DEFAULT NULL,
    p_after_instance_id bigint DEFAULT NULL,
    p_other_indicator text DEFAULT NULL
)
RETURNS SETOF bigint
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET plan_cache_mode = force_custom_plan
SET jit = off
AS $instances_matching$
DECLARE
    v_codes text[];
    v_batch_instance_ids bigint[];
    v_statuses text[];
    v_since timestamptz;
    v_until timestamptz;
    v_after bigint := greatest(p_after_instance_id, 0);
    v_executes boolean;
BEGIN
    PERFORM omd.require_filter(
        p_filter,
        '{
            "instance_type": {"kind": "text", "required": true, "of": ["BATCH", "MODULE"]},
            "codes": {"kind": "texts"},
            "batch_instance_ids": {"kind": "ids"},
            "statuses": {"kind": "texts", "of": ["E", "S", "F", "A", "C"]},
            "since": {"kind": "time"},
            "until": {"kind": "time"}
        }'
    );
    SELECT array_agg(i.item #>> '{}') INTO v_codes FROM omd.json_items(p_filter -> 'codes') AS i;
    SELECT array_agg((i.item #>> '{}')::bigint) INTO v_batch_instance_ids
    FROM omd.json_items(p_filter -> 'batch_instance_ids') AS i;
    SELECT array_agg(i.item #>> '{}') INTO v_statuses
    FROM omd.json_items(p_filter -> 'statuses') AS i;
    v_since := (p_filter ->> 'since')::timestamptz;
    v_until := (p_filter ->> 'until')::timestamptz;
    v_executes := coalesce(v_statuses <@ '{E}', FALSE);
    IF p_filter ->> 'instance_type' = 'MODULE' THEN
        RETURN QUERY
        SELECT mi.module_instance_id
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id > v_after
            AND (
                v_codes IS NULL
                OR mi.module_id = ANY(
                    ARRAY(SELECT m.module_id FROM omd.module AS m WHERE m.module_code = ANY(v_codes))
                )
            )
            AND (v_batch_instance_ids IS NULL OR mi.batch_instance_id = ANY(v_batch_instance_ids))
            AND (v_statuses IS NULL OR mi.execution_status_code = ANY(v_statuses))
            AND (v_since IS NULL OR mi.start_datetime >= v_since)
            AND (v_until IS NULL OR mi.start_datetime < v_until)
            AND coalesce(mi.end_datetime, mi.start_datetime) < p_counted_at
            AND (p_other_indicator IS NULL OR mi.next_run_indicator <> p_other_indicator)
        ORDER BY CASE WHEN v_executes THEN mi.module_instance_id + 0 ELSE mi.module_instance_id END
        LIMIT p_limit;
    ELSE
        RETURN QUERY
        SELECT bi.batch_instance_id
        FROM omd.batch_instance AS bi
        WHERE bi.batch_instance_id > v_after
            AND (
                v_codes IS NULL
                OR bi.batch_id = ANY(
                    ARRAY(SELECT b.batch_id FROM omd.batch AS b WHERE b.batch_code = ANY(v_codes))
                )
            )
            AND (v_batch_instance_ids IS NULL OR bi.batch_instance_id = ANY(v_batch_instance_ids))
            AND (v_statuses IS NULL OR bi.execution_status_code = ANY(v_statuses))
            AND (v_since IS NULL OR bi.start_datetime >= v_since)
            AND (v_until IS NULL OR bi.start_datetime < v_until)
            AND coalesce(bi.end_datetime, bi.start_datetime) < p_counted_at
            AND (p_other_indicator IS NULL OR bi.next_run_indicator <> p_other_indicator)
        ORDER BY CASE WHEN v_executes THEN bi.batch_instance_id + 0 ELSE bi.batch_instance_id END
        LIMIT p_limit;
    END IF;
END
$instances_matching$;

COMMENT ON FUNCTION omd._instances_matching IS
'Returns the instances that p_filter describes, as count_instances says, and that have had their '
'status since before p_counted_at, in the order of their ids, at most p_limit, those after '
'p_after_instance_id (NULL: all). p_other_indicator: only those with another Next Run Indicator. '
'Errors: OM099. Locks: none.';
