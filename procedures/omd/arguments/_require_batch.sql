-- Every routine that takes a Batch by its code calls this, so all of them refuse an unknown one
-- alike.

CREATE OR REPLACE FUNCTION omd._require_batch(
    p_batch_code text
)
RETURNS integer
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_batch$
DECLARE
    v_batch_id integer;
BEGIN
    SELECT b.batch_id INTO v_batch_id FROM omd.batch AS b WHERE b.batch_code = p_batch_code;
    IF NOT FOUND THEN
        p_batch_code := omd.require_argument('p_batch_code', p_batch_code);
        PERFORM omd.raise_error(
            'OM001',
            jsonb_strip_nulls(
                jsonb_build_object(
                    'batch_code', p_batch_code,
                    'did_you_mean', omd.did_you_mean(
                        p_batch_code, (SELECT array_agg(b.batch_code) FROM omd.batch AS b)
                    )
                )
            )
        );
    END IF;
    RETURN v_batch_id;
END
$require_batch$;

COMMENT ON FUNCTION omd._require_batch IS
'Returns the batch_id of a Batch code. Errors: OM005 (NULL), OM001 (unknown). Locks: none.';
