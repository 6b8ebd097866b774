-- As-of views ask it once per statement.

CREATE OR REPLACE FUNCTION omd_facts.moment(
    p_interface_id integer
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $moment$
BEGIN
    RETURN coalesce(
        nullif(current_setting('omd_facts.as_of', TRUE), '')::timestamptz,
        (SELECT i.traveling_now FROM omd_facts.interface AS i WHERE i.interface_id = p_interface_id)
    );
END
$moment$;

COMMENT ON FUNCTION omd_facts.moment IS
'Returns the moment of the session, else the traveling now of the interface p_interface_id; NULL '
'before the first load. Locks: none. May be NULL: the answer.';
REVOKE ALL ON FUNCTION omd_facts.moment FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_facts.moment TO omd_data_reader;
