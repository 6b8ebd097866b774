-- All that ask about a run refuse the same.

CREATE OR REPLACE FUNCTION omd_provenance._require_run(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_run$
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    IF NOT EXISTS (
        SELECT FROM omd.ledger_run AS r
        WHERE r.module_instance_id = p_module_instance_id AND r.module_id IS NOT NULL
    ) THEN
        PERFORM omd.raise_error(
            'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
        );
    END IF;
END
$require_run$;

COMMENT ON FUNCTION omd_provenance._require_run IS
'Raises an error unless p_module_instance_id is a run. Errors: OM004, OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._require_run TO omd_reader, omd_data_reader;
