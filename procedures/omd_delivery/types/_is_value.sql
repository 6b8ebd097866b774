-- A value of an enumeration is compared with cast ones, so it is written as its type is staged.

CREATE OR REPLACE FUNCTION omd_delivery._is_value(
    p_data_type text,
    p_value jsonb
)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
AS $is_value$
DECLARE
    v_text CONSTANT text := p_value #>> '{}';
    v_kind CONSTANT text := omd_delivery._type_kind(p_data_type);
    v_size CONSTANT integer[]
    := regexp_split_to_array(substring(p_data_type FROM '[(](.*)[)]'), ',')::integer[];
BEGIN
    IF jsonb_typeof(p_value) NOT IN ('string', 'number', 'boolean') THEN
        RETURN FALSE;
    END IF;
    CASE v_kind
        WHEN 'text' THEN
            RETURN jsonb_typeof(p_value) = 'string'
                AND v_text <> '' AND coalesce(length(v_text) <= v_size[1], TRUE);
        WHEN 'boolean' THEN
            RETURN jsonb_typeof(p_value) = 'boolean';
        WHEN 'integer' THEN
            IF v_text !~ '^[-+]?[0-9]{1,30}$' THEN
                RETURN FALSE;
            END IF;
            RETURN CASE p_data_type
                WHEN 'smallint' THEN abs(v_text::numeric + 0.5) < 32768
                WHEN 'integer' THEN abs(v_text::numeric + 0.5) < 2147483648
                ELSE abs(v_text::numeric + 0.5) < 9223372036854775808
            END;
        WHEN 'numeric' THEN
            IF v_text !~ '^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)$' OR length(v_text) > 100 THEN
                RETURN FALSE;
            END IF;
            RETURN v_text::numeric = round(v_text::numeric, v_size[2])
                AND abs(v_text::numeric) < 10::numeric ^ (v_size[1] - v_size[2]);
        WHEN 'double precision' THEN
            RETURN v_text ~ '^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?$'
                AND v_text::double precision IS NOT NULL;
        WHEN 'date' THEN
            RETURN v_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' AND v_text::date::text = v_text;
        ELSE
            IF v_text !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?'
                '(Z|[-+][0-9]{2}:[0-9]{2})?$'
                OR (v_kind = 'timestamp' AND v_text ~ '(Z|[-+][0-9]{2}:[0-9]{2})$')
            THEN
                RETURN FALSE;
            END IF;
            RETURN left(left(v_text, 19)::timestamp::text, 19) = replace(left(v_text, 19), 'T', ' ')
                AND v_text::timestamptz IS NOT NULL;
    END CASE;
EXCEPTION
    WHEN data_exception THEN
        RETURN FALSE;
END
$is_value$;

COMMENT ON FUNCTION omd_delivery._is_value IS
'Returns whether the JSON value p_value is a value of the type p_data_type. Locks: none.';
