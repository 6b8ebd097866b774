-- $1 delivery, $2 T, $3 Module Instance, $4 physical, $5 change. Each statement is about all rows
-- of the delta, and of the contexts it reads open rows by their keys alone. The anti join comes
-- before DISTINCT, so that only keys that are new are sorted. A table that is empty is not searched
-- before it is filled: the planner could take it for small while it grows. (SELECT $2) keeps the
-- planner from looking for T among the values that it knows, of which none is so new.

CREATE OR REPLACE FUNCTION omd_facts._entity_statements(
    p_entity_id integer
)
RETURNS TABLE (place integer, step text, context_id integer, statement text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $entity_statements$
DECLARE
    v_entity record;
    v_columns text[];
    v_delta jsonb;
    v_pieces jsonb;
    v_key CONSTANT text := $sql$
{if members}
WITH added AS (
{end}
INSERT INTO {anchor} ({id}{keys}{links}, acm_audit_id, acm_entity_id, acm_exists_ind,
    acm_physically_removed_ind)
SELECT {id_value}{d_keys}{link_values}, $3, {entity_id}, 0, 0
FROM (
    SELECT DISTINCT {d_columns} FROM {delta} AS d
    WHERE d.delivery_id = $1 AND d.acm_record_ind <> 'R' AND {d_given}
        AND NOT EXISTS (SELECT FROM {anchor} AS a WHERE {d_match})
) AS d{link_joins}{if members}
    RETURNING acm_id
)

INSERT INTO {members} (member_entity_id, member_id)
SELECT {entity_id}, a.acm_id FROM added AS a ORDER BY a.acm_id{end}$sql$;
    v_missing CONSTANT text := $sql$
SELECT count(*) FROM {delta} AS d
WHERE d.delivery_id = $1 AND d.acm_record_ind <> 'R' AND {d_given}
    AND NOT EXISTS (SELECT FROM {anchor} AS a WHERE {d_match})$sql$;
    v_anchor CONSTANT text := $sql$
{if is_kept}
WITH added AS (
{end}
INSERT INTO {anchor} ({id}{keys}{links}, acm_audit_id, acm_entity_id, acm_exists_ind,
    acm_latest_start_dt, acm_last_created_dt, acm_physically_removed_ind)
SELECT {id_value}{d_keys}{link_values}, $3, {entity_id}, 1, $2, $2, 0
FROM {delta} AS d{link_joins}
WHERE d.delivery_id = $1 AND d.acm_record_ind <> 'R'
    {if has_rows}
    AND NOT EXISTS (SELECT FROM {anchor} AS a WHERE {d_match})
    {end}
{if is_kept}
    RETURNING acm_id
){end}{if is_noted}{if members},

members AS (
    INSERT INTO {members} (member_entity_id, member_id)
    SELECT {entity_id}, a.acm_id FROM added AS a ORDER BY a.acm_id
){end}

INSERT INTO omd_facts.change_key (change_id, entity_id, acm_id, was_there, is_there)
SELECT $5, {entity_id}, a.acm_id, FALSE, TRUE FROM added AS a ORDER BY a.acm_id{else}{if members}

INSERT INTO {members} (member_entity_id, member_id)
SELECT {entity_id}, a.acm_id FROM added AS a ORDER BY a.acm_id{end}{end}$sql$;
    v_dates CONSTANT text := $sql$
{if is_noted}
WITH touched AS (
{end}
UPDATE {anchor} AS a SET
    acm_exists_ind = CASE d.acm_record_ind WHEN 'R' THEN 0 ELSE 1 END,
    acm_latest_start_dt = $2,
    acm_last_created_dt = CASE
        WHEN d.acm_record_ind <> 'R' AND a.acm_exists_ind = 0 THEN $2 ELSE a.acm_last_created_dt
    END,
    acm_physically_removed_ind = CASE d.acm_record_ind
        WHEN 'R' THEN a.acm_physically_removed_ind ELSE 0
    END,
    acm_physically_removed_by = CASE d.acm_record_ind
        WHEN 'R' THEN a.acm_physically_removed_by
    END
FROM {delta} AS d
WHERE d.delivery_id = $1 AND {d_match} AND a.acm_latest_start_dt IS DISTINCT FROM $2
    AND ({changed}){if is_noted}
    RETURNING a.acm_id, a.acm_exists_ind, a.acm_last_created_dt
)

INSERT INTO omd_facts.change_key (change_id, entity_id, acm_id, was_there, is_there)
SELECT $5, {entity_id}, t.acm_id,
    t.acm_exists_ind = 0 OR t.acm_last_created_dt IS DISTINCT FROM $2, t.acm_exists_ind = 1
FROM touched AS t
ORDER BY t.acm_id{end}$sql$;
    v_touch CONSTANT text := $sql$
UPDATE {anchor} AS a SET acm_latest_start_dt = $2
FROM {delta} AS d
WHERE d.delivery_id = $1 AND {d_match} AND coalesce(a.acm_latest_start_dt < $2, TRUE)
    AND ({changed})$sql$;
    v_removed CONSTANT text := $sql$
UPDATE {anchor} AS a SET acm_exists_ind = 0, acm_physically_removed_ind = 1,
    acm_physically_removed_by = $3
FROM {delta} AS d
WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R' AND $4 AND {d_match}$sql$;
BEGIN
    SELECT
        e.*,
        format('%I.%I', 'wrk_' || i.interface_code, 'delta_' || e.entity_code) AS delta,
        omd_facts._has_rows('cfl_' || i.interface_code, e.anchor_table) AS has_rows
    INTO v_entity
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE e.entity_id = p_entity_id;
    v_delta := jsonb_build_object('delta', v_entity.delta);
    v_columns := omd_facts._anchor_columns(p_entity_id);
    v_pieces := omd_facts._key_pieces(v_entity.anchor_entity_id, v_columns) || v_delta;
    v_pieces := v_pieces || jsonb_build_object(
        'has_rows', v_entity.has_rows,
        'is_noted', v_entity.keeps_changes,
        'is_kept', v_entity.keeps_changes OR v_pieces ? 'members'
    );
    -- A parent that is there has its own parents, so these are looked for where one is missing.
    RETURN QUERY
    SELECT 8, 'missing'::text, NULL::integer, omd._render(v_missing, p.pieces)
    FROM omd_facts.link AS l
    CROSS JOIN LATERAL (
        SELECT omd_facts._key_pieces(l.parent_entity_id, l.child_columns) || v_delta AS pieces
    ) AS p
    WHERE l.entity_id = p_entity_id AND l.parent_entity_id <> p_entity_id
    ORDER BY l.relationship_code;
    RETURN QUERY
    SELECT
        CASE WHEN r.ancestor_id = p_entity_id THEN 25 ELSE 10 END,
        CASE WHEN r.ancestor_id = p_entity_id THEN 'own_key' ELSE 'key' END,
        NULL::integer,
        omd._render(v_key, p.pieces)
    FROM omd_facts._references(p_entity_id) AS r
    CROSS JOIN LATERAL (
        SELECT omd_facts._key_pieces(r.ancestor_id, r.child_columns) || v_delta AS pieces
    ) AS p;
    IF v_entity.entity_kind <> 'CONTEXT' THEN
        RETURN QUERY VALUES (20, 'anchor', NULL::integer, omd._render(v_anchor, v_pieces));
    END IF;
    RETURN QUERY
    SELECT 30, s.step, c.context_id, s.statement
    FROM omd_facts.context AS c
    CROSS JOIN LATERAL omd_facts._context_statements(c.context_id, v_pieces) AS s
    WHERE c.entity_id = p_entity_id
    ORDER BY c.context_id, s.place;
    -- What belongs to a key that is removed physically goes with it.
    RETURN QUERY
    SELECT 40, 'remove'::text, c.context_id, omd._render(
        $sql$
WITH gone AS (
    DELETE FROM {context} AS o USING {delta} AS d, {anchor} AS a
    WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R' AND $4 AND {d_match}
        AND o.acm_id = a.acm_id
    RETURNING o.acm_id
)

SELECT count(DISTINCT g.acm_id), count(*) FROM gone AS g$sql$,
        v_pieces || omd_facts._context_pieces(c.context_id)
    )
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.context AS c USING (entity_id)
    WHERE e.anchor_entity_id = p_entity_id AND e.entity_id <> p_entity_id
    ORDER BY c.context_id;
    RETURN QUERY
    SELECT
        50,
        'dates'::text,
        NULL::integer,
        omd._render(
            CASE WHEN v_entity.entity_kind = 'CONTEXT' THEN v_touch ELSE v_dates END,
            v_pieces || jsonb_build_object(
                'changed',
                (
                    SELECT
                        string_agg(
                            omd._render(
                                'EXISTS (SELECT FROM {now} AS o WHERE o.acm_id = a.acm_id'
                                '{o_own_match} AND o.acm_start_dt = (SELECT $2))',
                                omd_facts._context_pieces(c.context_id)
                            ),
                            E'\n        OR ' ORDER BY c.context_id
                        )
                    FROM omd_facts.context AS c
                    WHERE c.entity_id = p_entity_id
                )
            )
        );
    RETURN QUERY SELECT s.place, s.step, NULL::integer, s.statement
    FROM omd_facts._change_statements(p_entity_id, v_pieces) AS s;
    RETURN QUERY SELECT 60, s.step, s.context_id, s.statement
    FROM omd_facts._supertype_statements(p_entity_id, v_pieces) AS s
    ORDER BY s.place;
    IF v_entity.entity_kind <> 'CONTEXT' THEN
        RETURN QUERY VALUES (70, 'removed', NULL::integer, omd._render(v_removed, v_pieces));
    END IF;
END
$entity_statements$;

COMMENT ON FUNCTION omd_facts._entity_statements IS
'Returns the statements that load a delta of the entity p_entity_id, in order. Parameters: $1 '
'the delivery, $2 T, $3 the Module Instance, $4 whether it deletes physically, $5 the change. '
'Locks: none.';
