-- Every routine that refers to a Batch Instance without changing it calls this, so all of them
-- refuse an unknown one alike.

CREATE OR REPLACE FUNCTION omd._require_batch_instance(
    p_batch_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_batch_instance$
BEGIN
    PERFORM FROM omd.batch_instance AS bi WHERE bi.batch_instance_id = p_batch_instance_id;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM003', jsonb_build_object('batch_instance_id', p_batch_instance_id)
        );
    END IF;
END
$require_batch_instance$;

COMMENT ON FUNCTION omd._require_batch_instance IS
'Raises OM003 when the Batch Instance p_batch_instance_id does not exist. Locks: none.';
