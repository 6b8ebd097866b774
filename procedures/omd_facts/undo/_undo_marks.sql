-- The mark of an entity is that of its newest load that stands, and the traveling now the newest of
-- all: in the middle, a later load of the entity keeps its mark, and has what was before the one
-- that is undone as its former one.

CREATE OR REPLACE FUNCTION omd_facts._undo_marks(
    p_load omd_facts.load_log
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $undo_marks$
DECLARE
    v_mark record;
    v_later_id bigint;
BEGIN
    FOR v_mark IN
        SELECT m.key::integer AS entity_id, m.key, m.value
        FROM jsonb_each(p_load.former_marks) AS m
    LOOP
        SELECT l.module_instance_id INTO v_later_id
        FROM omd_facts.load_log AS l
        WHERE l.interface_id = p_load.interface_id
            AND l.transaction_datetime > p_load.transaction_datetime
            AND l.undone_by IS NULL
            AND l.former_marks ? v_mark.key
        ORDER BY l.transaction_datetime
        LIMIT 1;
        IF FOUND THEN
            UPDATE omd_facts.load_log AS l SET
                former_marks = l.former_marks || jsonb_build_object(v_mark.key, v_mark.value)
            WHERE l.module_instance_id = v_later_id;
        ELSIF v_mark.value = 'null' THEN
            DELETE FROM omd_facts.entity_mark AS k WHERE k.entity_id = v_mark.entity_id;
        ELSE
            UPDATE omd_facts.entity_mark AS k
            SET mark_datetime = (v_mark.value #>> '{}')::timestamptz
            WHERE k.entity_id = v_mark.entity_id;
        END IF;
    END LOOP;
    UPDATE omd_facts.interface AS i SET traveling_now = greatest(
        (
            SELECT max(k.mark_datetime)
            FROM omd_facts.entity AS e
            INNER JOIN omd_facts.entity_mark AS k USING (entity_id)
            WHERE e.interface_id = p_load.interface_id
        ),
        (
            SELECT max(t.transaction_datetime)
            FROM omd_facts.transaction_log AS t
            WHERE t.interface_id = p_load.interface_id
        )
    )
    WHERE i.interface_id = p_load.interface_id;
END
$undo_marks$;

COMMENT ON FUNCTION omd_facts._undo_marks IS
'Takes the marks of the entities of p_load, and the traveling now, back to those of what stands '
'without it. Locks: the marks, the interface in this room.';
