-- A delivery that has not ended keeps its agreement from taking another one, and waits itself for
-- what comes again before it.

CREATE OR REPLACE FUNCTION omd_delivery.recall_withdrawals(
    p_again_array bigint[]
)
RETURNS TABLE (
    delivery_id bigint,
    because_of bigint,
    comes_again text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_withdrawals$
BEGIN
    RETURN QUERY
    SELECT
        o.delivery_id,
        min(de.module_instance_id),
        CASE
            WHEN bool_or(r.arrival_id IS NOT NULL)
                OR omd_delivery._hand_reason(o.delivery_id) IS NULL
                THEN 'FILES'
            ELSE 'HAND'
        END
    FROM omd_delivery.delivery_entity AS de
    INNER JOIN omd_delivery.delivery AS d ON de.delivery_id = d.delivery_id
    INNER JOIN omd_delivery.delivery AS o
        ON d.interface_id = o.interface_id
            AND d.agreement_id = o.agreement_id
            AND o.layer_code = 'LVL'
            AND o.delivery_status IN ('RECEIVED', 'LOADED', 'VALIDATED', 'ACCEPTED')
            AND o.delivery_status <> 'ACCEPTED'
            AND o.snapshot_datetime > d.snapshot_datetime
    LEFT JOIN omd_delivery.arrival AS r ON o.delivery_id = r.delivery_id
    WHERE de.module_instance_id = ANY(p_again_array)
    GROUP BY o.delivery_id
    ORDER BY o.delivery_id;
END
$recall_withdrawals$;

COMMENT ON FUNCTION omd_delivery.recall_withdrawals IS
'For rooms: Returns the deliveries without an end that are in the way of those of the runs '
'p_again_array when these come again: of the same agreement, and of a later time. because_of: a '
'run of them; comes_again: FILES, from its folder or its files, or HAND. Locks: none.';
