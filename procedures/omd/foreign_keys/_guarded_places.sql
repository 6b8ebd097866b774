-- Where a template keeps rows, nothing says that a row is deleted.

CREATE OR REPLACE FUNCTION omd._guarded_places(
    p_module_id integer
)
RETURNS TABLE (
    relation oid,
    table_name text,
    column_name text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $guarded_places$
DECLARE
    v_module omd.module;
    v_relation oid;
BEGIN
    SELECT m.* INTO v_module FROM omd.module AS m WHERE m.module_id = p_module_id;
    v_relation := omd.target_relation(v_module.table_code);
    RETURN QUERY
    SELECT
        t.relation,
        format('%I.%I', n.nspname, c.relname),
        t.column_name
    FROM omd._undone_tables(v_relation, v_module.insert_instance_column) AS t
    INNER JOIN pg_class AS c ON t.relation = c.oid
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    INNER JOIN pg_attribute AS a
        ON
            t.relation = a.attrelid
            AND t.column_name = a.attname::text
            AND NOT a.attisdropped
    WHERE EXISTS (SELECT FROM omd._lossy_keys(t.relation, FALSE))
        AND NOT EXISTS (
            SELECT FROM omd._fitting_templates(p_module_id) AS f
            WHERE f.keeps_rows
        );
END
$guarded_places$;

COMMENT ON FUNCTION omd._guarded_places IS
'Returns the tables whose rows the rollback of the Module p_module_id deletes and to which foreign '
'keys refer that may delete or change rows of other runs then; and the column of instance ids in '
'each. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._guarded_places TO omd_runner, omd_admin;
