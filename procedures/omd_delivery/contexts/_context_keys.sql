-- Keys are compared as their types print them, so that 1 and "1" are the same key. As in a cast of
-- a staged value nothing is rounded, and nothing is infinite. The text is composed of the
-- registered names and types.

CREATE OR REPLACE FUNCTION omd_delivery._context_keys(
    p_entity_id integer,
    p_keys jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET timezone = 'UTC'
AS $context_keys$
DECLARE
    v_key text[];
    v_columns text;
    v_is_key text;
    v_keys jsonb;
BEGIN
    SELECT
        array_agg(a.attribute_code ORDER BY a.attribute_code),
        string_agg(format('%I %s', a.attribute_code, a.data_type), ', ' ORDER BY a.key_position),
        string_agg(
            format(
                CASE
                    WHEN t.kind = 'numeric'
                        THEN '(j.key ->> %2$L)::numeric = k.%1$I AND k.%1$I <> ''NaN'''
                    WHEN t.kind = 'double precision' THEN 'abs(k.%1$I) < ''Infinity'''
                    WHEN t.kind IN ('date', 'timestamp', 'timestamptz') THEN 'isfinite(k.%1$I)'
                    ELSE 'k.%1$I IS NOT NULL'
                END,
                a.attribute_code,
                a.attribute_code
            ),
            ' AND ' ORDER BY a.key_position
        )
    INTO v_key, v_columns, v_is_key
    FROM omd_delivery.attribute AS a
    CROSS JOIN LATERAL omd_delivery._type_kind(a.data_type) AS t (kind)
    WHERE a.entity_id = p_entity_id AND a.key_position IS NOT NULL;
    IF jsonb_typeof(p_keys) IS DISTINCT FROM 'array' OR p_keys = '[]' OR EXISTS (
        SELECT FROM jsonb_array_elements(p_keys) AS k (key)
        WHERE CASE jsonb_typeof(k.key)
            WHEN 'object' THEN v_key <> ARRAY(SELECT jsonb_object_keys(k.key) AS c ORDER BY c)
            ELSE TRUE
        END
    ) THEN
        RETURN NULL;
    END IF;
    EXECUTE format(
        'SELECT CASE WHEN bool_and(coalesce(%s, FALSE)) THEN jsonb_agg(DISTINCT to_jsonb(k)) END '
        'FROM jsonb_array_elements($1) AS j (key) '
        'CROSS JOIN LATERAL jsonb_to_record(j.key) AS k (%s)',
        v_is_key, v_columns
    )
    INTO v_keys
    USING p_keys;
    RETURN v_keys;
EXCEPTION
    WHEN data_exception THEN
        RETURN NULL;
END
$context_keys$;

COMMENT ON FUNCTION omd_delivery._context_keys IS
'Returns the list p_keys of keys of the entity p_entity_id, each {attribute: value}, with typed '
'values, sorted and without repetitions; NULL when it is none. Locks: none.';
