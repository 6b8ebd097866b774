-- It looks with the rights of whoever calls. A role that may not read the table sees its size, and
-- a table without storage is empty.

CREATE OR REPLACE FUNCTION omd_lineage._holds_rows(
    p_table_code text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $holds_rows$
DECLARE
    v_name CONSTANT text[] := parse_ident(p_table_code);
    v_table oid;
    v_kind "char";
    v_holds_rows boolean;
BEGIN
    SELECT c.oid, c.relkind INTO v_table, v_kind
    FROM pg_class AS c
    INNER JOIN pg_namespace AS n ON c.relnamespace = n.oid
    WHERE n.nspname = v_name[1] AND c.relname = v_name[2];
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    EXECUTE format('SELECT EXISTS (SELECT FROM %I.%I)', v_name[1], v_name[2]) INTO v_holds_rows;
    RETURN v_holds_rows;
EXCEPTION
    WHEN insufficient_privilege THEN
        RETURN v_kind NOT IN ('r', 'p') OR pg_relation_size(v_table) > 0 OR EXISTS (
            SELECT FROM pg_partition_tree(v_table) AS p
            WHERE p.isleaf AND coalesce(pg_relation_size(p.relid) > 0, TRUE)
        );
END
$holds_rows$;

COMMENT ON FUNCTION omd_lineage._holds_rows IS
'Returns whether the table p_table_code (schema.table) holds a row. To a role that may not read it'
' the answer is true when it may hold one. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._holds_rows TO omd_runner, omd_admin;
