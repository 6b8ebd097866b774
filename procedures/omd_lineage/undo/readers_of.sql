-- A rollback of a step takes the later ones with it, so their readers are in the list too. What a
-- run that is no step has written is known by its table alone; who began after it may have read it.

CREATE OR REPLACE FUNCTION omd_lineage.readers_of(
    p_module_instance_id bigint
)
RETURNS TABLE (
    topic text,
    distance integer,
    steps bigint,
    first_instance_id bigint,
    last_instance_id bigint
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $readers_of$
DECLARE
    v_step record;
BEGIN
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    SELECT t.topic_id, o.last, i.start_value, i.start_id INTO v_step
    FROM omd.instance_state(p_module_instance_id) AS i
    INNER JOIN omd_lineage.topic AS t USING (module_id)
    INNER JOIN omd_lineage.offsets AS o USING (topic_id);
    IF NOT FOUND THEN
        IF NOT EXISTS (SELECT FROM omd.instance_state(p_module_instance_id)) THEN
            PERFORM omd.raise_error(
                'OM004', jsonb_build_object('module_instance_id', p_module_instance_id)
            );
        END IF;
        RETURN QUERY
        WITH direct AS (
            SELECT DISTINCT h.module_id
            FROM unnest(omd.written_tables(p_module_instance_id)) AS w (table_code)
            CROSS JOIN LATERAL omd_lineage.hear_undo(
                w.table_code, NULL, p_module_instance_id
            ) AS h
        ),

        found AS (
            SELECT t.topic_id, 1 AS distance
            FROM direct AS d
            INNER JOIN omd_lineage.topic AS t ON d.module_id = t.module_id
            UNION ALL
            SELECT f.topic_id, f.distance + 1
            FROM direct AS d
            INNER JOIN omd_lineage.topic AS t ON d.module_id = t.module_id
            CROSS JOIN LATERAL omd_lineage._downstream(t.topic_id) AS f
        )

        SELECT t.topic, min(f.distance), w.steps, w.first_instance_id, w.last_instance_id
        FROM found AS f
        INNER JOIN omd_lineage.topic AS t ON f.topic_id = t.topic_id
        CROSS JOIN LATERAL (
            SELECT
                count(*) AS steps,
                min(s.module_instance_id) AS first_instance_id,
                max(s.module_instance_id) AS last_instance_id
            FROM omd.succeeded_windows(
                t.module_id, '-infinity', -9223372036854775808, 'infinity', 9223372036854775807
            ) AS s
            WHERE s.module_instance_id > p_module_instance_id
        ) AS w
        WHERE w.steps > 0
        GROUP BY t.topic, w.steps, w.first_instance_id, w.last_instance_id
        ORDER BY min(f.distance), t.topic;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r.topic, r.distance, r.steps, r.first_instance_id, r.last_instance_id
    FROM omd_lineage._readers(
        v_step.topic_id, ROW(v_step.start_value, v_step.start_id), v_step.last
    ) AS r
    ORDER BY r.distance, r.topic;
END
$readers_of$;

COMMENT ON FUNCTION omd_lineage.readers_of IS
'Returns the topics downstream that have read what a rollback of the step p_module_instance_id '
'would undo, the steps after it included: the distance of each (1: directly), the number of its '
'steps that have read it, and the first and the last of these. They keep what they have made of '
'it until omd_lineage.restate takes it again. Of a run that is no step, such as a load of facts, '
'it returns the topics that have read its table since. omd_provenance.readers_of knows each run '
'that has read, in all rooms. Errors: OM004: there is no such instance; OM005: '
'p_module_instance_id is NULL. Locks: none. See docs/explanation/lineage.md. Call again when the '
'answer was lost.';
GRANT EXECUTE ON FUNCTION omd_lineage.readers_of TO omd_reader;
