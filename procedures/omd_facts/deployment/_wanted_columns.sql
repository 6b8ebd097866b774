-- The one place that says which columns the tables of an interface have.

CREATE OR REPLACE FUNCTION omd_facts._wanted_columns(
    p_interface_id integer
)
RETURNS TABLE (
    table_name text,
    place integer,
    column_name text,
    column_type text,
    is_not_null boolean,
    entity_id integer,
    context_id integer
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $wanted_columns$
BEGIN
    RETURN QUERY
    WITH anchor AS (
        SELECT e.* FROM omd_facts.entity AS e
        WHERE e.interface_id = p_interface_id AND e.entity_kind <> 'CONTEXT'
    ),

    own AS (
        SELECT e.anchor_table AS table_name, e.entity_id, NULL::integer AS context_id
        FROM anchor AS e
        UNION ALL
        SELECT c.context_table, e.entity_id, c.context_id
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.context AS c USING (entity_id)
        WHERE e.interface_id = p_interface_id
    ),

    wanted AS (
        SELECT o.*, f.place, f.column_name, f.column_type, f.is_not_null
        FROM own AS o
        CROSS JOIN LATERAL (
            SELECT v.*
            FROM (
                VALUES
                (0, 'acm_id', 'bigint', TRUE),
                (2002, 'acm_audit_id', 'bigint', TRUE),
                (2003, 'acm_entity_id', 'integer', TRUE),
                (2004, 'acm_exists_ind', 'smallint', TRUE),
                (2005, 'acm_latest_start_dt', 'timestamp with time zone', FALSE),
                (2006, 'acm_last_created_dt', 'timestamp with time zone', FALSE),
                (2007, 'acm_physically_removed_ind', 'smallint', TRUE),
                (2008, 'acm_physically_removed_by', 'bigint', FALSE)
            ) AS v (place, column_name, column_type, is_not_null)
            WHERE o.context_id IS NULL
            UNION ALL
            SELECT v.*
            FROM (
                VALUES
                (0, 'acm_id', 'bigint', TRUE),
                (1000, 'acm_start_dt', 'timestamp with time zone', TRUE),
                (1001, 'acm_end_dt', 'timestamp with time zone', TRUE),
                (1002, 'acm_record_ind', 'text COLLATE "C"', TRUE),
                (1003, 'acm_audit_id', 'bigint', TRUE),
                (1004, 'acm_entity_id', 'integer', TRUE)
            ) AS v (place, column_name, column_type, is_not_null)
            WHERE o.context_id IS NOT NULL
        ) AS f
        UNION ALL
        -- The key of an anchor, the own key of a context, and the attributes of a context.
        SELECT
            o.*,
            coalesce(a.key_position, 10000 + a.ordinal),
            a.attribute_code,
            a.data_type || CASE
                WHEN a.data_type LIKE 'character varying%' OR a.data_type = 'text'
                    THEN ' COLLATE "C"'
                ELSE ''
            END,
            a.key_position IS NOT NULL
        FROM own AS o
        INNER JOIN omd_facts.attribute AS a
            ON o.entity_id = a.entity_id
                AND o.context_id IS NOT DISTINCT FROM a.context_id
        UNION ALL
        SELECT
            o.*,
            CASE WHEN o.context_id IS NULL THEN 2000 ELSE 30000 END,
            'acm_fk_' || l.relationship_code,
            'bigint',
            o.context_id IS NULL
        FROM own AS o
        INNER JOIN omd_facts.link AS l
            ON o.entity_id = l.entity_id
                AND o.context_id IS NOT DISTINCT FROM l.context_id
        UNION ALL
        SELECT o.*, 2001, 'acm_kr_id', 'bigint', TRUE
        FROM own AS o
        INNER JOIN anchor AS e USING (entity_id)
        WHERE o.context_id IS NULL AND e.key_root_code IS NOT NULL
    )

    SELECT
        w.table_name, w.place, w.column_name, w.column_type, w.is_not_null, w.entity_id,
        w.context_id
    FROM wanted AS w
    ORDER BY w.table_name, w.place, w.column_name;
END
$wanted_columns$;

COMMENT ON FUNCTION omd_facts._wanted_columns IS
'Returns the columns of the anchors and contexts of the interface p_interface_id, with the '
'entity, and the context of a context table. Locks: none.';
