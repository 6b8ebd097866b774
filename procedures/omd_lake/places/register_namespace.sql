-- A folder inside of another namespace could be a table there, and the maintenance of one would
-- meet the files of the other, however both are spelled. The lock makes two registrations at once
-- see each other.

CREATE OR REPLACE PROCEDURE omd_lake.register_namespace(
    p_namespace text,
    p_location text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_namespace$
DECLARE
    v_name text := omd.spell_table(p_namespace);
    v_location text := rtrim(p_location, '/');
    v_present text;
    v_other text;
    v_expected text;
BEGIN
    PERFORM omd.require_name('p_namespace', p_namespace);
    PERFORM omd.require_name('p_location', p_location);
    IF v_name IS NULL OR cardinality(parse_ident(v_name)) <> 1
        OR length((parse_ident(v_name))[1]) > 255
    THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_namespace', 'value', left(p_namespace, 60),
                'expected', 'one name of at most 255 characters, with double quotes where it needs '
                    'them'
            )
        );
    END IF;
    v_name := (parse_ident(v_name))[1];

    LOCK TABLE omd_lake.iceberg_namespace_properties IN SHARE ROW EXCLUSIVE MODE;
    SELECT p.property_value::text INTO v_present
    FROM omd_lake.iceberg_namespace_properties AS p
    WHERE p.catalog_name = 'omd' AND p.namespace = v_name AND p.property_key = 'location';
    IF omd_lake._lies_within(v_present, v_location)
        AND omd_lake._lies_within(v_location, v_present)
    THEN
        RETURN;
    END IF;
    SELECT p.namespace::text INTO v_other
    FROM omd_lake.iceberg_namespace_properties AS p
    WHERE p.catalog_name = 'omd' AND p.namespace <> v_name AND p.property_key = 'location'
        AND omd_lake._overlap(p.property_value, v_location)
    LIMIT 1;
    v_expected := CASE
        WHEN coalesce(omd_lake._plain_location(v_location), '') = ''
            THEN 'an absolute path, or a URI without a query and a fragment'
        WHEN length(v_location) > 1000 THEN 'a location of at most 1000 characters'
        WHEN v_other IS NOT NULL
            THEN format('a folder that shares nothing with that of the namespace %I', v_other)
        WHEN omd_lake._is_closed(v_location)
            THEN 'a folder outside of the lake of the installation that this one is a copy of'
        WHEN
            v_present IS NOT NULL
            AND omd_lake._has_tables(v_name)
            AND NOT omd_lake._is_closed(v_present)
            THEN format('%s as before, since the namespace has tables', v_present)
    END;
    IF v_expected IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_location', 'value', left(p_location, 100), 'expected', v_expected
            )
        );
    END IF;

    INSERT INTO omd_lake.iceberg_namespace_properties (
        catalog_name, namespace, property_key, property_value
    )
    VALUES ('omd', v_name, 'exists', 'true'), ('omd', v_name, 'location', v_location)
    ON CONFLICT (catalog_name, namespace, property_key)
    DO UPDATE SET property_value = excluded.property_value;
END
$register_namespace$;

COMMENT ON PROCEDURE omd_lake.register_namespace IS
'Registers the namespace p_namespace of lake tables, which lie in p_location/<table>. p_namespace: '
'one name. p_location: an absolute path, or a URI such as s3a://bucket/lake; while the namespace '
'has no table, or this is a copy and the location that of the original, another call moves it; '
'another spelling of the same folder changes nothing. Errors: OM005, OM013: it is no such name or '
'location, lies in that of another namespace or around it, or the namespace has tables elsewhere. '
'Locks: the namespaces, until the transaction ends. Call again '
'when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_lake.register_namespace TO omd_admin;
