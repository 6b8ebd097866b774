-- Every routine that takes a topic by its name calls this first, so all of them refuse an unknown
-- one alike. Programs give the name as it is stored, so only another spelling is parsed.

CREATE OR REPLACE FUNCTION omd_lineage._require_topic(
    p_topic text
)
RETURNS integer
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_topic$
DECLARE
    v_topic_id integer;
BEGIN
    SELECT t.topic_id INTO v_topic_id FROM omd_lineage.topic AS t WHERE t.topic = p_topic;
    IF NOT FOUND THEN
        SELECT t.topic_id INTO v_topic_id FROM omd_lineage.topic AS t
        WHERE t.topic = (omd_lineage._topic_parts(p_topic)).p_canonical_topic;
    END IF;
    IF NOT FOUND THEN
        p_topic := omd.require_argument('p_topic', p_topic);
        PERFORM omd.raise_error(
            'OM015',
            jsonb_strip_nulls(
                jsonb_build_object(
                    'topic', p_topic,
                    'did_you_mean', omd.did_you_mean(
                        p_topic, (SELECT array_agg(t.topic) FROM omd_lineage.topic AS t)
                    )
                )
            )
        );
    END IF;
    RETURN v_topic_id;
END
$require_topic$;

COMMENT ON FUNCTION omd_lineage._require_topic IS
'Returns the topic_id of the topic p_topic, however its table is spelled. Errors: OM005: p_topic '
'is NULL; OM015: it is not registered. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._require_topic TO omd_runner, omd_admin;
