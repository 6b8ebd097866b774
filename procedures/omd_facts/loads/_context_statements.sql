-- The open row decides, not what the delta says. A row that is closed is copied to the closed ones,
-- and rewritten where it is, which touches no index. The values of an alternate key may change
-- places, so there all rows leave before any comes.

CREATE OR REPLACE FUNCTION omd_facts._context_statements(
    p_context_id integer,
    p_pieces jsonb
)
RETURNS TABLE (place integer, step text, statement text)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $context_statements$
DECLARE
    v_kind text;
    v_pieces jsonb;
    v_insert CONSTANT text := $sql$
INSERT INTO {now} (acm_id{own}, acm_start_dt, acm_end_dt, acm_record_ind, acm_audit_id,
    acm_entity_id{attributes}{links})
SELECT a.acm_id{d_own}, $2, {open}, 'N', $3, {entity_id}{d_attributes}{link_values}
FROM {delta} AS d
INNER JOIN {anchor} AS a ON {d_match}{if has_rows}
LEFT JOIN {now} AS o ON a.acm_id = o.acm_id{o_own_match}{end}{link_joins}
WHERE d.delivery_id = $1 AND d.acm_record_ind <> 'R'{if has_rows} AND o.acm_id IS NULL{end}
    AND {has_value}$sql$;
    v_close CONSTANT text := $sql$
INSERT INTO {past} (acm_id{own}, acm_start_dt, acm_end_dt, acm_record_ind, acm_audit_id,
    acm_entity_id{attributes}{links})
SELECT o.acm_id{o_own}, o.acm_start_dt, $2, o.acm_record_ind, o.acm_audit_id,
    o.acm_entity_id{o_attributes}{o_links}
FROM {delta} AS d
INNER JOIN {anchor} AS a ON {d_match}
INNER JOIN {now} AS o ON a.acm_id = o.acm_id{o_own_match}
WHERE d.delivery_id = $1 AND o.acm_start_dt < $2 AND {changes}$sql$;
    v_change CONSTANT text := $sql$
WITH changed AS MATERIALIZED (
    SELECT a.acm_id, (o.*)::{now} AS o, (d.*)::{delta} AS d
    FROM {delta} AS d
    INNER JOIN {anchor} AS a ON {d_match}
    INNER JOIN {now} AS o ON a.acm_id = o.acm_id{o_own_match}
    WHERE d.delivery_id = $1 AND o.acm_start_dt < $2 AND {changes}
),

closed AS (
    INSERT INTO {past} (acm_id{own}, acm_start_dt, acm_end_dt, acm_record_ind, acm_audit_id,
        acm_entity_id{attributes}{links})
    SELECT o.acm_id{o_own}, o.acm_start_dt, $2, o.acm_record_ind, o.acm_audit_id,
        o.acm_entity_id{o_attributes}{o_links}
    FROM changed AS c
    CROSS JOIN LATERAL (SELECT (c.o).*) AS o
),

written AS (
    UPDATE {now} AS o SET
        acm_start_dt = $2,
        acm_record_ind = CASE
            WHEN d.acm_record_ind = 'R' THEN 'R' WHEN o.acm_record_ind = 'R' THEN 'N' ELSE 'A'
        END,
        acm_audit_id = $3,
        acm_entity_id = {entity_id}{set_attributes}{set_links}
    FROM changed AS c
    CROSS JOIN LATERAL (SELECT (c.d).*) AS d{link_joins}
    WHERE o.acm_id = c.acm_id{o_own_match}
    RETURNING o.acm_record_ind
)

SELECT
    count(*) FILTER (WHERE w.acm_record_ind = 'N'),
    count(*) FILTER (WHERE w.acm_record_ind = 'A'),
    count(*) FILTER (WHERE w.acm_record_ind = 'R')
FROM written AS w$sql$;
    v_take CONSTANT text := $sql$
DELETE FROM {now} AS o USING {past} AS x
WHERE x.acm_id = o.acm_id AND x.acm_start_dt = o.acm_start_dt AND x.acm_end_dt = (SELECT $2)$sql$;
    v_exchange CONSTANT text := $sql$
WITH written AS (
    INSERT INTO {now} (acm_id, acm_start_dt, acm_end_dt, acm_record_ind, acm_audit_id,
        acm_entity_id{attributes}{links})
    SELECT
        a.acm_id,
        $2,
        {open},
        CASE
            WHEN d.acm_record_ind = 'R' THEN 'R'
            WHEN x.acm_id IS NULL OR x.acm_record_ind = 'R' THEN 'N'
            ELSE 'A'
        END,
        $3,
        {entity_id}{kept_attributes}{kept_links}
    FROM {delta} AS d
    INNER JOIN {anchor} AS a ON {d_match}
    {if has_rows}
    LEFT JOIN {now} AS o ON a.acm_id = o.acm_id{o_own_match}
    {end}
    LEFT JOIN {past} AS x ON a.acm_id = x.acm_id AND x.acm_end_dt = (SELECT $2){link_joins}
    WHERE d.delivery_id = $1{if has_rows} AND o.acm_id IS NULL{end}
        AND (x.acm_id IS NOT NULL OR (d.acm_record_ind <> 'R' AND {has_value}))
    RETURNING acm_record_ind
)

SELECT
    count(*) FILTER (WHERE w.acm_record_ind = 'N'),
    count(*) FILTER (WHERE w.acm_record_ind = 'A'),
    count(*) FILTER (WHERE w.acm_record_ind = 'R')
FROM written AS w$sql$;
    v_remove CONSTANT text := $sql$
WITH gone AS (
    DELETE FROM {context} AS o USING {delta} AS d, {anchor} AS a
    WHERE d.delivery_id = $1 AND d.acm_record_ind = 'R' AND $4 AND {d_match}
        AND o.acm_id = a.acm_id{o_own_match}
    RETURNING o.acm_id{o_own}
)

SELECT count(DISTINCT g.*), count(*) FROM gone AS g$sql$;
BEGIN
    v_pieces := p_pieces || omd_facts._context_pieces(p_context_id);
    SELECT
        c.context_kind,
        v_pieces || jsonb_build_object(
            'has_rows',
            omd_facts._has_rows('cfl_' || i.interface_code, c.context_table || '_now'),
            'open', quote_literal(omd_facts._open_end()) || '::timestamptz',
            'changes',
            'CASE WHEN d.acm_record_ind = ''R'' THEN o.acm_record_ind <> ''R'' AND NOT $4'
            ' ELSE o.acm_record_ind = ''R'' OR ' || (v_pieces ->> 'differs') || ' END'
        )
    INTO v_kind, v_pieces
    FROM omd_facts.context AS c
    INNER JOIN omd_facts.entity AS e USING (entity_id)
    INNER JOIN omd_facts.interface AS i USING (interface_id)
    WHERE c.context_id = p_context_id;
    RETURN QUERY
    SELECT s.place, s.step, omd._render(s.template, v_pieces)
    FROM (
        VALUES
        (1, 'remove', v_remove, TRUE),
        (2, 'insert', v_insert, v_kind <> 'alternate_key'),
        (3, 'change', v_change, v_kind NOT IN ('immutable', 'alternate_key')),
        (4, 'close', v_close, v_kind = 'alternate_key'),
        (5, 'take', v_take, v_kind = 'alternate_key'),
        (6, 'exchange', v_exchange, v_kind = 'alternate_key')
    ) AS s (place, step, template, is_used)
    WHERE s.is_used
    ORDER BY s.place;
END
$context_statements$;

COMMENT ON FUNCTION omd_facts._context_statements IS
'Returns the statements that load a delta into the context p_context_id, in order; p_pieces is '
'about its anchor. Locks: none.';
