-- A row that a load wrote may have been closed by a later one, which goes too: its closed rows end
-- behind its own time. What a load closed comes back, unless its own run goes as well.

CREATE OR REPLACE FUNCTION omd_facts.recall_effects(
    p_instance_array bigint[],
    p_is_counted boolean DEFAULT TRUE
)
RETURNS TABLE (
    module_instance_id bigint,
    delivery_id bigint,
    table_code text,
    action text,
    rows_go bigint,
    rows_back bigint,
    comes_again text,
    problem text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_effects$
DECLARE
    v_load omd_facts.load_log;
    v_context_id integer;
    v_statement text;
    v_counted CONSTANT text := $sql$
SELECT
    (SELECT count(*) FROM {now} AS o WHERE o.acm_audit_id = $1)
    + (SELECT count(*) FROM {past} AS x WHERE x.acm_audit_id = $1 AND x.acm_end_dt > $2),
    (SELECT count(*) FROM {past} AS x WHERE x.acm_end_dt = $2 AND x.acm_audit_id <> ALL($3))$sql$;
BEGIN
    FOR v_load IN
        SELECT l.* FROM omd_facts.load_log AS l
        WHERE l.module_instance_id = ANY(p_instance_array) AND l.undone_by IS NULL
        ORDER BY l.module_instance_id DESC
    LOOP
        module_instance_id := v_load.module_instance_id;
        delivery_id := v_load.delivery_id;
        problem := omd_facts._recall_problem(v_load);
        action := CASE
            WHEN problem IS NOT NULL THEN 'BLOCKED'
            WHEN v_load.queue_id IS NULL THEN 'UNDO'
            ELSE 'REQUEUE'
        END;
        comes_again := CASE WHEN v_load.queue_id IS NOT NULL THEN 'QUEUE' END;
        rows_go := CASE WHEN p_is_counted AND action <> 'BLOCKED' THEN 0::bigint END;
        rows_back := rows_go;
        table_code := NULL;
        FOR v_context_id, table_code IN
            SELECT c.context_id, format('%I.%I', 'cfl_' || i.interface_code, c.context_table)
            FROM omd_facts.context AS c
            INNER JOIN omd_facts.entity AS e USING (entity_id)
            INNER JOIN omd_facts.interface AS i USING (interface_id)
            WHERE c.entity_id = ANY(omd_facts._written_entities(v_load))
            ORDER BY c.context_id
        LOOP
            IF p_is_counted AND action <> 'BLOCKED' THEN
                v_statement := omd._render(
                    v_counted, omd_facts._context_pieces(v_context_id)
                );
                EXECUTE v_statement INTO rows_go, rows_back
                USING v_load.module_instance_id, v_load.transaction_datetime, p_instance_array;
            END IF;
            RETURN NEXT;
        END LOOP;
        -- A load without rows is taken back too.
        IF table_code IS NULL THEN
            RETURN NEXT;
        END IF;
    END LOOP;
    RETURN QUERY
    SELECT
        g.module_instance_id,
        g.delivery_id,
        NULL::text,
        'BLOCKED',
        NULL::bigint,
        NULL::bigint,
        NULL::text,
        'NO_ROLLBACK: rows that were written through views are not taken back'
    FROM omd_facts.gdal_delivery AS g
    WHERE g.module_instance_id = ANY(p_instance_array)
    ORDER BY g.module_instance_id DESC;
END
$recall_effects$;

COMMENT ON FUNCTION omd_facts.recall_effects IS
'For rooms: Returns what it does to take the loads p_instance_array back, all together: a row per '
'run and table of contexts, the newest load first. action: REQUEUE, comes_again QUEUE; UNDO, of a '
'resync; BLOCKED: it can''t be taken back, and problem says why. rows_go: rows with its stamp; '
'rows_back: rows of other runs than p_instance_array that it had replaced; NULL: p_is_counted is '
'false, or it is BLOCKED. Runs of other rooms are passed over. Locks: none.';
