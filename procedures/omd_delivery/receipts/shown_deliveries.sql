-- What a delivery is in the eyes of people; who ended it and why stands in its events.

CREATE OR REPLACE FUNCTION omd_delivery.shown_deliveries(
    p_delivery_array bigint[]
)
RETURNS TABLE (
    delivery_id bigint,
    agreement_code text,
    interface_code text,
    tenant_code text,
    tenant_name text,
    layer_code text,
    snapshot_datetime timestamptz,
    delivery_status text,
    verdict text,
    reason text,
    editor text,
    event_datetime timestamptz,
    text text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        d.delivery_id,
        a.agreement_code,
        i.interface_code,
        t.tenant_code,
        t.tenant_name,
        d.layer_code,
        d.snapshot_datetime,
        d.delivery_status,
        d.verdict,
        v.reason,
        v.editor,
        v.event_datetime,
        concat(
            format(
                'delivery %s of agreement %s, tenant %s',
                d.delivery_id, a.agreement_code, t.tenant_name
            ),
            ', as of ' || d.snapshot_datetime,
            CASE
                WHEN d.delivery_status IN ('REVERTED', 'REFUSED', 'REJECTED', 'CANCELLED')
                    THEN concat(
                        ', was ', lower(d.delivery_status), ' by ', v.editor, ' at ',
                        date_trunc('second', v.event_datetime), ': ' || nullif(v.reason, '')
                    )
                ELSE ' (' || lower(d.delivery_status) || ')'
            END
        ) AS text
    FROM omd_delivery.delivery AS d
    INNER JOIN omd_delivery.agreement AS a ON d.agreement_id = a.agreement_id
    INNER JOIN omd_delivery.interface AS i ON d.interface_id = i.interface_id
    INNER JOIN omd_delivery.tenant AS t ON a.tenant_id = t.tenant_id
    LEFT JOIN LATERAL (
        SELECT
            n.reason,
            n.editor,
            n.event_datetime
        FROM omd_delivery.delivery_event AS n
        WHERE n.delivery_id = d.delivery_id
        ORDER BY n.delivery_event_id DESC
        LIMIT 1
    ) AS v ON TRUE
    WHERE d.delivery_id = any(p_delivery_array);
END;

COMMENT ON FUNCTION omd_delivery.shown_deliveries IS
'For rooms: Returns what people are shown of each delivery of p_delivery_array: agreement, tenant, '
'time, status and verdict; reason, editor and event_datetime of its last event; all of it in text. '
'Locks: none.';
