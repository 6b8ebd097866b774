-- Of a Module whose inputs are unknown each run is like the one before, so the newest stands for
-- all.

CREATE OR REPLACE FUNCTION omd_provenance._unknown_since(
    p_module_instance_id bigint
)
RETURNS TABLE (
    module_instance_id bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $unknown_since$
BEGIN
    RETURN QUERY
    SELECT max(r.module_instance_id)
    FROM omd_provenance.unknown_modules() AS u
    INNER JOIN omd.ledger_run AS r USING (module_id)
    WHERE r.module_instance_id > p_module_instance_id AND omd_provenance._stands(r)
    GROUP BY r.module_id;
END
$unknown_since$;

COMMENT ON FUNCTION omd_provenance._unknown_since IS
'Returns the newest run that stands of each Module whose inputs are unknown, if it began after the '
'run p_module_instance_id. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._unknown_since TO omd_admin;
