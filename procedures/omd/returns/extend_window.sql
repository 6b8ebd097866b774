-- A block of changes that an undo has reached over goes on to the undo, and what was to be taken
-- again up to there is in it.

CREATE OR REPLACE FUNCTION omd.extend_window(
    p_window_return_id bigint,
    p_end_value timestamptz,
    p_end_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $extend_window$
DECLARE
    v_others record;
BEGIN
    WITH other AS (
        UPDATE omd.window_return AS w SET ended_datetime = clock_timestamp()
        FROM omd.window_return AS own
        WHERE own.window_return_id = p_window_return_id
            AND w.module_id = own.module_id
            AND w.window_return_id <> own.window_return_id
            AND w.ended_datetime IS NULL
            AND (w.start_value, w.start_id) < (p_end_value, p_end_id)
        RETURNING w.end_value, w.end_id, w.former_instances
    )

    SELECT
        (SELECT o.end_value FROM other AS o ORDER BY o.end_value DESC, o.end_id DESC LIMIT 1)
            AS end_value,
        max(o.end_id) AS end_id,
        array_agg(DISTINCT f.id) FILTER (WHERE f.id IS NOT NULL) AS former
    INTO v_others
    FROM other AS o
    CROSS JOIN LATERAL unnest(o.former_instances) AS f (id);
    UPDATE omd.window_return AS w SET
        end_value = greatest(p_end_value, v_others.end_value),
        end_id = greatest(p_end_id, v_others.end_id),
        former_instances = ARRAY(
            SELECT DISTINCT f.id FROM unnest(w.former_instances || v_others.former) AS f (id)
            ORDER BY f.id
        )
    WHERE w.window_return_id = p_window_return_id;
END
$extend_window$;

COMMENT ON FUNCTION omd.extend_window IS
'For rooms: Lets the window p_window_return_id of changes, which is to be taken again, go on to '
'p_end_value and p_end_id; what begins before that end is taken with it. Locks: the entries.';
