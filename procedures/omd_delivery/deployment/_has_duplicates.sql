-- An attribute that is added with the key is NULL in every row, and NULLs are never duplicates.

CREATE OR REPLACE FUNCTION omd_delivery._has_duplicates(
    p_entity_id integer,
    p_attribute_codes text[]
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $has_duplicates$
DECLARE
    v_entity record;
    v_has_duplicates boolean;
BEGIN
    SELECT
        i.lvl_schema,
        e.entity_code,
        string_agg(quote_ident(a.attribute_code), ', ') AS columns,
        string_agg(quote_ident(a.attribute_code) || ' IS NOT NULL', ' AND ') AS filled,
        count(*) AS column_count
    INTO v_entity
    FROM omd_delivery.entity AS e
    INNER JOIN omd_delivery.interface AS i USING (interface_id)
    INNER JOIN omd_delivery.attribute AS a USING (entity_id)
    WHERE e.entity_id = p_entity_id AND a.attribute_code = ANY(p_attribute_codes)
    GROUP BY i.lvl_schema, e.entity_code;
    IF coalesce(v_entity.column_count, 0) < cardinality(p_attribute_codes) THEN
        RETURN FALSE;
    END IF;
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %I.%I WHERE acm_end_dt = %L AND ''R'' <> acm_record_ind'
        ' AND %s GROUP BY %s HAVING count(*) > 1)',
        v_entity.lvl_schema, v_entity.entity_code, omd_delivery._open_end(),
        v_entity.filled, v_entity.columns
    ) INTO v_has_duplicates;
    RETURN v_has_duplicates;
END
$has_duplicates$;

COMMENT ON FUNCTION omd_delivery._has_duplicates IS
'Returns whether two current rows of the entity p_entity_id have the same values, none of them '
'NULL, in the attributes p_attribute_codes. Locks: none.';
