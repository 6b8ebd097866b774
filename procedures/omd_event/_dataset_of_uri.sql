-- The names are those of OpenLineage's naming: an object store has keys, which have no slash in
-- front; a local file has the namespace file.

CREATE OR REPLACE FUNCTION omd_event._dataset_of_uri(
    p_uri text
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p.parts IS NULL OR (s.scheme = 'file' AND coalesce(p.parts[2], '') IN ('', 'localhost'))
                THEN
                    jsonb_build_object(
                        'namespace', 'file', 'name', n.path
                    )
            ELSE
                jsonb_build_object(
                    'namespace', s.scheme || '://' || coalesce(p.parts[2], ''),
                    'name',
                    CASE
                        WHEN s.scheme IN ('s3', 'gs', 'wasb', 'wasbs')
                            THEN coalesce(nullif(ltrim(n.path, '/'), ''), '/')
                        ELSE n.path
                    END
                )
        END
    FROM
        regexp_match(p_uri, '^([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(/.*)?$') AS p (parts)
    CROSS JOIN LATERAL (
        SELECT
            CASE lower(p.parts[1])
                WHEN 's3a' THEN 's3'
                WHEN 's3n' THEN 's3'
                ELSE lower(p.parts[1])
            END AS scheme
    ) AS s
    CROSS JOIN LATERAL (
        SELECT
            coalesce(
                nullif(
                    rtrim(
                        CASE WHEN p.parts IS NULL THEN p_uri ELSE coalesce(p.parts[3], '') END,
                        '/'
                    ),
                    ''
                ),
                '/'
            ) AS path
    ) AS n;
END;

COMMENT ON FUNCTION omd_event._dataset_of_uri IS
'Returns namespace and name that a folder or file has in OpenLineage. p_uri: a URI, or a path of '
'this host. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._dataset_of_uri FROM PUBLIC;
