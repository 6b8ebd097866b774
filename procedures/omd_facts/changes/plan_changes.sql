-- A block is whole changes. It never ends between a change and its undo, since it would be read
-- otherwise later; then it goes on to the undo, however many keys that brings. How many keys a
-- change touched stands in its row, so nothing is counted, and keys that are purged count too.

CREATE OR REPLACE FUNCTION omd_facts.plan_changes(
    p_source_code text,
    p_table_array text[],
    p_pos timestamptz,
    p_id bigint,
    p_upto timestamptz,
    p_maxstep bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_key_count bigint,
    OUT p_is_full boolean,
    OUT p_min_pos timestamptz
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $plan_changes$
DECLARE
    v_interface_id integer;
    v_purged_id bigint;
    v_after CONSTANT bigint := CASE
        WHEN p_id > -9223372036854775808 THEN p_id
        ELSE coalesce(omd_facts.change_at(p_source_code, p_pos), 0)
    END;
    v_entities text[];
    v_change record;
    v_keys bigint;
    v_least bigint;
    v_walked integer := 0;
BEGIN
    SELECT i.interface_id, i.purged_change_id INTO v_interface_id, v_purged_id
    FROM omd_facts.interface AS i
    WHERE i.interface_code = substr(p_source_code, 7);
    v_entities := ARRAY(
        SELECT e.entity_id::text
        FROM omd_facts.entity AS e
        WHERE e.interface_id = v_interface_id
            AND e.entity_code = ANY(
                ARRAY(
                    SELECT (parse_ident(t.table_code))[2]
                    FROM unnest(p_table_array) AS t (table_code)
                )
            )
    );
    p_key_count := 0;
    p_is_full := FALSE;
    -- From the beginning it takes all whose keys are purged, since nothing separates them.
    SELECT
        greatest(max(c.undone_by_change_id), CASE WHEN v_after = 0 THEN v_purged_id END)
    INTO v_least
    FROM omd_facts.change AS c
    WHERE c.interface_id = v_interface_id
        AND c.undone_by_change_id > v_after
        AND c.change_id <= v_after;
    FOR v_change IN
        SELECT c.change_id, c.change_datetime, c.key_counts, c.undone_by_change_id
        FROM omd_facts.change AS c
        WHERE c.interface_id = v_interface_id AND c.change_id > v_after
        ORDER BY c.change_id
    LOOP
        v_keys := (
            SELECT coalesce(sum(k.value::bigint), 0)::bigint
            FROM jsonb_each_text(v_change.key_counts) AS k
            WHERE k.key = ANY(v_entities)
        );
        IF coalesce(v_change.change_id > v_least, TRUE) THEN
            EXIT WHEN v_change.change_datetime > p_upto;
            IF p_key_count > 0 AND v_keys > p_maxstep - p_key_count OR v_walked >= 10000 THEN
                p_is_full := TRUE;
                EXIT;
            END IF;
        END IF;
        v_walked := v_walked + 1;
        p_end_pos := v_change.change_datetime;
        p_end_id := v_change.change_id;
        p_min_pos := coalesce(p_min_pos, v_change.change_datetime);
        p_key_count := p_key_count + v_keys;
        v_least := greatest(v_least, v_change.undone_by_change_id);
    END LOOP;
END
$plan_changes$;

COMMENT ON FUNCTION omd_facts.plan_changes IS
'For rooms: Plans a block of changes of the source p_source_code (facts.<interface>) behind p_pos '
'and p_id, of those not after p_upto: as many as have at most p_maxstep keys of the entities that '
'p_table_array shows, but at least one, and never ending between a change and its undo. Returns '
'its last change p_end_pos and p_end_id (NULL: there is nothing new), p_key_count, p_is_full '
'(more follow) and p_min_pos, its first change. Locks: none.';
