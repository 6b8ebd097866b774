-- Rounds and look-ups go by primary, alternate and foreign keys of open rows. A physical delete
-- finds closed rows by their key; a revert finds those that ended at one time, which lie together.
-- Names contain ids, since two codes are too long for one name, and begin with _, which no entity
-- does, since a table is named as its entity.

CREATE OR REPLACE PROCEDURE omd_delivery._make_indexes(
    p_entity_id integer
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $make_indexes$
DECLARE
    v_statement text;
BEGIN
    FOR v_statement IN
        WITH entity AS (
            SELECT
                e.entity_id,
                e.entity_code,
                i.lvl_schema,
                i.work_schema,
                to_regclass(format('%I.%I', i.lvl_schema, '_open_' || e.entity_code)) AS open_rows,
                to_regclass(format('%I.%I', i.lvl_schema, '_closed_' || e.entity_code))
                AS closed_rows,
                to_regclass(format('%I.%I', i.work_schema, 'delta_' || e.entity_code)) AS delta
            FROM omd_delivery.entity AS e
            INNER JOIN omd_delivery.interface AS i USING (interface_id)
            WHERE e.entity_id = p_entity_id
        ),

        key AS (
            SELECT array_agg(a.attribute_code ORDER BY a.key_position) AS columns
            FROM omd_delivery.attribute AS a
            WHERE a.entity_id = p_entity_id AND a.key_position IS NOT NULL
        ),

        wanted AS (
            SELECT
                e.open_rows AS relation,
                format('_uq_%s', e.entity_code) AS name,
                k.columns,
                TRUE AS is_unique,
                'btree' AS method
            FROM entity AS e
            CROSS JOIN key AS k
            UNION ALL
            SELECT
                e.closed_rows,
                format('_ix_%s_closed', e.entity_code),
                k.columns,
                FALSE,
                'btree'
            FROM entity AS e
            CROSS JOIN key AS k
            UNION ALL
            SELECT
                e.closed_rows,
                format('_ix_%s_end', e.entity_code),
                ARRAY['acm_end_dt'],
                FALSE,
                'brin'
            FROM entity AS e
            UNION ALL
            SELECT
                e.open_rows,
                format('_ix_%s_a%s', e.entity_code, k.alternate_key_id),
                array_agg(a.attribute_code ORDER BY m.position),
                FALSE,
                'btree'
            FROM entity AS e
            INNER JOIN omd_delivery.alternate_key AS k USING (entity_id)
            INNER JOIN omd_delivery.alternate_key_attribute AS m USING (alternate_key_id)
            INNER JOIN omd_delivery.attribute AS a USING (attribute_id)
            WHERE NOT k.is_retired
            GROUP BY e.open_rows, e.entity_code, k.alternate_key_id
            UNION ALL
            SELECT
                e.open_rows,
                format('_ix_%s_r%s', e.entity_code, r.relationship_id),
                array_agg(a.attribute_code ORDER BY m.position),
                FALSE,
                'btree'
            FROM entity AS e
            INNER JOIN omd_delivery.relationship AS r ON e.entity_id = r.child_entity_id
            INNER JOIN omd_delivery.relationship_column AS m USING (relationship_id)
            INNER JOIN omd_delivery.attribute AS a ON m.child_attribute_id = a.attribute_id
            CROSS JOIN key AS k
            WHERE NOT r.is_retired
            GROUP BY e.open_rows, e.entity_code, r.relationship_id, k.columns
            -- The index of the primary key serves a foreign key that it begins with.
            HAVING array_agg(a.attribute_code ORDER BY m.position)
            <> k.columns[1:count(*)::integer]
            UNION ALL
            SELECT
                e.delta,
                format('ix_delta_%s_delivery', e.entity_code),
                ARRAY['delivery_id'],
                FALSE,
                'btree'
            FROM entity AS e
            UNION ALL
            SELECT
                e.delta,
                format('ix_delta_%s_audit', e.entity_code),
                ARRAY['acm_audit_id'],
                FALSE,
                'brin'
            FROM entity AS e
        ),

        present AS (
            SELECT
                c.relname AS name,
                c.relnamespace::regnamespace AS schema,
                x.indrelid AS relation,
                ARRAY(
                    SELECT a.attname::text
                    FROM unnest(x.indkey::smallint[]) WITH ORDINALITY AS k (attnum, n)
                    INNER JOIN pg_attribute AS a
                        ON a.attrelid = x.indrelid AND k.attnum = a.attnum
                    ORDER BY k.n
                ) AS columns
            FROM pg_index AS x
            INNER JOIN pg_class AS c ON x.indexrelid = c.oid
            CROSS JOIN entity AS e
            WHERE x.indrelid IN (e.open_rows, e.closed_rows, e.delta)
        )

        SELECT s.statement
        FROM (
            SELECT
                1 AS place,
                p.name,
                format('DROP INDEX %s.%I', p.schema, p.name) AS statement
            FROM present AS p
            WHERE NOT EXISTS (
                SELECT FROM wanted AS w
                WHERE w.relation = p.relation AND w.name = p.name AND w.columns = p.columns
            )
            UNION ALL
            SELECT
                2 AS place,
                w.name,
                format(
                    'CREATE %sINDEX %I ON %s USING %s (%s)%s',
                    CASE WHEN w.is_unique THEN 'UNIQUE ' ELSE '' END,
                    w.name,
                    w.relation,
                    w.method,
                    (
                        SELECT string_agg(quote_ident(c.code), ', ' ORDER BY c.n)
                        FROM unnest(w.columns) WITH ORDINALITY AS c (code, n)
                    ),
                    CASE w.method WHEN 'brin' THEN ' WITH (autosummarize = on)' ELSE '' END
                ) AS statement
            FROM wanted AS w
            WHERE NOT EXISTS (
                SELECT FROM present AS p
                WHERE w.relation = p.relation AND w.name = p.name AND w.columns = p.columns
            )
        ) AS s
        ORDER BY s.place, s.name
    LOOP
        EXECUTE v_statement;
    END LOOP;
END
$make_indexes$;

COMMENT ON PROCEDURE omd_delivery._make_indexes IS
'Brings the indexes of the tables of the entity p_entity_id to the registry. Locks: the tables '
'whose indexes change.';
