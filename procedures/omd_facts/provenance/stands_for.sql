-- A view of facts shows the attributes of the entity and of its supertypes, whatever its moment.

CREATE OR REPLACE FUNCTION omd_facts.stands_for(
    p_relation oid
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stands_for$
DECLARE
    v_interface omd_facts.interface;
    v_schema text;
    v_names text[];
    v_ids integer[];
BEGIN
    SELECT n.nspname::text INTO v_schema
    FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    WHERE c.oid = p_relation;
    SELECT i.* INTO v_interface
    FROM omd_facts.interface AS i
    WHERE i.interface_code = substring(v_schema FROM '^(?:gdal|asof|history|changes|cfl)_(.*)$');
    v_names := ARRAY(
        SELECT c.relname::text
        FROM unnest(omd.topmost_parents(p_relation)) AS t (id)
        INNER JOIN pg_class AS c ON t.id = c.oid
    );
    v_ids := ARRAY(
        SELECT e.entity_id
        FROM omd_facts.entity AS e
        WHERE e.interface_id = v_interface.interface_id
            AND CASE
                WHEN v_schema LIKE 'cfl\_%'
                    THEN e.anchor_table = ANY(v_names) OR EXISTS (
                        SELECT FROM omd_facts.context AS c
                        WHERE c.entity_id = e.entity_id AND c.context_table = ANY(v_names)
                    )
                ELSE e.entity_code = ANY(v_names)
            END
    );
    IF v_ids = '{}' THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY(
        SELECT format('%I.%I', 'gdal_' || v_interface.interface_code, e.entity_code)
        FROM omd_facts.entity AS e
        WHERE e.entity_id = ANY(omd_facts._with_supertypes(v_ids))
        ORDER BY e.entity_id
    );
END
$stands_for$;

COMMENT ON FUNCTION omd_facts.stands_for IS
'For rooms: returns the entities that are read through the view or table p_relation of facts, by '
'their current views; NULL: it is none of them. Locks: none.';
