-- Topics in a circle would wait for one another for ever. The caller has locked the dependencies,
-- so no other registration closes a circle at the same time.

CREATE OR REPLACE FUNCTION omd_lineage._require_no_cycle(
    p_topic_id integer
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_no_cycle$
DECLARE
    v_through text;
BEGIN
    WITH RECURSIVE upstream AS (
        SELECT d.source_topic_id AS topic_id
        FROM omd_lineage.dependency AS d
        WHERE d.topic_id = p_topic_id
        UNION
        SELECT d.source_topic_id
        FROM upstream AS u
        INNER JOIN omd_lineage.dependency AS d USING (topic_id)
    )

    SELECT t.topic INTO v_through
    FROM upstream AS u
    INNER JOIN omd_lineage.topic AS t USING (topic_id)
    INNER JOIN omd_lineage.dependency AS d USING (topic_id)
    WHERE d.source_topic_id = p_topic_id
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM017',
            jsonb_build_object(
                'topic',
                (SELECT t.topic FROM omd_lineage.topic AS t WHERE t.topic_id = p_topic_id),
                'through',
                v_through
            )
        );
    END IF;
END
$require_no_cycle$;

COMMENT ON FUNCTION omd_lineage._require_no_cycle IS
'Refuses a topic p_topic_id that depends on itself, directly or through others. Errors: OM017: it '
'does. Locks: none.';
