-- What would give stored rows another meaning is refused; tables without rows are made anew. A link
-- that comes later would be NULL in rows that have a parent, one that goes leaves its column empty.

CREATE OR REPLACE FUNCTION omd_facts._follow_mapping(
    p_interface_id integer,
    p_old jsonb
)
RETURNS SETOF text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $follow_mapping$
DECLARE
    v_new jsonb := omd_facts._stored_mapping(p_interface_id);
    v_schema text;
    v_change record;
    v_statement text;
    v_free CONSTANT text[] := ARRAY[
        'data_type', 'context_kind', 'generalization_code', 'key_root_code'
    ];
BEGIN
    SELECT 'cfl_' || i.interface_code INTO v_schema
    FROM omd_facts.interface AS i
    WHERE i.interface_id = p_interface_id;
    FOR v_change IN
        SELECT
            o.key,
            array_remove(
                ARRAY[o.value ->> 'context_table', o.value ->> 'anchor_table'], NULL
            ) AS names
        FROM jsonb_each(p_old) AS o
        WHERE (
            o.value - v_free IS DISTINCT FROM (v_new -> o.key) - v_free
            AND NOT (
                o.value ->> 'parent_entity_id' IS NOT NULL
                AND o.value ->> 'context_table' IS NOT NULL
                AND NOT v_new ? o.key
            )
        )
            OR EXISTS (
                SELECT FROM (VALUES ('generalization_code'), ('key_root_code')) AS g (word)
                WHERE o.value ->> g.word IS NOT NULL
                    AND o.value ->> g.word IS DISTINCT FROM v_new -> o.key ->> g.word
            )
            OR NOT omd_facts._type_widens(
                o.value ->> 'data_type', v_new -> o.key ->> 'data_type'
            )
            OR (
                o.value ->> 'context_kind' IS DISTINCT FROM v_new -> o.key ->> 'context_kind'
                AND NOT (
                    ARRAY[o.value ->> 'context_kind', v_new -> o.key ->> 'context_kind']
                    <@ ARRAY['standard', 'alternate_key']
                )
            )
        UNION ALL
        SELECT
            n.key,
            ARRAY[coalesce(n.value ->> 'context_table', n.value ->> 'anchor_table')]
        FROM jsonb_each(v_new) AS n
        WHERE n.value ->> 'parent_entity_id' IS NOT NULL
            AND NOT p_old ? n.key
            AND NOT EXISTS (
                SELECT FROM jsonb_array_elements_text(n.value -> 'attributes') AS a (code)
                WHERE NOT p_old ? a.code
            )
        ORDER BY key
    LOOP
        IF EXISTS (
            SELECT FROM unnest(v_change.names) AS t (name)
            WHERE omd_facts._has_rows(v_schema, t.name)
        ) THEN
            PERFORM omd.raise_error(
                'OM252',
                jsonb_build_object(
                    'interface_code', substr(v_schema, 5),
                    'object', v_change.key,
                    'problem', 'it is stored otherwise, and there are facts'
                )
            );
        END IF;
        FOR v_statement IN
            SELECT format('DROP TABLE IF EXISTS %I.%I', v_schema, t.name)
            FROM unnest(v_change.names) AS t (name)
            WHERE to_regclass(format('%I.%I', v_schema, t.name)) IS NOT NULL
        LOOP
            RETURN NEXT v_statement;
        END LOOP;
    END LOOP;
    -- An alternate key that has become standard, or an index that is not wanted any longer.
    FOR v_statement IN
        SELECT format('DROP INDEX %I.%I', v_schema, x.relname)
        FROM pg_index AS i
        INNER JOIN pg_class AS x ON i.indexrelid = x.oid
        INNER JOIN pg_class AS t ON i.indrelid = t.oid
        WHERE x.relnamespace = to_regnamespace(quote_ident(v_schema))
            AND NOT EXISTS (
                SELECT FROM omd_facts._wanted_indexes(p_interface_id) AS w
                WHERE x.relname = w.index_name
            )
    LOOP
        RETURN NEXT v_statement;
    END LOOP;
END
$follow_mapping$;

COMMENT ON FUNCTION omd_facts._follow_mapping IS
'Returns the statements that remove tables and indexes of the interface p_interface_id that '
'p_old, its mapping before, had otherwise. Errors: OM252: there are facts that would be read '
'otherwise. Locks: none.';
