-- A target keeps no former values, so what it has is known only since its run has ended.

CREATE OR REPLACE FUNCTION omd_provenance._written_at(
    p_module_instance_id bigint
)
RETURNS timestamptz
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT r.end_datetime
    FROM omd.shown_runs(ARRAY[p_module_instance_id]) AS r;
END;

COMMENT ON FUNCTION omd_provenance._written_at IS
'Returns when the run p_module_instance_id ended, so that what it wrote stood; NULL where it has '
'not ended, or is not kept. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._written_at TO omd_data_reader;
