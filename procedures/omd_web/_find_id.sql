-- Each look is one by primary key. A task may be in any family, so dispatch is asked, which refuses
-- what it does not know.

CREATE OR REPLACE FUNCTION omd_web._find_id(
    p_id bigint
)
RETURNS TABLE (
    object_kind text,
    title text,
    detail text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
ROWS 5
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $find_id$
BEGIN
    RETURN QUERY
    SELECT
        'MODULE_INSTANCE',
        format('Module Instance %s', p_id),
        format('%s, status %s', m.module_code, mi.execution_status_code)
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m ON mi.module_id = m.module_id
    WHERE mi.module_instance_id = p_id
    UNION ALL
    SELECT
        'BATCH_INSTANCE',
        format('Batch Instance %s', p_id),
        format('%s, status %s', b.batch_code, bi.execution_status_code)
    FROM omd.batch_instance AS bi
    INNER JOIN omd.batch AS b ON bi.batch_id = b.batch_id
    WHERE bi.batch_instance_id = p_id
    UNION ALL
    SELECT
        'SUSPENSION',
        format('Suspension %s', p_id),
        concat_ws(': ', s.family_code, s.reason)
    FROM omd_dispatch.task_suspension AS s
    WHERE s.suspension_id = p_id
    UNION ALL
    SELECT
        CASE d.layer_code WHEN 'EXPORT' THEN 'EXPORT' ELSE 'DELIVERY' END,
        format(CASE d.layer_code WHEN 'EXPORT' THEN 'Export %s' ELSE 'Delivery %s' END, p_id),
        format('%s, %s', a.agreement_code, d.delivery_status)
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
    WHERE d.delivery_id = p_id
    UNION ALL
    SELECT
        'ARRIVAL',
        format('Arrival %s', p_id),
        format('folder %s of %s, %s', r.folder, a.agreement_code, r.arrival_status)
    FROM omd_delivery.arrival AS r
    INNER JOIN omd_delivery.agreement AS a ON r.agreement_id = a.agreement_id
    WHERE r.arrival_id = p_id
    UNION ALL
    SELECT
        'RECALL',
        format('Recall %s', p_id),
        format('%s: %s', c.recall_status, c.reason)
    FROM omd_provenance.recall AS c
    WHERE c.recall_id = p_id;
    BEGIN
        RETURN QUERY
        SELECT
            'TASK',
            format('Task %s', p_id),
            format('%s/%s, %s', t.family_code, t.task_type, t.status)
        FROM omd_dispatch.task_state(p_id) AS t;
    EXCEPTION
        WHEN SQLSTATE 'OM005' OR SQLSTATE 'OM072' THEN
            NULL;
    END;
END
$find_id$;

COMMENT ON FUNCTION omd_web._find_id IS
'Returns what has the id p_id, in all rooms; nothing when it is NULL. Locks: none.';
REVOKE ALL ON FUNCTION omd_web._find_id FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_web._find_id TO omd_reader;
