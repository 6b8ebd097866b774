-- It names the state that current views show.

CREATE OR REPLACE FUNCTION omd_facts.traveling_now(
    p_interface_code text
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $traveling_now$
DECLARE
    v_interface omd_facts.interface;
BEGIN
    v_interface := omd_facts._require_interface(p_interface_code);
    RETURN v_interface.traveling_now;
END
$traveling_now$;

COMMENT ON FUNCTION omd_facts.traveling_now IS
'For programs: '
'Returns the greatest transaction time that is persisted for the interface p_interface_code; '
'NULL before its first load. Errors: OM251, OM005, OM013, OM031. Locks: none. '
'May be NULL: the answer.';
GRANT EXECUTE ON FUNCTION omd_facts.traveling_now TO omd_reader, omd_data_reader;
