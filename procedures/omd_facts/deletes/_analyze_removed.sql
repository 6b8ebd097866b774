-- The statistics of a table keep values of rows that are gone, and everybody may read those of his
-- tables.

CREATE OR REPLACE FUNCTION omd_facts._analyze_removed(
    p_entity_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $analyze_removed$
DECLARE
    v_table record;
BEGIN
    FOR v_table IN
        SELECT 'cfl_' || i.interface_code AS schema_name, c.context_table AS name
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        INNER JOIN omd_facts.context AS c USING (entity_id)
        WHERE p_entity_id IN (e.entity_id, e.anchor_entity_id)
        ORDER BY c.context_id
    LOOP
        EXECUTE format('ANALYZE %I.%I', v_table.schema_name, v_table.name);
    END LOOP;
END
$analyze_removed$;

COMMENT ON FUNCTION omd_facts._analyze_removed IS
'Analyzes the tables of which rows of the entity p_entity_id were removed physically. Locks: '
'these, against DDL.';
