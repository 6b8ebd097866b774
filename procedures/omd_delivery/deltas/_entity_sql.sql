-- Names and types are those of the registry, quoted; every statement over generated tables is
-- composed of them.

CREATE OR REPLACE FUNCTION omd_delivery._entity_sql(
    p_entity_id integer,
    OUT lvl_table text,
    OUT delta_table text,
    OUT key_columns text,
    OUT key_types text,
    OUT key_match text,
    OUT columns text,
    OUT is_same text,
    OUT take_last text,
    OUT keep_key text,
    OUT keep_retired text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $entity_sql$
BEGIN
    SELECT
        format('%I.%I', i.lvl_schema, e.entity_code),
        format('%I.%I', i.work_schema, 'delta_' || e.entity_code)
    INTO lvl_table, delta_table
    FROM omd_delivery.entity AS e
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id;
    SELECT
        string_agg(quote_ident(a.attribute_code), ', ' ORDER BY a.key_position)
        FILTER (WHERE a.key_position IS NOT NULL),
        string_agg(format('%I %s', a.attribute_code, a.data_type), ', ' ORDER BY a.key_position)
        FILTER (WHERE a.key_position IS NOT NULL),
        string_agg(format('l.%1$I = d.%1$I', a.attribute_code), ' AND ' ORDER BY a.key_position)
        FILTER (WHERE a.key_position IS NOT NULL),
        string_agg(quote_ident(a.attribute_code), ', ' ORDER BY a.ordinal),
        coalesce(
            string_agg(
                format('l.%1$I IS NOT DISTINCT FROM d.%1$I', a.attribute_code), ' AND '
                ORDER BY a.ordinal
            ) FILTER (WHERE a.key_position IS NULL AND NOT a.is_retired),
            'TRUE'
        ),
        concat(
            string_agg(format('%1$I = l.%1$I, ', a.attribute_code), '' ORDER BY a.ordinal)
            FILTER (WHERE a.key_position IS NULL),
            'acm_hash_a = l.acm_hash_a, acm_hash_b = l.acm_hash_b'
        ),
        concat(
            string_agg(format('%I = NULL, ', a.attribute_code), '' ORDER BY a.ordinal)
            FILTER (WHERE a.key_position IS NULL),
            'acm_hash_a = NULL, acm_hash_b = NULL'
        ),
        string_agg(format('%1$I = l.%1$I', a.attribute_code), ', ' ORDER BY a.ordinal)
        FILTER (WHERE a.is_retired)
    INTO
        key_columns, key_types, key_match, columns, is_same, take_last, keep_key, keep_retired
    FROM omd_delivery.attribute AS a
    WHERE a.entity_id = p_entity_id;
    IF omd_delivery._has_lines(delta_table) THEN
        columns := columns || ', acm_source_file, acm_source_line';
    END IF;
END
$entity_sql$;

COMMENT ON FUNCTION omd_delivery._entity_sql IS
'Returns the pieces of SQL from which statements about the entity p_entity_id are composed; l is '
'a row of its table in LVL, d one of its delta. columns has file and line where they are kept. '
'keep_retired is NULL where no attribute is '
'retired. Locks: none.';
