-- A value that a file can't hold is refused by name, and not written as another one. Those of
-- double precision have their place in files.

CREATE OR REPLACE FUNCTION omd_facts._exported_sql(
    p_entity_id integer,
    p_attribute_code text,
    p_value text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $exported_sql$
BEGIN
    RETURN (
        SELECT
            CASE
                WHEN a.data_type = 'double precision'
                    OR omd_facts._odd_value_sql(a.data_type, p_value) IS NULL
                    THEN p_value
                ELSE
                    format(
                        'CASE WHEN %s THEN omd_facts._refuse_export(%L, %L, %s::text)::%s ELSE %s END',
                        omd_facts._odd_value_sql(a.data_type, p_value),
                        e.entity_code, p_attribute_code, p_value, a.data_type, p_value
                    )
            END
        FROM omd_facts.attribute AS a
        INNER JOIN omd_facts.entity AS e USING (entity_id)
        WHERE a.entity_id = p_entity_id AND a.attribute_code = p_attribute_code
    );
END
$exported_sql$;

COMMENT ON FUNCTION omd_facts._exported_sql IS
'Returns the expression p_value of the attribute p_attribute_code of the entity p_entity_id, as an '
'export takes it. Locks: none.';
