-- $5 is the change. What a load inserts and what it dates it has touched, so these statements write
-- the keys themselves: 1.07 to 1.10 times the load without, where an index on the dates of anchors
-- costs 1.14 to 1.21. The rest is here: what a physical delete removes is noted before it goes, and
-- rows of a context by the time that they bear.

CREATE OR REPLACE FUNCTION omd_facts._change_statements(
    p_entity_id integer,
    p_pieces jsonb
)
RETURNS TABLE (place integer, step text, statement text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $change_statements$
DECLARE
    v_kind text;
    v_erased CONSTANT text := $sql$
INSERT INTO omd_facts.change_key (change_id, entity_id, acm_id, was_there, is_there)
SELECT $5, {noted_id}, a.acm_id, a.acm_exists_ind = 1, FALSE
FROM {delta} AS d
INNER JOIN {anchor} AS a ON {d_match}
WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R' AND $4
    AND (a.acm_exists_ind = 1
        OR (a.acm_latest_start_dt IS NOT NULL AND a.acm_physically_removed_ind = 0))$sql$;
    v_erased_slices CONSTANT text := $sql$
INSERT INTO omd_facts.change_slice (change_id, entity_id, acm_id, own_key, was_there, is_there)
SELECT $5, {noted_id}, o.acm_id, {own_json}, o.acm_record_ind <> 'R', FALSE
FROM {delta} AS d
INNER JOIN {anchor} AS a ON {d_match}
INNER JOIN {now} AS o ON a.acm_id = o.acm_id{noted_match}
WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R' AND $4$sql$;
    v_slices CONSTANT text := $sql$
INSERT INTO omd_facts.change_slice (change_id, entity_id, acm_id, own_key, was_there, is_there)
SELECT $5, {noted_id}, o.acm_id, {own_json}, o.acm_record_ind <> 'N', o.acm_record_ind <> 'R'
FROM {delta} AS d
INNER JOIN {anchor} AS a ON {d_match}
INNER JOIN {now} AS o ON a.acm_id = o.acm_id{o_own_match}
WHERE d.delivery_id = $1 AND o.acm_start_dt = (SELECT $2)
ON CONFLICT (entity_id, change_id, acm_id, own_key) DO UPDATE SET is_there = excluded.is_there$sql$;
    v_slice_keys CONSTANT text := $sql$
INSERT INTO omd_facts.change_key (change_id, entity_id, acm_id, was_there, is_there)
SELECT
    $5,
    {noted_id},
    s.acm_id,
    bool_or(s.was_there) OR EXISTS (
        SELECT FROM {now} AS o
        WHERE o.acm_id = s.acm_id AND o.acm_record_ind <> 'R' AND o.acm_start_dt < (SELECT $2)
    ),
    EXISTS (SELECT FROM {now} AS o WHERE o.acm_id = s.acm_id AND o.acm_record_ind <> 'R')
FROM omd_facts.change_slice AS s
WHERE s.change_id = $5 AND s.entity_id = {noted_id}
GROUP BY s.acm_id
ON CONFLICT (entity_id, change_id, acm_id) DO UPDATE SET is_there = excluded.is_there$sql$;
BEGIN
    SELECT e.entity_kind INTO v_kind
    FROM omd_facts.entity AS e
    WHERE e.entity_id = p_entity_id AND e.keeps_changes;
    IF v_kind = 'CONTEXT' THEN
        RETURN QUERY
        SELECT t.place, t.step, omd._render(
            t.template,
            p_pieces || omd_facts._change_pieces(p_entity_id) || jsonb_build_object(
                'noted_match', omd_facts._change_pieces(p_entity_id) ->> 'o_own_match'
            )
        )
        FROM (
            VALUES
            (27, 'erased', v_erased_slices),
            (55, 'noted', v_slices),
            (56, 'noted', v_slice_keys)
        ) AS t (place, step, template);
    ELSIF v_kind IS NOT NULL THEN
        RETURN QUERY VALUES (
            27, 'erased', omd._render(
                v_erased, p_pieces || jsonb_build_object('noted_id', p_entity_id)
            )
        );
    END IF;
    -- The rows of its contexts go with a key that is removed.
    RETURN QUERY
    SELECT t.place, t.step, omd._render(
        t.template,
        p_pieces || omd_facts._change_pieces(e.entity_id) || jsonb_build_object('noted_match', '')
    )
    FROM omd_facts.entity AS e
    CROSS JOIN (
        VALUES (28, 'erased', v_erased_slices), (71, 'erased', v_slice_keys)
    ) AS t (place, step, template)
    WHERE e.anchor_entity_id = p_entity_id
        AND e.entity_id <> p_entity_id
        AND e.keeps_changes
    ORDER BY e.entity_id, t.place;
END
$change_statements$;

COMMENT ON FUNCTION omd_facts._change_statements IS
'Returns the statements that note the keys which a load of the entity p_entity_id touches, beyond '
'what its other statements note; p_pieces is about its anchor. Parameters: $5 the change. Locks: '
'none.';
