-- Where no key of the entity has changed after the block, the open rows are what was there at its
-- end: the statement finds out in its own snapshot, as (SELECT …) that gates a branch. What a key
-- was before the block is what it was before its first change in it. Keys of a recall are for
-- blocks that begin between what it took back and itself, and for no topic or stage: who had read
-- what it took back was taken back too (show_block). Else a row is the open one, or, where that
-- is too young, the closed one.

CREATE OR REPLACE FUNCTION omd_facts._changes_sql(
    p_entity_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $changes_sql$
DECLARE
    v_entity record;
    v_data jsonb;
    v_change_id text;
    v_indicator text; -- with a place for the condition that the row is gone
    v_is_gone text;
    v_was_gone text;
    v_number CONSTANT text := 'nullif(current_setting(%L, TRUE), '''')::bigint';
    -- {keys}, which stands in two branches; of an entity with slices these are the block.
    v_keys CONSTANT text := $sql$
(
    SELECT k.*, (SELECT {mark}) AS mark
    FROM (
        SELECT DISTINCT ON (k.acm_id)
            k.acm_id,
            max(k.change_id) AS change_id,
            min(k.change_id * 2 + k.was_there::integer) % 2 = 1 AS was_there
        FROM omd_facts.change_key AS k
        WHERE k.entity_id = {entity_id}
            AND k.change_id > {after}
            AND k.change_id <= {upto}
            AND k.undone_from <= {undone}
        GROUP BY k.acm_id
    ) AS k
    LEFT JOIN (
        SELECT v.acm_id
        FROM (VALUES (0::bigint), (0)) AS v (acm_id)
        CROSS JOIN generate_series(1, {count} / 2)
        WHERE (SELECT FALSE)
    ) AS n ON k.acm_id = n.acm_id
    OFFSET 0
)$sql$;
    v_query CONSTANT text := $sql$
WITH block AS MATERIALIZED (
    SELECT
        k.acm_id,
        max(k.change_id) AS change_id,
        min(k.change_id * 2 + k.was_there::integer) % 2 = 1 AS was_there,
        FALSE AS is_all,
        (SELECT {mark}) AS mark
    FROM omd_facts.change_key AS k
    WHERE k.entity_id = {entity_id}
        AND k.change_id > {after}
        AND k.change_id <= {upto}
        AND k.undone_from <= {undone}
        {if is_key}
        AND (SELECT {count} > 50000)
        AND (
            SELECT max(c.change_id) > {upto}
            FROM omd_facts.change_key AS c
            WHERE c.entity_id = {entity_id}
        )
        {end}
    GROUP BY k.acm_id
    UNION ALL
    SELECT
        {if is_slice}DISTINCT ON (p.acm_id) {end}p.acm_id,
        coalesce(k.change_id, (SELECT {upto})),
        FALSE,
        TRUE,
        (SELECT {mark})
    FROM {existence} AS p
    LEFT JOIN (
        SELECT k.acm_id, max(k.change_id) AS change_id
        FROM omd_facts.change_key AS k
        WHERE k.entity_id = {entity_id} AND k.change_id <= {all_upto} AND k.undone_from = 0
        GROUP BY k.acm_id
    ) AS k ON p.acm_id = k.acm_id
    WHERE p.acm_record_ind <> 'R'
        AND p.acm_start_dt <= (SELECT {mark})
        AND p.acm_end_dt > (SELECT {mark})
        AND p.acm_id > {first}
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL
    FROM generate_series(1, {count})
    WHERE (SELECT FALSE)
){if is_slice},

slice AS MATERIALIZED (
    SELECT
        s.acm_id,
        s.own_key,
        max(s.change_id) AS change_id,
        min(s.change_id * 2 + s.was_there::integer) % 2 = 1 AS was_there
    FROM omd_facts.change_slice AS s
    WHERE s.entity_id = {entity_id}
        AND s.change_id > CASE WHEN {first} < 0 THEN 0 ELSE {after} END
        AND s.change_id <= {upto}
        AND s.undone_from <= {undone}
    GROUP BY s.acm_id, s.own_key
){end}

-- The newest block: what was there is open.
SELECT{for columns ","}
    {newest} AS {name}{end}
FROM {keys} AS b
INNER JOIN {anchor} AS a ON b.acm_id = a.acm_id
{for contexts}
LEFT JOIN {now} AS {alias} ON b.acm_id = {alias}.acm_id{valid}
{end}
{if is_slice}
INNER JOIN {existence_now} AS p ON b.acm_id = p.acm_id
LEFT JOIN slice AS s ON p.acm_id = s.acm_id AND s.own_key = {p_own_json}
{end}
WHERE (
        SELECT coalesce(max(k.change_id), 0) <= {upto}
        FROM omd_facts.change_key AS k
        WHERE k.entity_id = {entity_id}
    )
    {if is_slice}
    AND (p.acm_record_ind <> 'R' OR (s.acm_id IS NOT NULL AND NOT b.is_all))
    {end}
UNION ALL
-- An earlier one, of so few keys that their closed rows are looked for by key.
SELECT{for columns ","}
    {earlier} AS {name}{end}
FROM {keys} AS b
INNER JOIN {anchor} AS a ON b.acm_id = a.acm_id
{for contexts}
LEFT JOIN {now} AS {alias} ON b.acm_id = {alias}.acm_id
LEFT JOIN LATERAL (
    SELECT x.* FROM {past} AS x
    WHERE x.acm_id = b.acm_id AND x.acm_start_dt <= b.mark AND {alias}.acm_start_dt > b.mark
    ORDER BY x.acm_start_dt DESC
    LIMIT 1
) AS r{alias} ON TRUE
{end}
{if is_slice}
INNER JOIN {existence} AS p
    ON b.acm_id = p.acm_id AND p.acm_start_dt <= b.mark AND p.acm_end_dt > b.mark
LEFT JOIN slice AS s ON p.acm_id = s.acm_id AND s.own_key = {p_own_json}
{end}
WHERE (
        SELECT max(k.change_id) > {upto}
        FROM omd_facts.change_key AS k
        WHERE k.entity_id = {entity_id}
    )
    {if is_slice}
    AND (p.acm_record_ind <> 'R' OR (s.acm_id IS NOT NULL AND NOT b.is_all))
    {else}
    AND (SELECT {count} <= 50000)
    {end}
UNION ALL
{if is_slice}
-- Slices that are gone, whose row the block does not find.
SELECT{for columns ","}
    {vanished} AS {name}{end}
FROM slice AS s
INNER JOIN block AS b ON s.acm_id = b.acm_id
INNER JOIN {anchor} AS a ON s.acm_id = a.acm_id
WHERE NOT b.is_all AND NOT EXISTS (
    SELECT FROM {existence} AS o
    WHERE o.acm_id = s.acm_id
        AND {own_json} = s.own_key
        AND o.acm_start_dt <= b.mark
        AND o.acm_end_dt > b.mark
)
{else}
-- An earlier one of many keys, or from the beginning: what was there is joined.
SELECT{for columns ","}
    {newest} AS {name}{end}
FROM block AS b
INNER JOIN {anchor} AS a ON b.acm_id = a.acm_id
{for contexts}
LEFT JOIN {table} AS {alias} ON a.acm_id = {alias}.acm_id
    AND {alias}.acm_start_dt <= (SELECT {mark}) AND {alias}.acm_end_dt > (SELECT {mark}){valid}
{end}
{end}$sql$;
    -- What was measured:
    -- * To join all closed rows took 17 times a join of 1,000 keys, so they are looked for by key;
    --   of more than 50,000 keys, and in a block from the beginning, what was there is joined
    --   (100,000 keys: 3.2 times a join; by key 4.3).
    -- * What comes out of several changes has no statistics, and a plan for a few keys costs 60
    --   times when there are many: so the keys are joined with the rows of a function, which never
    --   gives any, since the planner takes their number from the setting.
    -- * The keys are DISTINCT, as they are anyway: only then the planner knows that each is there
    --   once, and hashes them and not all the facts (10,000 keys at the newest change: 2.9 instead
    --   of 6.8 times a join).
    -- * The bounds are settings too, so that it knows which part has no keys: in a block from the
    --   beginning {after} is behind all changes, in others {first} is behind all keys.
BEGIN
    SELECT
        e.*,
        i.interface_code,
        'cfl_' || i.interface_code AS cfl,
        x.context_id AS existence_id,
        x.context_table AS existence_table,
        e.entity_kind = 'CONTEXT' AS is_context
    INTO v_entity
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    INNER JOIN omd_facts.context AS x
        ON e.entity_id = x.entity_id
            AND (e.entity_kind = 'CONTEXT' OR x.context_code = 'properties')
    WHERE e.entity_id = p_entity_id;
    SELECT jsonb_build_object(
        'is_slice', v_entity.is_context,
        'is_key', NOT v_entity.is_context,
        'entity_id', p_entity_id,
        'count', format(
            'coalesce((%s #>> ''{keys,%s}'')::bigint, 0)',
            omd_facts._block_sql(v_entity.interface_code), p_entity_id
        ),
        'after', format(v_number, 'omd_facts.after_' || v_entity.interface_code),
        'upto', format(v_number, 'omd_facts.upto_' || v_entity.interface_code),
        'undone', format(v_number, 'omd_facts.undone_' || v_entity.interface_code),
        'first', format(v_number, 'omd_facts.first_' || v_entity.interface_code),
        'all_upto', format(v_number, 'omd_facts.all_' || v_entity.interface_code),
        'mark', format(
            '(%s #>> ''{marks,%s}'')::timestamptz',
            omd_facts._block_sql(v_entity.interface_code), p_entity_id
        ),
        'anchor', format('%I.%I', v_entity.cfl, v_entity.anchor_table),
        'existence', format('%I.%I', v_entity.cfl, v_entity.existence_table),
        'existence_now', format('%I.%I', v_entity.cfl, v_entity.existence_table || '_now'),
        'own_json', o.own_json,
        'p_own_json', replace(o.own_json, ' o.', ' p.')
    )
    INTO v_data
    FROM (SELECT omd_facts._change_pieces(p_entity_id) ->> 'own_json' AS own_json) AS o;
    -- What a context that is an entity of its own has a row for is a slice of the key.
    v_change_id := CASE
        WHEN v_entity.is_context THEN 'coalesce(s.change_id, b.change_id)'
        ELSE 'b.change_id'
    END;
    v_indicator := format(
        'CASE WHEN %%s THEN ''R'' WHEN %s THEN ''A'' ELSE ''N'' END',
        CASE
            WHEN v_entity.is_context THEN 'NOT b.is_all AND coalesce(s.was_there, TRUE)'
            ELSE 'b.was_there'
        END
    );
    v_is_gone := 'p.acm_record_ind = ''R'''
    || CASE WHEN v_entity.is_context THEN '' ELSE ' OR p.acm_id IS NULL' END;
    v_was_gone := CASE
        WHEN v_entity.is_context THEN v_is_gone
        ELSE format('coalesce(%s, ''R'') = ''R''', omd_facts._as_of_block('p', 'acm_record_ind'))
    END;
    -- In an earlier block a value is that of the open row, or of r<context>.
    SELECT
        v_data || jsonb_build_object(
            'columns', jsonb_agg(
                jsonb_build_object(
                    'name', quote_ident(i.name),
                    'newest', i.newest,
                    'earlier', i.earlier,
                    'vanished', i.vanished
                )
                ORDER BY i.attnum, i.place, i.name
            )
        )
    INTO v_data
    FROM (
        SELECT
            c.attnum,
            n.place,
            n.name,
            CASE n.name
                WHEN 'acm_id' THEN 'b.acm_id'
                WHEN 'acm_change_id' THEN v_change_id
                WHEN 'acm_record_ind' THEN format(v_indicator, v_is_gone)
                ELSE n.expression
            END AS newest,
            CASE n.name
                WHEN 'acm_id' THEN 'b.acm_id'
                WHEN 'acm_change_id' THEN v_change_id
                WHEN 'acm_record_ind' THEN format(v_indicator, v_was_gone)
                ELSE
                    CASE
                        WHEN n.expression LIKE 'a.%' OR v_entity.is_context THEN n.expression
                        WHEN n.expression LIKE 'p.%'
                            THEN omd_facts._as_of_block('p', n.name)
                        ELSE
                            format(
                                'CASE WHEN %1$s <> ''R'' OR (%2$s = ''R'' AND %3$s >= %4$s)'
                                ' THEN %5$s END',
                                omd_facts._as_of_block(
                                    split_part(n.expression, '.', 1), 'acm_record_ind'
                                ),
                                omd_facts._as_of_block('p', 'acm_record_ind'),
                                omd_facts._as_of_block(
                                    split_part(n.expression, '.', 1), 'acm_start_dt'
                                ),
                                omd_facts._as_of_block('p', 'acm_start_dt'),
                                omd_facts._as_of_block(split_part(n.expression, '.', 1), n.name)
                            )
                    END
            END AS earlier,
            CASE
                WHEN n.name = 'acm_id' THEN 's.acm_id'
                WHEN n.name = 'acm_change_id' THEN 's.change_id'
                WHEN n.name = 'acm_record_ind' THEN '''R'''
                WHEN n.expression LIKE 'a.%' THEN n.expression
                WHEN t.key_position IS NOT NULL
                    THEN format('(s.own_key ->> %L)::%s', n.name, t.data_type)
                ELSE 'NULL'
            END AS vanished
        FROM (
            SELECT i.place, i.name, i.expression
            FROM omd_facts._view_items(p_entity_id) AS i
            WHERE i.name NOT IN (
                'acm_end_dt', 'acm_exists_ind', 'acm_latest_start_dt', 'acm_last_created_dt'
            )
            UNION ALL
            SELECT 30010, 'acm_change_id', ''
        ) AS n
        LEFT JOIN omd_facts.attribute AS t
            ON t.entity_id = p_entity_id AND n.name = t.attribute_code
        LEFT JOIN pg_attribute AS c
            ON c.attrelid = to_regclass(
                format('%I.%I', 'changes_' || v_entity.interface_code, v_entity.entity_code)
            )
                AND n.name = c.attname
    ) AS i;
    -- The context that says whether the key exists comes first.
    IF NOT v_entity.is_context THEN
        SELECT
            v_data || jsonb_build_object(
                'contexts', jsonb_agg(
                    jsonb_build_object(
                        'table', format('%I.%I', v_entity.cfl, c.context_table),
                        'now', format('%I.%I', v_entity.cfl, c.context_table || '_now'),
                        'past', format('%I.%I', v_entity.cfl, c.context_table || '_past'),
                        'alias', t.alias,
                        'valid', CASE
                            WHEN t.alias <> 'p'
                                THEN format(
                                    E'\n    AND (%1$s.acm_record_ind <> ''R'''
                                    ' OR (p.acm_record_ind = ''R'''
                                    ' AND %1$s.acm_start_dt >= p.acm_start_dt))',
                                    t.alias
                                )
                        END
                    )
                    ORDER BY t.alias <> 'p', c.context_id
                )
            )
        INTO v_data
        FROM omd_facts.context AS c
        CROSS JOIN LATERAL (
            SELECT
                CASE c.context_id
                    WHEN v_entity.existence_id THEN 'p' ELSE 'c' || c.context_id
                END AS alias
        ) AS t
        WHERE c.entity_id = p_entity_id;
    END IF;
    RETURN omd._render(
        v_query,
        v_data || jsonb_build_object(
            'keys', CASE
                WHEN v_entity.is_context THEN 'block' ELSE omd._render(v_keys, v_data)
            END
        )
    );
END
$changes_sql$;

COMMENT ON FUNCTION omd_facts._changes_sql IS
'Returns the query of the view of changes of the entity p_entity_id. Locks: none.';
