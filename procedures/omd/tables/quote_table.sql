-- A name follows the rules of SQL: it has one to three parts, and a letter outside quotes folds to
-- lower case. In PostgreSQL the answer is the one spelling under which OMD keeps a table, so that
-- two texts are equal when they name the same one.

CREATE OR REPLACE FUNCTION omd.quote_table(
    p_table_code text,
    p_platform_code text
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $quote_table$
DECLARE
    v_parts text[];
BEGIN
    BEGIN
        v_parts := parse_ident(p_table_code);
    EXCEPTION
        WHEN invalid_parameter_value THEN
            RETURN NULL;
    END;

    IF p_platform_code = 'POSTGRES' THEN
        IF cardinality(v_parts) IS DISTINCT FROM 2 THEN
            RETURN NULL;
        END IF;
        RETURN format('%I.%I', v_parts[1]::name, v_parts[2]::name);
    END IF;

    IF cardinality(v_parts) > 3 THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT string_agg('`' || replace(part, '`', '``') || '`', '.' ORDER BY n)
        FROM unnest(v_parts) WITH ORDINALITY AS p (part, n)
    );
END
$quote_table$;

COMMENT ON FUNCTION omd.quote_table IS
'For the driver: Returns the table code p_table_code quoted for the dialect of p_platform_code: '
'schema.table in PostgreSQL, with quotes where they are needed; back-quoted parts in Spark SQL; '
'NULL when it is not a name that the platform takes. No locks.';
GRANT EXECUTE ON FUNCTION omd.quote_table TO omd_reader;
