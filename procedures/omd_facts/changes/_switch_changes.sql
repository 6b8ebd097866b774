-- Facts that are there when keys begin to be kept are a change of their own, so that a block from
-- before has them.

CREATE OR REPLACE FUNCTION omd_facts._switch_changes(
    p_interface_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $switch_changes$
DECLARE
    v_entity record;
    v_change_id bigint;
    v_rows bigint;
    v_statement text;
BEGIN
    PERFORM omd.declare_source(
        omd_facts._source_code(p_interface_id),
        'FACTS',
        ARRAY(
            SELECT v.prefix || i.interface_code || '.' || e.entity_code
            FROM omd_facts.entity AS e
            INNER JOIN omd_facts.interface AS i USING (interface_id)
            CROSS JOIN (
                VALUES ('gdal_'), ('asof_'), ('history_'), ('changes_')
            ) AS v (prefix)
            WHERE e.interface_id = p_interface_id AND (v.prefix <> 'changes_' OR e.keeps_changes)
        )
    );
    DELETE FROM omd_facts.change_key AS k USING omd_facts.entity AS e
    WHERE k.entity_id = e.entity_id
        AND e.interface_id = p_interface_id
        AND NOT e.keeps_changes
        AND e.changes_from IS NOT NULL;
    DELETE FROM omd_facts.change_slice AS s USING omd_facts.entity AS e
    WHERE s.entity_id = e.entity_id
        AND e.interface_id = p_interface_id
        AND NOT e.keeps_changes
        AND e.changes_from IS NOT NULL;
    UPDATE omd_facts.entity AS e SET changes_from = NULL
    WHERE e.interface_id = p_interface_id
        AND NOT e.keeps_changes
        AND e.changes_from IS NOT NULL;
    FOR v_entity IN
        SELECT e.entity_id, e.entity_kind, omd_facts._change_pieces(e.entity_id) AS pieces
        FROM omd_facts.entity AS e
        WHERE e.interface_id = p_interface_id AND e.keeps_changes AND e.changes_from IS NULL
        ORDER BY e.entity_id
    LOOP
        v_statement := omd._render(
            'SELECT count(*) FROM (SELECT FROM {now} AS o LIMIT 1) AS o', v_entity.pieces
        );
        EXECUTE v_statement INTO v_rows;
        IF v_rows > 0 THEN
            v_change_id := coalesce(
                v_change_id,
                omd_facts._begin_change(p_interface_id, 'RESYNC', NULL, NULL, NULL, '{}')
            );
            UPDATE omd_facts.change AS c SET entity_ids = c.entity_ids || v_entity.entity_id
            WHERE c.change_id = v_change_id;
            IF v_entity.entity_kind = 'CONTEXT' THEN
                v_statement := omd._render(
                    'INSERT INTO omd_facts.change_slice (change_id, entity_id, acm_id, own_key,'
                    ' was_there, is_there) SELECT $1, {noted_id}, o.acm_id, {own_json}, FALSE, TRUE'
                    ' FROM {now} AS o WHERE o.acm_record_ind <> ''R''',
                    v_entity.pieces
                );
                EXECUTE v_statement USING v_change_id;
            END IF;
            v_statement := omd._render(
                'INSERT INTO omd_facts.change_key (change_id, entity_id, acm_id, was_there, is_there)'
                ' SELECT DISTINCT $1, {noted_id}, o.acm_id, FALSE, TRUE'
                ' FROM {now} AS o WHERE o.acm_record_ind <> ''R''',
                v_entity.pieces
            );
            EXECUTE v_statement USING v_change_id;
        END IF;
        UPDATE omd_facts.entity AS e SET changes_from = coalesce(v_change_id, 0::bigint)
        WHERE e.entity_id = v_entity.entity_id;
    END LOOP;
    PERFORM omd_facts._end_change(v_change_id);
END
$switch_changes$;

COMMENT ON FUNCTION omd_facts._switch_changes IS
'Begins to keep the keys of changes for the entities of the interface p_interface_id whose model '
'says so, and ends it for those whose model does not any more; declares its views. Locks: the '
'changes.';
