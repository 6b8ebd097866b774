-- Both engines order, compare and partition by this text, so that they agree. Its bytes are in
-- the order of the values: a digit tells NULL, then come the hex digits of the value with its
-- sign bit turned; a text ends with 00, which no character has. DESC complements all digits.

CREATE OR REPLACE FUNCTION omd_decision._sort_key_sql(
    p_expression text,
    p_family text,
    p_direction text
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $sort_key_sql$
DECLARE
    v_hex text := CASE p_family
        WHEN 'boolean' THEN format(
            'CASE %s WHEN TRUE THEN ''01'' WHEN FALSE THEN ''00'' END', p_expression
        )
        WHEN 'integer' THEN format(
            'encode(int8send((%s)::bigint # (-9223372036854775808)), ''hex'')', p_expression
        )
        WHEN 'text' THEN format(
            'encode(convert_to((%s)::text, ''UTF8''), ''hex'') || ''00''', p_expression
        )
        WHEN 'uuid' THEN format('encode(uuid_send(%s), ''hex'')', p_expression)
        ELSE format(
            'encode(set_byte(%1$s(%2$s), 0, get_byte(%1$s(%2$s), 0) # 128), ''hex'')',
            p_family || '_send',
            p_expression
        )
    END;
BEGIN
    v_hex := format('coalesce(''1'' || (%s), ''0'')', v_hex);
    RETURN CASE p_direction
        WHEN 'DESC' THEN format('translate(%s, ''0123456789abcdef'', ''fedcba9876543210'')', v_hex)
        ELSE v_hex
    END;
END
$sort_key_sql$;

COMMENT ON FUNCTION omd_decision._sort_key_sql IS
'Returns an SQL expression for the sort key of the expression p_expression, whose type is of the '
'family p_family (see _type_family), in p_direction, ASC or DESC. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._sort_key_sql TO omd_reader, omd_runner;
