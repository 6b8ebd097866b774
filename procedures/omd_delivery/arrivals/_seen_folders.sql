-- A look and the look after staging was read are compared, so both come through here. A path is
-- written as JSON, so that no name can be taken for the next field.

CREATE OR REPLACE FUNCTION omd_delivery._seen_folders(
    p_agreement omd_delivery.agreement,
    p_seen jsonb
)
RETURNS TABLE (
    folder text,
    snapshot_datetime timestamptz,
    unfit text,
    unready text,
    fingerprint text,
    files bigint,
    bytes bigint,
    entities text[]
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $seen_folders$
DECLARE
    v_terms CONSTANT jsonb := omd_delivery._arrival_terms(p_agreement.arrival);
    v_zone CONSTANT text := v_terms ->> 'zone';
    v_marker CONSTANT text := v_terms #>> '{ready,marker}';
    v_manifest CONSTANT text := v_terms #>> '{ready,manifest}';
    v_own CONSTANT text := coalesce(v_marker, v_manifest, '');
    v_moved CONSTANT text := coalesce(split_part(v_terms #>> '{then,move}', '/', 1), '');
    v_pattern record;
    -- What staging reads as an entity, by its name. What would be one but for its capitals, or is
    -- one twice, is named as it stands, so that its delivery is refused: nobody would read it.
    v_staged CONSTANT text := format(
        '^([^_.][^.]*)\.(json|parquet|%s)(\.(gz|bz2|deflate|lz4|snappy|zst))?$',
        regexp_replace(
            lower(ltrim(coalesce(p_agreement.options #>> '{csv,file_extension}', 'csv'), '.')),
            '([].[\\^$*+?(){}|-])', '\\\1', 'g'
        )
    );
BEGIN
    SELECT p.expression, p.parts INTO v_pattern
    FROM omd_delivery._folder_pattern(v_terms ->> 'folder') AS p;
    RETURN QUERY
    SELECT
        s.folder,
        s.snapshot_datetime,
        CASE
            WHEN s.kind = 'LINK' THEN 'it is a symbolic link, or has one in it'
            WHEN s.kind = 'FILE' THEN 'it is no folder'
            WHEN strpos(s.folder, '/') > 0 THEN 'it is not in the location itself'
            WHEN s.snapshot_datetime IS NULL THEN 'its name gives no time'
            WHEN s.problem IS NOT NULL THEN left(s.problem, 1000)
            WHEN coalesce(f.files, 0) = 0 THEN 'it has no file'
        END,
        CASE
            WHEN v_manifest IS NOT NULL
                THEN omd_delivery._manifest_problem(s.manifest, s.listed, v_manifest)
            WHEN v_marker IS NOT NULL AND f.has_own IS NOT TRUE
                THEN format('%s is not there', v_marker)
        END,
        CASE
            WHEN s.problem IS NULL AND f.files > 0
                THEN encode(sha256(convert_to(f.content, 'UTF8')), 'hex')
        END,
        f.files,
        f.bytes,
        o.entities
    FROM (
        SELECT DISTINCT ON (l.value ->> 'folder')
            l.value ->> 'folder' AS folder,
            l.value ->> 'kind' AS kind,
            l.value ->> 'problem' AS problem,
            CASE jsonb_typeof(l.value -> 'files') WHEN 'array' THEN l.value -> 'files' END AS listed,
            l.value -> 'manifest' AS manifest,
            omd_delivery._folder_datetime(
                l.value ->> 'folder', v_pattern.expression, v_pattern.parts, v_zone
            ) AS snapshot_datetime
        FROM jsonb_array_elements(p_seen) WITH ORDINALITY AS l (value, place)
        -- What begins with a dot is hidden, and of programs.
        WHERE l.value ->> 'folder' <> v_moved AND l.value ->> 'folder' NOT LIKE '.%'
        ORDER BY l.value ->> 'folder', l.place DESC
    ) AS s
    LEFT JOIN LATERAL (
        SELECT
            count(*) FILTER (WHERE e.path <> v_own) AS files,
            (sum((e.value ->> 'bytes')::bigint) FILTER (WHERE e.path <> v_own))::bigint AS bytes,
            bool_or(e.path = v_own) AS has_own,
            string_agg(
                jsonb_build_array(e.path, e.value -> 'bytes', e.value -> 'modified')::text,
                E'\n' ORDER BY e.path COLLATE "C", e.value
            ) FILTER (WHERE e.path <> v_own) AS content,
            array_agg(DISTINCT e.name) FILTER (WHERE e.name ~* v_staged AND e.path <> v_own) AS names
        FROM (
            SELECT
                l.value,
                l.value ->> 'path' AS path,
                split_part(l.value ->> 'path', '/', 1) AS name
            FROM jsonb_array_elements(s.listed) AS l
        ) AS e
    ) AS f ON TRUE
    LEFT JOIN LATERAL (
        SELECT array_agg(e.entity ORDER BY e.entity COLLATE "C") AS entities
        FROM (
            SELECT
                CASE
                    WHEN count(*) = 1 AND min(n.name) ~ v_staged THEN split_part(min(n.name), '.', 1)
                    ELSE string_agg(n.name, ', ' ORDER BY n.name COLLATE "C")
                END AS entity
            FROM unnest(f.names) AS n (name)
            GROUP BY split_part(n.name, '.', 1)
        ) AS e
    ) AS o ON TRUE;
END
$seen_folders$;

COMMENT ON FUNCTION omd_delivery._seen_folders IS
'Returns the folders of p_seen as p_agreement reads them: the time of each name, why it is unfit '
'or unready (NULL: it is not), the fingerprint of its files, their number and bytes, and the '
'entities of which it has files. The folder of what is done is left '
'out, and so are hidden ones. Locks: none.';
