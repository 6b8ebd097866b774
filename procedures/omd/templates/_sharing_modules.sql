-- OMD keeps the name of a table in one spelling, so the few relations that share its rows find
-- their Modules by the index on it, however many Modules there are. In PL/pgSQL a session keeps the
-- plan; as SQL it was made at each call.

CREATE OR REPLACE FUNCTION omd._sharing_modules(
    p_relation oid
)
RETURNS TABLE (
    module_id integer,
    module_code text,
    insert_instance_column text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $sharing_modules$
BEGIN
    RETURN QUERY
    SELECT
        m.module_id,
        m.module_code,
        m.insert_instance_column
    FROM omd.module AS m
    WHERE
        m.platform_code = 'POSTGRES'
        AND m.table_code IN (
            SELECT format('%I.%I', n.nspname, c.relname)
            FROM omd._sharing_relations(p_relation) AS s (relation)
            INNER JOIN pg_class AS c ON s.relation = c.oid
            INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        );
END
$sharing_modules$;

COMMENT ON FUNCTION omd._sharing_modules IS
'Returns the Modules that load the relation p_relation, or load rows of it through a partition, a '
'parent, an inheriting table or a view. Locks: none.';
