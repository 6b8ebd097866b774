-- A room that tells how far its schema may be read writes the tables of the schema as one.

CREATE OR REPLACE FUNCTION omd.written_tables(
    p_module_instance_id bigint
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $written_tables$
BEGIN
    RETURN (
        SELECT coalesce(array_agg(format('%I.%I', n.nspname, r.relname)), '{}')
        FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m USING (module_id)
        INNER JOIN pg_class AS c ON c.oid = omd.target_relation(m.table_code)
        INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
        INNER JOIN pg_class AS r
            ON
                c.relnamespace = r.relnamespace
                AND r.relkind IN ('r', 'p', 'v')
                AND NOT r.relispartition
                AND (r.oid = c.oid OR omd._bound_routine(c.oid) IS NOT NULL)
        WHERE mi.module_instance_id = p_module_instance_id AND m.platform_code = 'POSTGRES'
    );
END
$written_tables$;

COMMENT ON FUNCTION omd.written_tables IS
'For rooms: Returns the tables that the Module Instance p_module_instance_id may have written: the '
'target of its Module, and all of its schema where that belongs to a room. Locks: none.';
