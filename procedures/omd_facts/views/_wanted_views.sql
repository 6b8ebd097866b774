-- They start at the context that says whether a row exists, and join the rest to the left, so that
-- the planner drops the anchor and each context that a query does not name. Current views know open
-- rows only. As of a moment the context of existence has one row of each key, open or closed; of
-- the others the open rows are joined, and where the open one is too young the closed one is looked
-- for by its id. HAVING tells the planner that there is one answer, so that it drops that too. To
-- join all rows of a context would be cheaper where most of them have changed since, but none could
-- be dropped: an attribute of the first of three contexts took ten times as long as it takes now.
-- Existence is read from the parent of both partitions, though UNION ALL of them would be planned
-- better: a plan that is kept would lock it after the others, and a current view does so before, so
-- a deployment beside both did not end.
-- The moment of a statement is computed once, as an InitPlan.

CREATE OR REPLACE FUNCTION omd_facts._wanted_views(
    p_interface_id integer
)
RETURNS TABLE (schema_name text, view_name text, select_list text, from_clause text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $wanted_views$
BEGIN
    RETURN QUERY
    WITH entity AS (
        SELECT
            e.*,
            i.interface_code,
            'cfl_' || i.interface_code AS cfl,
            x.context_id AS existence_id,
            x.context_table AS existence_table,
            CASE e.entity_kind
                WHEN 'CONTEXT' THEN (
                    SELECT string_agg(format('x.%I', k.attribute_code), ', ' ORDER BY k.key_position)
                    FROM omd_facts.attribute AS k
                    WHERE k.context_id = x.context_id AND k.key_position IS NOT NULL
                )
            END AS own_key
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        INNER JOIN omd_facts.context AS x
            ON e.entity_id = x.entity_id
                AND (e.entity_kind = 'CONTEXT' OR x.context_code = 'properties')
        WHERE e.interface_id = p_interface_id
    ),

    perspective AS (
        SELECT
            e.*,
            v.*,
            format('LEFT JOIN %I.%I AS a ON p.acm_id = a.acm_id', e.cfl, e.anchor_table) AS anchor,
            omd_facts._moment_sql(e.entity_id) AS moment
        FROM entity AS e
        CROSS JOIN (
            VALUES ('gdal_'), ('asof_'), ('history_')
        ) AS v (prefix)
    )

    SELECT
        e.prefix || e.interface_code,
        e.entity_code,
        omd_facts._select_list(e.entity_id, e.prefix, e.interface_code),
        CASE e.prefix
            WHEN 'gdal_'
                THEN
                    concat_ws(
                        E'\n',
                        format('FROM %I.%I AS p', e.cfl, e.existence_table || '_now'),
                        e.anchor,
                        (
                            SELECT
                                string_agg(
                                    format(
                                        'LEFT JOIN %I.%I AS c%s ON p.acm_id = c%s.acm_id'
                                        ' AND c%s.acm_record_ind <> ''R''',
                                        e.cfl, c.context_table || '_now', c.context_id,
                                        c.context_id, c.context_id
                                    ),
                                    E'\n' ORDER BY c.context_id
                                )
                            FROM omd_facts.context AS c
                            WHERE c.entity_id = e.entity_id AND c.context_id <> e.existence_id
                        ),
                        'WHERE p.acm_record_ind <> ''R'''
                    )
            WHEN 'asof_'
                THEN
                    concat_ws(
                        E'\n',
                        format('FROM %I.%I AS p', e.cfl, e.existence_table),
                        e.anchor,
                        (
                            SELECT
                                string_agg(
                                    format(
                                        E'LEFT JOIN %1$I.%2$I AS c%4$s ON p.acm_id = c%4$s.acm_id\n'
                                        'LEFT JOIN LATERAL (SELECT CASE'
                                        ' WHEN c%4$s.acm_start_dt > %5$s THEN (SELECT'
                                        ' CASE WHEN x.acm_record_ind <> ''R'' THEN'
                                        ' (x.*)::%1$I.%3$I END FROM %1$I.%3$I AS x'
                                        ' WHERE x.acm_id = p.acm_id AND x.acm_start_dt <= %5$s'
                                        ' ORDER BY x.acm_start_dt DESC LIMIT 1'
                                        ') END AS r HAVING TRUE) AS r%4$s ON TRUE',
                                        e.cfl, c.context_table || '_now',
                                        c.context_table || '_past', c.context_id, e.moment
                                    ),
                                    E'\n' ORDER BY c.context_id
                                )
                            FROM omd_facts.context AS c
                            WHERE c.entity_id = e.entity_id AND c.context_id <> e.existence_id
                        ),
                        format(
                            'WHERE p.acm_record_ind <> ''R'' AND p.acm_start_dt <= %s'
                            ' AND p.acm_end_dt > %s',
                            e.moment, e.moment
                        )
                    )
            ELSE
                replace(
                    omd_facts._history_from(e.entity_id, e.cfl, e.existence_table, e.existence_id),
                    '{anchor}', e.anchor
                )
        END
    FROM perspective AS e
    ORDER BY e.entity_code, e.prefix;
END
$wanted_views$;

COMMENT ON FUNCTION omd_facts._wanted_views IS
'Returns the views of the interface p_interface_id. Locks: none.';
