-- A planned block starts at the offset, and its retry must find both unchanged.

CREATE OR REPLACE FUNCTION omd_lineage._require_unplanned(
    p_topic_id integer
)
RETURNS omd_lineage.row_position
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_unplanned$
DECLARE
    v_offset omd_lineage.offsets;
BEGIN
    SELECT o.* INTO v_offset FROM omd_lineage.offsets AS o
    WHERE o.topic_id = p_topic_id
    FOR NO KEY UPDATE;
    IF v_offset.next IS NOT NULL OR v_offset.undone_from IS NOT NULL OR v_offset.hostid <> '' THEN
        PERFORM omd.raise_error(
            'OM208',
            jsonb_build_object(
                'topic', v_offset.topic,
                'problem', 'its offset can''t be set while a block is planned'
            )
        );
    END IF;
    RETURN v_offset.last;
END
$require_unplanned$;

COMMENT ON FUNCTION omd_lineage._require_unplanned IS
'Returns the offset of the topic p_topic_id and locks it until the transaction ends. Errors: '
'OM208: a block is planned from it. Locks: the offset.';
REVOKE ALL ON FUNCTION omd_lineage._require_unplanned FROM PUBLIC;
