-- A row belongs to the person when a relationship that lies in its key leads to him: so do rows of
-- subtypes, of contexts that are entities, of dependent entities, and of theirs. A supertype is the
-- same person. Whatever else refers to one of these is a reference.

CREATE OR REPLACE FUNCTION omd_provenance._targets(
    p_interface_code text,
    p_entity_code text,
    p_key text[],
    OUT p_targets jsonb,
    OUT p_references jsonb
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $targets$
BEGIN
    WITH RECURSIVE link AS MATERIALIZED (
        SELECT l.*, coalesce(s.is_supertype, FALSE) AS is_supertype
        FROM omd_delivery.subject_links(p_interface_code) AS l
        LEFT JOIN LATERAL (
            SELECT TRUE AS is_supertype
            FROM omd_facts.subject_supertypes(p_interface_code) AS t
            WHERE t.entity_code = l.child_code AND t.supertype_code = l.parent_code
        ) AS s ON l.is_in_key
    ),

    found AS (
        SELECT p_entity_code AS entity_code, p_key AS columns
        UNION
        SELECT
            n.entity_code,
            ARRAY(
                SELECT n.next_columns[array_position(n.columns, c.code)]
                FROM unnest(f.columns) WITH ORDINALITY AS c (code, place)
                ORDER BY c.place
            )
        FROM found AS f
        CROSS JOIN LATERAL (
            SELECT l.child_code AS entity_code, l.parent_key AS columns, l.child_columns AS next_columns
            FROM link AS l
            WHERE l.parent_code = f.entity_code AND l.is_in_key
            UNION ALL
            SELECT l.parent_code, l.child_columns, l.parent_key
            FROM link AS l
            WHERE l.child_code = f.entity_code AND l.is_supertype AND f.columns <@ l.child_columns
        ) AS n
    )

    SELECT
        (
            SELECT jsonb_agg(
                jsonb_build_object('entity', f.entity_code, 'columns', to_jsonb(f.columns))
            )
            FROM found AS f
        ),
        (
            SELECT coalesce(
                jsonb_agg(
                    DISTINCT jsonb_build_object(
                        'entity', l.child_code,
                        'columns', ARRAY(
                            SELECT l.child_columns[array_position(l.parent_key, c.code)]
                            FROM unnest(f.columns) WITH ORDINALITY AS c (code, place)
                            ORDER BY c.place
                        )
                    )
                ),
                '[]'
            )
            FROM found AS f
            INNER JOIN link AS l ON f.entity_code = l.parent_code AND NOT l.is_in_key
        )
    INTO p_targets, p_references;
END
$targets$;

COMMENT ON FUNCTION omd_provenance._targets IS
'Returns the entities of the interface p_interface_code whose rows belong to a key of the entity '
'p_entity_code, with the columns that hold its key p_key, [{"entity", "columns"}], and those that '
'refer to one of these without belonging to it. Locks: none.';
