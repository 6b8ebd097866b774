-- The names are those of OpenLineage's naming: an object store has keys, which have no slash in
-- front; a local file has the namespace file.

CREATE OR REPLACE FUNCTION omd_event._dataset_of_uri(
    p_uri text
)
RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $dataset_of_uri$
DECLARE
    v_parts CONSTANT text[] := coalesce(
        regexp_match(p_uri, '^([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(/.*)?$'),
        ARRAY['file', '', p_uri]
    );
    v_scheme CONSTANT text := regexp_replace(lower(v_parts[1]), '^s3[an]$', 's3');
    v_authority CONSTANT text := coalesce(v_parts[2], '');
    v_path CONSTANT text := coalesce(nullif(rtrim(v_parts[3], '/'), ''), '/');
BEGIN
    RETURN jsonb_build_object(
        'namespace',
        CASE
            WHEN v_scheme = 'file' AND v_authority IN ('', 'localhost') THEN 'file'
            ELSE v_scheme || '://' || v_authority
        END,
        'name',
        CASE
            WHEN v_scheme IN ('s3', 'gs', 'wasb', 'wasbs')
                THEN coalesce(nullif(ltrim(v_path, '/'), ''), '/')
            ELSE v_path
        END
    );
END
$dataset_of_uri$;

COMMENT ON FUNCTION omd_event._dataset_of_uri IS
'Returns namespace and name that a folder or file has in OpenLineage. p_uri: a URI, or a path of '
'this host. Locks: none.';
