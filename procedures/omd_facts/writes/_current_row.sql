-- Parents of a row are looked for by the key that it names.

CREATE OR REPLACE FUNCTION omd_facts._current_row(
    p_entity_id integer,
    p_key jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $current_row$
DECLARE
    v_statement text;
    v_row jsonb;
BEGIN
    SELECT
        format(
            'SELECT to_jsonb(f) FROM jsonb_to_record($1) AS k (%s) INNER JOIN %I.%I AS f ON %s',
            string_agg(format('%I %s', a.attribute_code, a.data_type), ', '),
            'gdal_' || i.interface_code,
            e.entity_code,
            string_agg(format('f.%1$I = k.%1$I', a.attribute_code), ' AND ')
        )
    INTO v_statement
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    INNER JOIN omd_facts.attribute AS a USING (entity_id)
    WHERE e.entity_id = p_entity_id AND a.key_position IS NOT NULL
    GROUP BY i.interface_code, e.entity_code;
    EXECUTE v_statement INTO v_row USING p_key;
    RETURN v_row;
END
$current_row$;

COMMENT ON FUNCTION omd_facts._current_row IS
'Returns the current row of the entity p_entity_id with the key p_key; NULL when there is none. '
'Locks: none.';
