-- An undo is one change for all that it takes back, and its keys are theirs, so that each reader
-- meets them again. A key is then what it was before the first of them. A recall takes back whoever
-- has met them: their keys go, and its own are for those alone who begin between.

CREATE OR REPLACE FUNCTION omd_facts._undo_change(
    p_interface_id integer,
    p_undone_by bigint,
    p_instance_array bigint[],
    p_is_recall boolean
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undo_change$
DECLARE
    v_ids bigint[];
    v_entity_ids integer[];
    v_change_id bigint;
BEGIN
    -- Changes of before the first of these runs are older than its start.
    SELECT array_agg(c.change_id), array_agg(DISTINCT e.id)
    INTO v_ids, v_entity_ids
    FROM omd_facts.change AS c
    CROSS JOIN LATERAL unnest(c.entity_ids) AS e (id)
    WHERE c.interface_id = p_interface_id
        AND c.module_instance_id = ANY(p_instance_array)
        AND c.change_kind IN ('LOAD', 'RESYNC')
        AND c.undone_by_change_id IS NULL;
    IF v_ids IS NULL THEN
        RETURN NULL;
    END IF;
    v_change_id := omd_facts._begin_change(
        p_interface_id, 'UNDO', NULL, p_undone_by, NULL, v_entity_ids
    );
    IF v_change_id IS NULL THEN
        RETURN NULL;
    END IF;
    UPDATE omd_facts.change AS c SET is_recall = TRUE
    WHERE c.change_id = v_change_id AND p_is_recall;
    UPDATE omd_facts.change AS c SET undone_by_change_id = v_change_id
    WHERE c.change_id = ANY(v_ids);
    INSERT INTO omd_facts.change_key (
        change_id, entity_id, acm_id, was_there, is_there, undone_from
    )
    SELECT
        v_change_id,
        k.entity_id,
        k.acm_id,
        (array_agg(k.is_there ORDER BY k.change_id DESC))[1],
        (array_agg(k.was_there ORDER BY k.change_id))[1],
        CASE WHEN p_is_recall THEN min(k.change_id) ELSE 0 END
    FROM omd_facts.change_key AS k
    WHERE k.entity_id = ANY(v_entity_ids) AND k.change_id = ANY(v_ids)
    GROUP BY k.entity_id, k.acm_id;
    INSERT INTO omd_facts.change_slice (
        change_id, entity_id, acm_id, own_key, was_there, is_there, undone_from
    )
    SELECT
        v_change_id,
        s.entity_id,
        s.acm_id,
        s.own_key,
        (array_agg(s.is_there ORDER BY s.change_id DESC))[1],
        (array_agg(s.was_there ORDER BY s.change_id))[1],
        CASE WHEN p_is_recall THEN min(s.change_id) ELSE 0 END
    FROM omd_facts.change_slice AS s
    WHERE s.entity_id = ANY(v_entity_ids) AND s.change_id = ANY(v_ids)
    GROUP BY s.entity_id, s.acm_id, s.own_key;
    IF p_is_recall THEN
        DELETE FROM omd_facts.change_key AS k
        WHERE k.entity_id = ANY(v_entity_ids) AND k.change_id = ANY(v_ids);
        DELETE FROM omd_facts.change_slice AS s
        WHERE s.entity_id = ANY(v_entity_ids) AND s.change_id = ANY(v_ids);
    END IF;
    PERFORM omd_facts._end_change(v_change_id);
    RETURN v_change_id;
END
$undo_change$;

COMMENT ON FUNCTION omd_facts._undo_change IS
'Writes the UNDO of the changes of the interface p_interface_id that the Module Instances '
'p_instance_array made, by the Module Instance p_undone_by, and returns it; NULL: they made none. '
'p_is_recall: all who have read them are undone too. Locks: the changes, the position.';
