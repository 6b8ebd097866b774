-- The changes themselves stay, since runs are traced to them. What a reader has not passed stays
-- too; one that has never read begins at the beginning, which needs no keys.

CREATE OR REPLACE PROCEDURE omd_facts.purge_changes(
    p_keep interval,
    INOUT p_purged bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_changes$
DECLARE
    v_interface record;
    v_count bigint;
BEGIN
    IF p_keep IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_keep'));
    ELSIF p_keep < interval '0' THEN
        PERFORM omd.raise_error(
            'OM013', jsonb_build_object(
                'argument', 'p_keep', 'value', p_keep, 'expected', 'an interval of 0 or more'
            )
        );
    END IF;
    p_purged := 0;
    FOR v_interface IN
        SELECT i.interface_id, i.purged_change_id, b.change_id
        FROM omd_facts.interface AS i
        CROSS JOIN LATERAL (
            SELECT c.change_id
            FROM omd_facts.change AS c
            WHERE c.interface_id = i.interface_id
                AND c.change_datetime < clock_timestamp() - p_keep
                AND c.change_id <= coalesce(
                    (
                        SELECT min(r.end_id)
                        FROM omd.source_readers('facts.' || i.interface_code) AS r
                    ),
                    9223372036854775807
                )
            ORDER BY c.change_id DESC
            LIMIT 1
        ) AS b
        WHERE b.change_id > i.purged_change_id
        ORDER BY i.interface_id
    LOOP
        -- A block that is being shown reads what is there in its snapshot.
        UPDATE omd_facts.interface AS i SET purged_change_id = v_interface.change_id
        WHERE i.interface_id = v_interface.interface_id;
        DELETE FROM omd_facts.change_slice AS s USING omd_facts.entity AS e
        WHERE e.interface_id = v_interface.interface_id
            AND s.entity_id = e.entity_id
            AND s.change_id <= v_interface.change_id;
        DELETE FROM omd_facts.change_key AS k USING omd_facts.entity AS e
        WHERE e.interface_id = v_interface.interface_id
            AND k.entity_id = e.entity_id
            AND k.change_id <= v_interface.change_id;
        GET DIAGNOSTICS v_count = ROW_COUNT;
        p_purged := p_purged + v_count;
    END LOOP;
END
$purge_changes$;

COMMENT ON PROCEDURE omd_facts.purge_changes IS
'Removes the keys of changes that are older than p_keep and that every reader has passed, and '
'returns how many (p_purged). A block that begins before them is refused, but for one from '
'the beginning. Errors: OM005: p_keep is NULL; OM013: it is negative. Locks: the interfaces in '
'this room. Call again when the answer was lost.';
REVOKE ALL ON PROCEDURE omd_facts.purge_changes FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_facts.purge_changes TO omd_admin;
