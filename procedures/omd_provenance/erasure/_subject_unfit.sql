-- What belongs to omd_owner is erased by its room, which knows more of it.

CREATE OR REPLACE FUNCTION omd_provenance._subject_unfit(
    p_table_code text,
    p_columns jsonb,
    p_action text,
    p_key text[]
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $subject_unfit$
DECLARE
    v_table record;
    v_column record;
    v_named text[];
BEGIN
    IF p_action NOT IN ('DELETE', 'NULL') THEN
        RETURN 'the action is DELETE or NULL';
    ELSIF jsonb_typeof(p_columns) <> 'object' OR p_columns = '{}' OR EXISTS (
        SELECT FROM jsonb_each(
            CASE jsonb_typeof(p_columns) WHEN 'object' THEN p_columns ELSE '{}' END
        ) AS c
        WHERE jsonb_typeof(c.value) <> 'string'
    ) THEN
        RETURN 'columns are an object, {column: attribute of the key}';
    END IF;
    SELECT array_agg(DISTINCT c.attribute ORDER BY c.attribute) INTO v_named
    FROM jsonb_each_text(p_columns) AS c (name, attribute);
    IF v_named <> ARRAY(SELECT k.code FROM unnest(p_key) AS k (code) ORDER BY k.code) THEN
        RETURN format('the key has the attributes %s', array_to_string(p_key, ', '));
    ELSIF p_table_code LIKE 'omd\_dispatch.%' THEN
        RETURN omd_dispatch.tasks_unfit(
            substr(p_table_code, 14), ARRAY(SELECT jsonb_object_keys(p_columns)), p_action = 'NULL'
        );
    END IF;
    SELECT c.oid, c.relkind, pg_get_userbyid(c.relowner) = 'omd_owner' AS is_of_rooms INTO v_table
    FROM pg_class AS c
    WHERE c.oid = omd.target_relation(p_table_code);
    IF NOT FOUND THEN
        RETURN CASE
            WHEN omd_lake.is_catalogued(p_table_code) THEN NULL
            WHEN omd_lake.is_known(p_table_code)
                THEN 'of the lake only Iceberg tables of the catalogue of OMD are rewritten'
            ELSE 'there is no such table'
        END;
    ELSIF v_table.relkind NOT IN ('r', 'p') THEN
        RETURN 'it is no table';
    ELSIF v_table.is_of_rooms OR p_table_code ~ '^(pg_|information_schema[.])' THEN
        RETURN 'it is no table of a user';
    END IF;
    FOR v_column IN
        SELECT c.name, a.attname, a.attnotnull, a.attgenerated, a.attidentity
        FROM jsonb_object_keys(p_columns) AS c (name)
        LEFT JOIN pg_attribute AS a
            ON a.attrelid = v_table.oid
                AND c.name = a.attname
                AND a.attnum > 0
                AND NOT a.attisdropped
        ORDER BY c.name
    LOOP
        IF v_column.attname IS NULL THEN
            RETURN format('there is no column %s', left(v_column.name, 63));
        ELSIF p_action = 'NULL' AND (v_column.attnotnull OR v_column.attgenerated <> '') THEN
            RETURN format('the column %s can''t become NULL', v_column.name);
        END IF;
    END LOOP;
    RETURN NULL;
END
$subject_unfit$;

COMMENT ON FUNCTION omd_provenance._subject_unfit IS
'Returns why the table p_table_code, whose columns p_columns hold a key of the attributes p_key, '
'can''t be erased by p_action; NULL: it can. Locks: none.';
