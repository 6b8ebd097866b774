-- A table of the lake is known by the Modules that write it and the sources that it has.

CREATE OR REPLACE FUNCTION omd.is_readable(
    p_table_code text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_readable$
BEGIN
    RETURN omd.target_relation(p_table_code) IS NOT NULL
    OR EXISTS (
        SELECT FROM omd.module AS m WHERE omd.spell_table(p_table_code) IN (
            m.table_code, omd.spell_table(m.table_code)
        ) AND m.platform_code <> 'POSTGRES'
    )
    OR EXISTS (
        SELECT FROM omd.source_table AS t WHERE t.table_code = omd.spell_table(p_table_code)
    );
END
$is_readable$;

COMMENT ON FUNCTION omd.is_readable IS
'For rooms: answers whether p_table_code is a table or view of this database, or one that a Module '
'writes elsewhere. Locks: none.';
