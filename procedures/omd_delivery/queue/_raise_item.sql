-- What the facts may not do with an item is one error.

CREATE OR REPLACE FUNCTION omd_delivery._raise_item(
    p_queue_id bigint,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_item$
BEGIN
    PERFORM omd.raise_error(
        'OM135', jsonb_build_object('queue_id', p_queue_id, 'problem', p_problem)
    );
END
$raise_item$;

COMMENT ON FUNCTION omd_delivery._raise_item IS
'Raises OM135 for the item p_queue_id, because of p_problem. Locks: none.';
