-- The rows of the load go first, since values of alternate keys may have changed places; then what
-- it closed is open again. The anchors that it touched bear its T, and the log has those that had
-- been removed physically. In the middle an anchor may bear the T of a later load, of another
-- entity that has the same anchor: so it gets the T of this one before.

CREATE OR REPLACE FUNCTION omd_facts._undo_load(
    p_load omd_facts.load_log,
    p_gone_array bigint[]
)
RETURNS TABLE (
    table_code text,
    rows_gone bigint,
    rows_returned bigint
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undo_load$
DECLARE
    v_context record;
    v_entity record;
    v_pieces jsonb;
    v_statement text;
    v_wrote CONSTANT integer[] := omd_facts._written_entities(p_load);
    v_is_in_middle CONSTANT boolean := EXISTS (
        SELECT FROM omd_facts.load_log AS l
        WHERE l.interface_id = p_load.interface_id
            AND l.transaction_datetime > p_load.transaction_datetime
            AND l.undone_by IS NULL
    );
BEGIN
    FOR v_context IN
        SELECT
            c.context_id,
            c.entity_id,
            c.context_table,
            'cfl_' || i.interface_code AS cfl,
            e.anchor_table
        FROM omd_facts.context AS c
        INNER JOIN omd_facts.entity AS e USING (entity_id)
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        WHERE c.entity_id = ANY(p_load.entity_ids)
        ORDER BY c.context_id
    LOOP
        v_pieces := omd_facts._context_pieces(v_context.context_id) || jsonb_build_object(
            'open', quote_literal(omd_facts._open_end()) || '::timestamptz',
            'anchor', format('%I.%I', v_context.cfl, v_context.anchor_table)
        );
        IF v_is_in_middle THEN
            v_statement := omd._render(
                $sql$
UPDATE {anchor} AS a SET acm_latest_start_dt = $2
FROM {now} AS o
WHERE o.acm_audit_id = $1 AND o.acm_id = a.acm_id AND a.acm_latest_start_dt > $2$sql$,
                v_pieces
            );
            EXECUTE v_statement USING p_load.module_instance_id, p_load.transaction_datetime;
        END IF;
        v_statement := omd._render(
            'DELETE FROM {now} AS o WHERE o.acm_audit_id = $1', v_pieces
        );
        EXECUTE v_statement USING p_load.module_instance_id;
        GET DIAGNOSTICS rows_gone = ROW_COUNT;
        v_statement := omd._render(
            $sql$
WITH closed AS (
    DELETE FROM {past} AS x WHERE x.acm_end_dt = $1 RETURNING x.*
),

opened AS (
    INSERT INTO {now} (acm_id{own}, acm_start_dt, acm_end_dt, acm_record_ind, acm_audit_id,
        acm_entity_id{attributes}{links})
    SELECT o.acm_id{o_own}, o.acm_start_dt, {open}, o.acm_record_ind, o.acm_audit_id,
        o.acm_entity_id{o_attributes}{o_links}
    FROM closed AS o
    RETURNING acm_audit_id
)

SELECT count(*) FROM opened AS o WHERE o.acm_audit_id <> ALL($2)$sql$,
            v_pieces
        );
        EXECUTE v_statement INTO rows_returned
        USING p_load.transaction_datetime, p_gone_array;
        IF rows_gone > 0 OR rows_returned > 0 OR v_context.entity_id = ANY(v_wrote) THEN
            table_code := format('%I.%I', v_context.cfl, v_context.context_table);
            RETURN NEXT;
        END IF;
    END LOOP;
    FOR v_entity IN
        SELECT DISTINCT
            format('%I.%I', 'cfl_' || i.interface_code, e.anchor_table) AS anchor,
            'cfl_' || i.interface_code AS cfl,
            e.anchor_entity_id
        FROM omd_facts.entity AS e
        INNER JOIN omd_facts.interface AS i USING (interface_id)
        WHERE e.entity_id = ANY(p_load.entity_ids)
    LOOP
        SELECT
            omd._render(
                $sql$
UPDATE {anchor} AS a SET
    acm_exists_ind = CASE WHEN EXISTS (
        SELECT FROM {p}_now AS o WHERE o.acm_id = a.acm_id AND o.acm_record_ind <> 'R'
    ) THEN 1 ELSE 0 END,
    acm_latest_start_dt = greatest({latest}),
    acm_last_created_dt = (
        SELECT max(o.acm_start_dt) FROM {p} AS o
        WHERE o.acm_id = a.acm_id AND o.acm_record_ind = 'N'
    )
WHERE a.acm_latest_start_dt = $1$sql$,
                jsonb_build_object(
                    'anchor', v_entity.anchor,
                    'latest', string_agg(
                        format(
                            '(SELECT max(o.acm_start_dt) FROM %I.%I AS o WHERE o.acm_id = a.acm_id)',
                            v_entity.cfl, c.context_table || '_now'
                        ),
                        ', '
                    ),
                    'p', format(
                        '%I.%I', v_entity.cfl,
                        min(c.context_table) FILTER (WHERE c.context_code = 'properties'
                            AND c.entity_id = v_entity.anchor_entity_id)
                    )
                )
            )
        INTO v_statement
        FROM omd_facts.context AS c
        INNER JOIN omd_facts.entity AS e USING (entity_id)
        WHERE e.anchor_entity_id = v_entity.anchor_entity_id;
        EXECUTE v_statement USING p_load.transaction_datetime;
        IF p_load.former_anchors ? v_entity.anchor_entity_id::text THEN
            EXECUTE format(
                'UPDATE %s AS a SET acm_exists_ind = 0, acm_physically_removed_ind = 1,'
                ' acm_latest_start_dt = (f.value ->> 0)::timestamptz,'
                ' acm_last_created_dt = (f.value ->> 1)::timestamptz,'
                ' acm_physically_removed_by = (f.value ->> 2)::bigint'
                ' FROM jsonb_each($1) AS f WHERE a.acm_id = f.key::bigint',
                v_entity.anchor
            ) USING p_load.former_anchors -> v_entity.anchor_entity_id::text;
        END IF;
    END LOOP;
    PERFORM omd_facts._undo_marks(p_load);
END
$undo_load$;

COMMENT ON FUNCTION omd_facts._undo_load IS
'Takes the rows of p_load back: they go, and what they closed is open. Returns how many went and '
'came back in each table of contexts; rows of the runs p_gone_array, which go too, do not count as '
'come back. Locks: the rows.';
