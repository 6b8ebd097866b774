-- Its contexts do not tell what a key was that was removed physically, so a load that may bring it
-- back writes it down. Few entities have such keys.

CREATE OR REPLACE FUNCTION omd_facts._removed_anchors(
    p_entity_id integer,
    p_delivery_id bigint
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $removed_anchors$
DECLARE
    v_anchor record;
    v_keys jsonb;
    v_all jsonb := '{}'::jsonb;
BEGIN
    FOR v_anchor IN
        SELECT
            n.entity_id,
            omd_facts._key_pieces(n.entity_id, n.columns)
            || jsonb_build_object(
                'delta', format('%I.%I', 'wrk_' || n.interface_code, 'delta_' || n.entity_code)
            ) AS pieces
        FROM (
            SELECT e.entity_code, i.interface_code, r.ancestor_id AS entity_id,
                r.child_columns AS columns
            FROM omd_facts.entity AS e
            INNER JOIN omd_facts.interface AS i USING (interface_id)
            CROSS JOIN LATERAL omd_facts._references(e.entity_id) AS r
            WHERE e.entity_id = p_entity_id
                AND (
                    r.ancestor_id = e.anchor_entity_id
                    OR r.ancestor_id = ANY(omd_facts._with_supertypes(ARRAY[e.entity_id]))
                )
            UNION
            SELECT e.entity_code, i.interface_code, e.anchor_entity_id,
                omd_facts._anchor_columns(e.entity_id)
            FROM omd_facts.entity AS e
            INNER JOIN omd_facts.interface AS i USING (interface_id)
            WHERE e.entity_id = p_entity_id
        ) AS n
        INNER JOIN omd_facts.entity AS k ON n.entity_id = k.entity_id AND k.has_removals
    LOOP
        EXECUTE format(
            'SELECT jsonb_object_agg(a.acm_id, jsonb_build_array('
            'a.acm_latest_start_dt, a.acm_last_created_dt, a.acm_physically_removed_by))'
            ' FROM %s AS d INNER JOIN %s AS a ON %s'
            ' WHERE d.delivery_id = $1 AND a.acm_physically_removed_ind = 1',
            v_anchor.pieces ->> 'delta', v_anchor.pieces ->> 'anchor', v_anchor.pieces ->> 'd_match'
        ) INTO v_keys USING p_delivery_id;
        v_all := v_all || jsonb_build_object(
            v_anchor.entity_id::text,
            coalesce(v_keys, '{}') || coalesce(v_all -> v_anchor.entity_id::text, '{}')
        );
    END LOOP;
    RETURN v_all;
END
$removed_anchors$;

COMMENT ON FUNCTION omd_facts._removed_anchors IS
'Returns the anchors that the delta of p_delivery_id in the entity p_entity_id names and that were '
'removed physically: per entity and acm_id [latest start, last creation, who removed it]. Locks: '
'none.';
