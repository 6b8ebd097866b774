-- A load names the entities that had rows by their codes; it may have written their supertypes too.

CREATE OR REPLACE FUNCTION omd_facts._written_entities(
    p_load omd_facts.load_log
)
RETURNS integer[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $written_entities$
BEGIN
    RETURN omd_facts._with_supertypes(
        ARRAY(
            SELECT e.entity_id
            FROM omd_facts.entity AS e
            WHERE e.interface_id = p_load.interface_id AND p_load.row_counts ? e.entity_code
        )
    );
END
$written_entities$;

COMMENT ON FUNCTION omd_facts._written_entities IS
'Returns the entities that p_load has written. Locks: none.';
