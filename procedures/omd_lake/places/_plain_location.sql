-- One folder can be written in many ways, and two folders are compared in one. A URI of a local
-- file and its path are the same, and so are the schemes under which engines know a store. Engines
-- differ on percent signs: some decode them, others take them as they stand. So a comparison is
-- made both ways (_lies_within). A symbolic link can't be seen from here; the driver looks at it.

CREATE OR REPLACE FUNCTION omd_lake._plain_location(
    p_location text,
    p_is_decoded boolean DEFAULT FALSE
)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plain_location$
DECLARE
    v_scheme text := lower(substring(p_location FROM '^([A-Za-z][A-Za-z0-9+.-]*):'));
    v_rest text := substr(p_location, coalesce(length(v_scheme) + 2, 1));
    v_authority text := '';
    v_escape text;
    v_segment text;
    v_segments text[] := '{}'::text[];
BEGIN
    IF starts_with(v_rest, '/') IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    IF v_scheme IS NOT NULL THEN
        IF v_rest ~ '[?#]' THEN
            RETURN NULL;
        END IF;
        IF starts_with(v_rest, '//') THEN
            v_authority := lower(split_part(substr(v_rest, 3), '/', 1));
            v_rest := substr(v_rest, 3 + length(v_authority));
        END IF;
        v_scheme := CASE
            WHEN v_scheme IN ('s3a', 's3n') THEN 's3'
            WHEN v_scheme IN ('abfs', 'wasb', 'wasbs') THEN 'abfss'
            WHEN v_scheme = 'gcs' THEN 'gs'
            ELSE v_scheme
        END;
        IF v_scheme = 'file' AND v_authority IN ('', 'localhost') THEN
            v_scheme := NULL;
        END IF;
    END IF;
    IF p_is_decoded THEN
        FOR v_escape IN
            SELECT DISTINCT m.m[1] FROM regexp_matches(v_rest, '%[0-9A-Fa-f]{2}', 'g') AS m (m)
            ORDER BY 1 DESC
        LOOP
            v_rest := replace(
                v_rest,
                v_escape,
                CASE
                    WHEN upper(v_escape) BETWEEN '%20' AND '%7E'
                        THEN chr(get_byte(decode(substr(v_escape, 2), 'hex'), 0))
                    ELSE upper(v_escape)
                END
            );
        END LOOP;
        FOR v_escape IN
            SELECT DISTINCT m.m[1] FROM regexp_matches(v_rest, '[^ -~]', 'g') AS m (m)
        LOOP
            v_rest := replace(
                v_rest,
                v_escape,
                regexp_replace(
                    upper(encode(convert_to(v_escape, 'UTF8'), 'hex')), '(..)', '%\1', 'g'
                )
            );
        END LOOP;
    END IF;
    FOREACH v_segment IN ARRAY string_to_array(v_rest, '/')
    LOOP
        IF v_segment = '..' THEN
            v_segments := trim_array(v_segments, least(1, cardinality(v_segments)));
        ELSIF v_segment NOT IN ('', '.') THEN
            v_segments := v_segments || v_segment;
        END IF;
    END LOOP;
    RETURN coalesce(v_scheme || '://' || v_authority, '')
        || CASE WHEN v_segments = '{}' THEN '' ELSE '/' || array_to_string(v_segments, '/') END;
END
$plain_location$;

COMMENT ON FUNCTION omd_lake._plain_location IS
'Returns the location p_location (an absolute path or a URI) in the one form in which locations '
'are compared: without doubled slashes, . and .., the path of a local URI, one scheme for each '
'store, its host in lower case. p_is_decoded: characters that are escaped by a percent sign are '
'decoded. NULL when it is no such location, or a URI with a query or a fragment. No locks.';
