-- Size and time of a file are what any file system knows of it without reading it.

CREATE OR REPLACE FUNCTION omd_delivery._files_problem(
    p_delivery_id bigint,
    p_entity_code text,
    p_files jsonb
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $files_problem$
BEGIN
    RETURN (
        SELECT format(
            '%s %s',
            coalesce(f.uri, l.uri),
            CASE
                WHEN f.uri IS NULL THEN 'is new'
                WHEN l.uri IS NULL THEN 'is gone'
                WHEN f.bytes <> l.bytes
                    THEN format('has %s bytes, and had %s', l.bytes, f.bytes)
                ELSE format(
                    'was written at %s, and had been at %s',
                    l.modified_datetime, f.modified_datetime
                )
            END
        )
        FROM (
            SELECT e.entity_code, f.uri, f.bytes, f.modified_datetime
            FROM omd_delivery.delivery_file AS f
            INNER JOIN omd_delivery.entity AS e USING (entity_id)
            WHERE f.delivery_id = p_delivery_id
                AND (p_entity_code IS NULL OR e.entity_code = p_entity_code)
        ) AS f
        FULL JOIN (
            SELECT
                coalesce(l.entity_code, p_entity_code) AS entity_code,
                l.uri,
                l.bytes,
                l.modified_datetime
            FROM omd_delivery._listed_files(p_files) AS l
        ) AS l ON f.entity_code = l.entity_code AND f.uri = l.uri
        WHERE f.bytes IS DISTINCT FROM l.bytes
            OR f.modified_datetime IS DISTINCT FROM l.modified_datetime
        ORDER BY coalesce(f.entity_code, l.entity_code), coalesce(f.uri, l.uri)
        LIMIT 1
    );
END
$files_problem$;

COMMENT ON FUNCTION omd_delivery._files_problem IS
'Returns how p_files, what is there now, differ from the recorded files of the delivery '
'p_delivery_id for the entity p_entity_code (NULL: for all of its); NULL: they do not. Errors: '
'OM036: p_files is no list of files. Locks: none.';
