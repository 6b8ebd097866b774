-- A text in quotes is of the type of what it is compared with, as in PostgreSQL.

CREATE OR REPLACE FUNCTION omd_delivery._check_literal(
    p_text text,
    p_kind text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_literal$
DECLARE
    v_zoned boolean;
BEGIN
    CASE p_kind
        WHEN 'text' THEN
            RETURN omd_delivery._spark_text(p_text);
        WHEN 'boolean' THEN
            RETURN CASE
                WHEN lower(p_text) IN ('t', 'true', 'y', 'yes', 'on', '1') THEN 'TRUE'
                WHEN lower(p_text) IN ('f', 'false', 'n', 'no', 'off', '0') THEN 'FALSE'
            END;
        WHEN 'integer' THEN
            RETURN substring(btrim(p_text) FROM '^[-+]?[0-9]{1,18}$');
        WHEN 'numeric' THEN
            RETURN substring(btrim(p_text) FROM '^[-+]?[0-9]{1,19}(?:\.[0-9]{1,18})?$') || 'BD';
        WHEN 'double precision' THEN
            RETURN substring(
                btrim(p_text) FROM '^[-+]?[0-9]{1,19}(?:\.[0-9]{1,18})?(?:[eE][-+]?[0-9]{1,3})?$'
            ) || 'D';
        WHEN 'date' THEN
            IF omd_delivery._is_value('date', to_jsonb(p_text)) THEN
                RETURN format('DATE''%s''', p_text);
            END IF;
        WHEN 'timestamp' THEN
            IF omd_delivery._is_value('timestamp without time zone', to_jsonb(p_text)) THEN
                RETURN format('TIMESTAMP_NTZ''%s''', p_text);
            END IF;
        WHEN 'timestamptz' THEN
            v_zoned := p_text ~ '(Z|[-+][0-9]{2}:[0-9]{2})$' AND length(p_text) > 16;
            IF omd_delivery._is_value('timestamp with time zone', to_jsonb(p_text)) THEN
                RETURN format(
                    'TIMESTAMP_LTZ''%s%s''', p_text, CASE WHEN v_zoned THEN '' ELSE 'Z' END
                );
            END IF;
    END CASE;
    RETURN NULL;
END
$check_literal$;

COMMENT ON FUNCTION omd_delivery._check_literal IS
'Returns the text p_text as a literal of Spark SQL of the kind p_kind; NULL when it is none. Times'
' without a zone are UTC. Locks: none.';
