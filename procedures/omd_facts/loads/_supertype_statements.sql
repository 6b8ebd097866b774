-- Whatever comes to exist as a subtype exists as its supertypes too, also when the same delivery
-- deletes it as one of them.

CREATE OR REPLACE FUNCTION omd_facts._supertype_statements(
    p_entity_id integer,
    p_pieces jsonb
)
RETURNS TABLE (place integer, step text, context_id integer, statement text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $supertype_statements$
DECLARE
    v_supertype omd_facts.entity;
    v_context_id integer;
    v_pieces jsonb;
    v_place integer := 0;
    v_close CONSTANT text := $sql$
INSERT INTO {past} (acm_id, acm_start_dt, acm_end_dt, acm_record_ind, acm_audit_id,
    acm_entity_id{attributes}{links})
SELECT o.acm_id, o.acm_start_dt, $2, o.acm_record_ind, o.acm_audit_id,
    o.acm_entity_id{o_attributes}{o_links}
FROM {delta} AS d
INNER JOIN {anchor} AS a ON {d_match}
INNER JOIN {super} AS s ON a.acm_id = s.acm_id AND s.acm_exists_ind = 0
INNER JOIN {now} AS o ON a.acm_id = o.acm_id
WHERE d.delivery_id = $1 AND d.acm_record_ind <> 'R' AND a.acm_last_created_dt = (SELECT $2)
    AND o.acm_start_dt < $2$sql$;
    v_delete CONSTANT text := $sql$
DELETE FROM {now} AS o USING {past} AS x
WHERE x.acm_id = o.acm_id AND x.acm_start_dt = o.acm_start_dt AND x.acm_end_dt = (SELECT $2)
    AND x.acm_record_ind = 'R'$sql$;
    v_revive CONSTANT text := $sql$
UPDATE {now} AS o SET
    (acm_record_ind, acm_audit_id, acm_entity_id{attributes}{links})
    = ROW('N', $3, {super_id}{nulls}{null_links})
FROM {delta} AS d
INNER JOIN {anchor} AS a ON {d_match}
INNER JOIN {super} AS s ON a.acm_id = s.acm_id AND s.acm_exists_ind = 0
WHERE d.delivery_id = $1 AND d.acm_record_ind <> 'R' AND a.acm_last_created_dt = (SELECT $2)
    AND o.acm_id = a.acm_id AND o.acm_start_dt = $2 AND o.acm_record_ind = 'R'$sql$;
    v_return CONSTANT text := $sql$
INSERT INTO {now} (acm_id, acm_start_dt, acm_end_dt, acm_record_ind, acm_audit_id,
    acm_entity_id{attributes}{links})
SELECT a.acm_id, $2, {open}, 'N', $3, {super_id}{nulls}{null_links}
FROM {delta} AS d
INNER JOIN {anchor} AS a ON {d_match}
INNER JOIN {super} AS s ON a.acm_id = s.acm_id AND s.acm_exists_ind = 0
WHERE d.delivery_id = $1 AND d.acm_record_ind <> 'R' AND a.acm_last_created_dt = (SELECT $2){not_open}$sql$;
    v_dates CONSTANT text := $sql$
{if is_noted}
WITH touched AS (
{end}
UPDATE {super} AS s SET acm_exists_ind = 1, acm_latest_start_dt = $2, acm_last_created_dt = $2,
    acm_physically_removed_ind = 0, acm_physically_removed_by = NULL
FROM {delta} AS d
INNER JOIN {anchor} AS a ON {d_match}
WHERE d.delivery_id = $1 AND d.acm_record_ind <> 'R' AND a.acm_last_created_dt = (SELECT $2)
    AND s.acm_id = a.acm_id AND s.acm_exists_ind = 0{if is_noted}
    RETURNING s.acm_id
)

INSERT INTO omd_facts.change_key (change_id, entity_id, acm_id, was_there, is_there)
SELECT $5, {super_id}, t.acm_id, FALSE, TRUE
FROM touched AS t
ORDER BY t.acm_id
ON CONFLICT (entity_id, change_id, acm_id) DO UPDATE SET is_there = TRUE{end}$sql$;
BEGIN
    SELECT s.* INTO v_supertype
    FROM omd_facts.entity AS e
    INNER JOIN omd_facts.entity AS s ON e.supertype_id = s.entity_id
    WHERE e.entity_id = p_entity_id;
    WHILE v_supertype.entity_id IS NOT NULL LOOP
        SELECT c.context_id INTO v_context_id
        FROM omd_facts.context AS c
        WHERE c.entity_id = v_supertype.entity_id AND c.context_code = 'properties';
        v_pieces := omd_facts._context_pieces(v_context_id) || p_pieces || jsonb_build_object(
            'open', quote_literal(omd_facts._open_end()) || '::timestamptz',
            'super', (
                SELECT format('%I.%I', 'cfl_' || i.interface_code, v_supertype.anchor_table)
                FROM omd_facts.interface AS i
                WHERE i.interface_id = v_supertype.interface_id
            ),
            'super_id', v_supertype.entity_id,
            'is_noted', v_supertype.keeps_changes,
            'not_open', (
                SELECT
                    CASE
                        WHEN omd_facts._has_rows('cfl_' || i.interface_code, c.context_table || '_now')
                            THEN format(
                                E'\n    AND NOT EXISTS'
                                ' (SELECT FROM %I.%I AS o WHERE a.acm_id = o.acm_id)',
                                'cfl_' || i.interface_code, c.context_table || '_now'
                            )
                        ELSE ''
                    END
                FROM omd_facts.context AS c
                INNER JOIN omd_facts.interface AS i ON i.interface_id = v_supertype.interface_id
                WHERE c.context_id = v_context_id
            ),
            'links', omd_facts._context_pieces(v_context_id) -> 'links'
        );
        RETURN QUERY
        SELECT v_place + t.place, t.step, v_context_id, omd._render(t.template, v_pieces)
        FROM (
            VALUES
            (1, 'super_close', v_close),
            (2, 'super_delete', v_delete),
            (3, 'super_revive', v_revive),
            (4, 'super_return', v_return),
            (5, 'super_dates', v_dates)
        ) AS t (place, step, template);
        v_place := v_place + 10;
        SELECT s.* INTO v_supertype
        FROM omd_facts.entity AS s
        WHERE s.entity_id = v_supertype.supertype_id;
    END LOOP;
END
$supertype_statements$;

COMMENT ON FUNCTION omd_facts._supertype_statements IS
'Returns the statements by which the supertypes of the entity p_entity_id come to exist with it, '
'in order. Locks: none.';
