-- Days and times are compared in UTC, whatever the zone of a session is. Numbers become each other
-- in both engines in the same way.

CREATE OR REPLACE FUNCTION omd_delivery._check_as(
    p_node jsonb,
    p_kind text
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $check_as$
DECLARE
    v_kind CONSTANT text := p_node ->> 'kind';
    v_spark text := p_node ->> 'spark';
    v_text CONSTANT text := p_node ->> 'text';
BEGIN
    IF v_kind = p_kind OR (v_kind = 'unknown' AND v_text IS NULL) THEN
        RETURN p_node;
    ELSIF v_text IS NOT NULL AND p_kind IN ('timestamp', 'timestamptz')
        AND v_kind IN ('date', 'timestamp')
    THEN
        v_spark := omd_delivery._check_literal(
            v_text || CASE v_kind WHEN 'date' THEN ' 00:00:00' ELSE '' END, p_kind
        );
    ELSIF v_kind = 'unknown' THEN
        v_spark := omd_delivery._check_literal(v_text, p_kind);
        IF v_spark IS NULL THEN
            RAISE EXCEPTION USING
                ERRCODE = 'syntax_error',
                MESSAGE = format('%s is no value of the type %s', quote_literal(v_text), p_kind);
        END IF;
    ELSIF p_kind = 'timestamp' THEN
        v_spark := format('CAST(%s AS TIMESTAMP_NTZ)', v_spark);
    ELSIF p_kind = 'timestamptz' THEN
        v_spark := format(
            'CAST(concat(CAST(%s AS STRING), ''%s'') AS TIMESTAMP_LTZ)', v_spark,
            CASE v_kind WHEN 'date' THEN ' 00:00:00Z' ELSE 'Z' END
        );
    END IF;
    RETURN p_node || jsonb_build_object('kind', p_kind, 'spark', v_spark);
END
$check_as$;

COMMENT ON FUNCTION omd_delivery._check_as IS
'Returns the part p_node of a check as one of the kind p_kind, which its own kind becomes. Errors:'
' 42601: a text in quotes is no value of it. Locks: none.';
