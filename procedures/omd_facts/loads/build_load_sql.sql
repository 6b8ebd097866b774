-- What a load executes is what this shows.

CREATE OR REPLACE FUNCTION omd_facts.build_load_sql(
    p_interface_code text
)
RETURNS TABLE (entity_code text, step text, statement text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $build_load_sql$
DECLARE
    v_interface omd_facts.interface;
BEGIN
    v_interface := omd_facts._require_interface(p_interface_code);
    RETURN QUERY
    SELECT
        (
            SELECT e.entity_code FROM omd_facts.entity AS e
            WHERE e.interface_id = v_interface.interface_id
            ORDER BY e.load_order
            LIMIT 1
        ),
        'root'::text,
        r
    FROM omd_facts._root_statements(v_interface.interface_id) AS r;
    RETURN QUERY
    SELECT e.entity_code, s.step, s.statement
    FROM omd_facts.entity AS e
    CROSS JOIN LATERAL omd_facts._entity_statements(e.entity_id) WITH ORDINALITY AS s (
        place, step, context_id, statement, n
    )
    WHERE e.interface_id = v_interface.interface_id
    ORDER BY e.load_order, s.place, s.n;
END
$build_load_sql$;

COMMENT ON FUNCTION omd_facts.build_load_sql IS
'Returns the statements (entity_code, step, statement) by which a delta of the interface '
'p_interface_code is loaded, in order (those of key roots are for all entities); $1 is the '
'delivery, $2 its T, $3 the Module Instance, $4 whether it deletes physically. Errors: OM005, '
'OM013, OM031, OM251: it is not deployed. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_facts.build_load_sql TO omd_reader, omd_admin;
