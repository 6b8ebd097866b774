-- A mark of a later time would shut out what comes again.

CREATE OR REPLACE FUNCTION omd_delivery._return_before(
    p_interface_id integer,
    p_snapshot_datetime timestamptz
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $return_before$
BEGIN
    RETURN (
        SELECT format(
            'recall %s: the delivery of %s at %s comes again before it',
            r.recall_id, a.agreement_code, r.snapshot_datetime
        )
        FROM omd_delivery.agreement AS a
        INNER JOIN omd.awaited_return AS r ON a.batch_code = r.module_code
        WHERE a.interface_id = p_interface_id
            AND r.ended_datetime IS NULL
            AND r.snapshot_datetime < p_snapshot_datetime
        ORDER BY r.snapshot_datetime, r.recall_id, r.position
        LIMIT 1
    );
END
$return_before$;

COMMENT ON FUNCTION omd_delivery._return_before IS
'Returns, in words, the first delivery of the interface p_interface_id that must come again before '
'one at p_snapshot_datetime; NULL: there is none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery._return_before TO omd_reader;
