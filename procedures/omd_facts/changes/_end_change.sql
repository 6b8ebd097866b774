-- The position moves last, in the commit of the rows.

CREATE OR REPLACE FUNCTION omd_facts._end_change(
    p_change_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $end_change$
DECLARE
    v_change omd_facts.change;
BEGIN
    IF p_change_id IS NULL THEN
        RETURN;
    END IF;
    UPDATE omd_facts.change AS c SET
        key_count = k.key_count,
        key_counts = k.key_counts
    FROM (
        SELECT
            coalesce(sum(n.key_count), 0) AS key_count,
            coalesce(jsonb_object_agg(n.entity_id, n.key_count), '{}'::jsonb) AS key_counts
        FROM (
            SELECT e.entity_id, (
                SELECT count(*) FROM omd_facts.change_key AS k
                WHERE k.entity_id = e.entity_id AND k.change_id = p_change_id
            ) AS key_count
            FROM omd_facts.change AS c
            INNER JOIN omd_facts.entity AS e USING (interface_id)
            WHERE c.change_id = p_change_id AND e.keeps_changes
        ) AS n
        WHERE n.key_count > 0
    ) AS k
    WHERE c.change_id = p_change_id
    RETURNING c.* INTO v_change;
    PERFORM omd.move_source(
        omd_facts._source_code(v_change.interface_id), v_change.change_datetime, p_change_id
    );
END
$end_change$;

COMMENT ON FUNCTION omd_facts._end_change IS
'Ends the change p_change_id, whose keys are written: it counts them and moves the position of the '
'interface. NULL does nothing. Locks: the position, beside readers.';
