-- The changes themselves stay, since runs are traced to them. What a reader has not passed stays
-- too; one that has never read begins at the beginning, which needs no keys. First it is said that
-- they are not there, so they may go in any order, and a purge that was stopped goes on.

CREATE OR REPLACE FUNCTION omd_facts._purge_keys(
    p_before timestamptz,
    p_limit integer,
    INOUT p_last_id bigint,
    INOUT p_deleted bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_keys$
DECLARE
    v_interface_id integer;
    v_upto bigint;
    v_slices bigint;
    v_keys bigint;
BEGIN
    p_last_id := coalesce(p_last_id, 0);
    LOOP
        SELECT i.interface_id INTO v_interface_id
        FROM omd_facts.interface AS i
        WHERE i.interface_id > p_last_id
        ORDER BY i.interface_id
        LIMIT 1;
        IF NOT FOUND THEN
            p_last_id := NULL;
            RETURN;
        END IF;
        v_upto := omd_facts._unneeded_upto(v_interface_id, p_before);
        -- A block that is being shown reads what is there in its snapshot.
        UPDATE omd_facts.interface AS i SET purged_change_id = v_upto
        WHERE i.interface_id = v_interface_id AND i.purged_change_id < v_upto;
        DELETE FROM omd_facts.change_slice AS s
        WHERE s.ctid = ANY(
            ARRAY(
                SELECT c.ctid
                FROM omd_facts.change_slice AS c
                INNER JOIN omd_facts.entity AS e ON c.entity_id = e.entity_id
                WHERE e.interface_id = v_interface_id AND c.change_id <= v_upto
                LIMIT p_limit
            )
        );
        GET DIAGNOSTICS v_slices = ROW_COUNT;
        DELETE FROM omd_facts.change_key AS k
        WHERE k.ctid = ANY(
            ARRAY(
                SELECT c.ctid
                FROM omd_facts.change_key AS c
                INNER JOIN omd_facts.entity AS e ON c.entity_id = e.entity_id
                WHERE e.interface_id = v_interface_id AND c.change_id <= v_upto
                LIMIT p_limit
            )
        );
        GET DIAGNOSTICS v_keys = ROW_COUNT;
        p_deleted := p_deleted + v_keys;
        EXIT WHEN greatest(v_slices, v_keys) >= p_limit;
        p_last_id := v_interface_id::bigint;
        EXIT WHEN v_slices + v_keys > 0;
    END LOOP;
END
$purge_keys$;

COMMENT ON FUNCTION omd_facts._purge_keys IS
'Deletes p_limit keys of changes from before p_before that every reader has passed, in the first '
'interface after p_last_id that has some. A block that begins before them is refused, but for one '
'from the beginning. It returns the last interface with nothing left, NULL at the end, and adds '
'the keys to p_deleted. Locks: the interface in this room, the deleted rows.';
GRANT EXECUTE ON FUNCTION omd_facts._purge_keys TO omd_admin;
