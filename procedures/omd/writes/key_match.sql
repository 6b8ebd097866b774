-- A key comes as JSON. Each value is read as the type of its column, so that an index of the table
-- finds it; a NULL finds rows without a value. The text is executed with the rights of the caller.

CREATE OR REPLACE FUNCTION omd.key_match(
    p_types jsonb,
    p_key jsonb,
    OUT definitions text,
    OUT condition text,
    OUT problem text
)
RETURNS record
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $key_match$
DECLARE
    v_unknown text;
BEGIN
    IF jsonb_typeof(p_key) IS DISTINCT FROM 'object' OR p_key = '{}' THEN
        problem := 'the key is no object of columns and values';
        RETURN;
    END IF;
    SELECT
        string_agg(format('%I %s', k.key, p_types ->> k.key), ', ' ORDER BY k.key),
        string_agg(
            CASE
                WHEN k.value = 'null' THEN format('t.%I IS NULL', k.key)
                ELSE format('t.%1$I = k.%1$I', k.key)
            END,
            ' AND ' ORDER BY k.key
        ),
        min(k.key) FILTER (WHERE NOT p_types ? k.key)
    INTO definitions, condition, v_unknown
    FROM jsonb_each(p_key) AS k;
    IF v_unknown IS NOT NULL THEN
        problem := format('it has no column %s', v_unknown);
    END IF;
END
$key_match$;

COMMENT ON FUNCTION omd.key_match IS
'For rooms: Returns how a row t is found by the key p_key (an object of columns and values) of a '
'relation whose columns have the types p_types: definitions, the columns of jsonb_to_record($1) AS '
'k, and the condition that joins t. problem: what is wrong with the key; else NULL. Locks: none.';
