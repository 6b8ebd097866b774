-- A table of three parts belongs to a catalogue that is not in this database.

CREATE OR REPLACE FUNCTION omd_lake._catalogue_name(
    p_table_code text,
    OUT p_namespace text,
    OUT p_name text
)
RETURNS record
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $catalogue_name$
DECLARE
    v_parts text[] := parse_ident(p_table_code);
BEGIN
    IF cardinality(v_parts) = 2 THEN
        p_namespace := v_parts[1];
        p_name := v_parts[2];
    END IF;
END
$catalogue_name$;

COMMENT ON FUNCTION omd_lake._catalogue_name IS
'Returns the namespace and the name, without quotes, of a table p_table_code of two parts; NULLs '
'for one of three, which lies in another catalogue. No locks.';
