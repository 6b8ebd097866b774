-- It reads the catalogue only, so nobody needs a right on the table.

CREATE OR REPLACE FUNCTION omd_decision._columns(
    p_table_code text
)
RETURNS TABLE (
    column_name text,
    ordinal integer,
    family text,
    type_name text,
    is_generated boolean,
    has_default boolean
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        a.attname::text AS column_name,
        a.attnum::integer AS ordinal,
        omd_decision._type_family(a.atttypid) AS family,
        format_type(a.atttypid, a.atttypmod) AS type_name,
        a.attgenerated <> '' OR a.attidentity = 'a' AS is_generated,
        a.atthasdef OR a.attidentity <> '' AS has_default
    FROM pg_attribute AS a
    WHERE
        a.attrelid = omd.target_relation(p_table_code)
        AND a.attnum > 0
        AND NOT a.attisdropped;
END;

COMMENT ON FUNCTION omd_decision._columns IS
'Returns the columns of the relation p_table_code (schema.table, quoted); family is that of '
'_type_family. There is no row when there is no such relation. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._columns TO omd_reader;
