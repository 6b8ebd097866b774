-- This is the only place that knows where a table lies. A name may be anything, but a folder can't:
-- a slash would lie inside of another table, and engines take some characters for patterns or
-- partitions. So every byte outside of the plain ones is written as ~ and two hexadecimal digits;
-- the ~ is one of them, so that two names never share a folder.

CREATE OR REPLACE FUNCTION omd_lake._location(
    p_table_code text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $location$
DECLARE
    v_namespace text;
    v_name text;
    v_location text;
BEGIN
    SELECT n.p_namespace, n.p_name INTO v_namespace, v_name
    FROM omd_lake._catalogue_name(p_table_code) AS n;
    IF v_name IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT p.property_value::text INTO v_location
    FROM omd_lake.iceberg_namespace_properties AS p
    WHERE p.catalog_name = 'omd' AND p.namespace = v_namespace AND p.property_key = 'location';
    IF v_location IS NULL THEN
        PERFORM omd.raise_error(
            'OM220',
            jsonb_build_object('namespace', quote_ident(v_namespace), 'table_code', p_table_code)
        );
    END IF;
    IF v_name !~ '^[A-Za-z0-9_-][A-Za-z0-9_.-]*$' THEN
        SELECT
            string_agg(
                CASE
                    WHEN c.c ~ '^[A-Za-z0-9_-]$' THEN c.c
                    ELSE
                        regexp_replace(
                            upper(encode(convert_to(c.c, 'UTF8'), 'hex')), '(..)', '~\1', 'g'
                        )
                END,
                '' ORDER BY c.n
            )
        INTO v_name
        FROM string_to_table(v_name, NULL) WITH ORDINALITY AS c (c, n);
    END IF;
    RETURN rtrim(v_location, '/') || '/' || v_name;
END
$location$;

COMMENT ON FUNCTION omd_lake._location IS
'Returns the folder of the table p_table_code: that of its namespace and its name; NULL for one of'
' another catalogue. Errors: OM220. Locks: none.';
REVOKE ALL ON FUNCTION omd_lake._location FROM PUBLIC;
