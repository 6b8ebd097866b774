-- One run makes all again that was taken back of its Module: its window begins where the first of
-- theirs did, or it has none.

CREATE OR REPLACE FUNCTION omd._fill_returns(
    p_module_id integer,
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fill_returns$
BEGIN
    UPDATE omd.module_return AS r SET
        module_instance_id = p_module_instance_id,
        ended_datetime = clock_timestamp()
    WHERE r.module_id = p_module_id
        AND r.ended_datetime IS NULL
        AND r.former_delivery_id IS NULL
        AND NOT p_module_instance_id = ANY(r.former_instances);
    UPDATE omd.module AS m SET awaits_return = FALSE
    WHERE m.module_id = p_module_id;
END
$fill_returns$;

COMMENT ON FUNCTION omd._fill_returns IS
'Ends the open entries of omd.module_return for the Module p_module_id, of kind SQL or JOB, '
'because its run p_module_instance_id has succeeded. Locks: the entries, the Module row.';
