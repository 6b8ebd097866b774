-- Rows that were removed physically can't come back, and without the delta nobody knows what a
-- delivery did.

CREATE OR REPLACE FUNCTION omd_delivery._recall_problem(
    p_delivery omd_delivery.delivery
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_problem$
BEGIN
    RETURN CASE
        WHEN p_delivery.delete_type = 'PHYSICAL'
            THEN format('PHYSICAL: delivery %s deletes physically', p_delivery.delivery_id)
        WHEN p_delivery.purged_datetime IS NOT NULL
            THEN format(
                'PURGED: the deltas of delivery %s were purged at %s',
                p_delivery.delivery_id, p_delivery.purged_datetime
            )
    END;
END
$recall_problem$;

COMMENT ON FUNCTION omd_delivery._recall_problem IS
'Returns why a recall can''t take p_delivery back; NULL: it can. Locks: none.';
