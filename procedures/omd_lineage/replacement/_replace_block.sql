-- The view omd_lineage.base_table is read in a subtransaction that is undone, since a lock on it
-- would last as long as the transforms take, and an installation replaces views.

CREATE OR REPLACE FUNCTION omd_lineage._replace_block(
    p_topic_id integer,
    p_transforms text[],
    p_merge_key text[],
    p_recompute_key text[],
    p_table_code text,
    p_insert_instance_column text,
    p_module_instance_id bigint,
    p_record_source text,
    OUT p_inserted bigint,
    OUT p_updated bigint,
    OUT p_deleted bigint,
    OUT p_discarded bigint,
    OUT p_nulls jsonb
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $replace_block$
DECLARE
    v_view text;
    v_position text[];
    v_written record;
BEGIN
    p_inserted := 0;
    p_updated := 0;
    p_deleted := 0;
    p_discarded := 0;
    p_nulls := '{}';
    IF p_recompute_key IS NOT NULL THEN
        v_written := omd_lineage._recompute_transform(
            p_transforms[1], p_transforms[2], p_table_code, p_recompute_key,
            p_insert_instance_column, p_module_instance_id, p_record_source
        );
        p_inserted := v_written.p_inserted;
        p_updated := v_written.p_updated;
        p_deleted := v_written.p_deleted;
        p_nulls := v_written.p_nulls;
        RETURN;
    END IF;

    BEGIN
        SELECT array_remove(ARRAY[nullif(b.pos_column, ''), b.id_column], NULL) INTO v_position
        FROM omd_lineage.base_table AS b
        WHERE b.topic_id = p_topic_id;
        RAISE EXCEPTION USING ERRCODE = 'triggered_action_exception';
    EXCEPTION
        WHEN triggered_action_exception THEN
            NULL;
    END;
    FOREACH v_view IN ARRAY p_transforms LOOP
        v_written := omd_lineage._merge_transform(
            v_view, p_table_code, p_merge_key, v_position, p_insert_instance_column,
            p_module_instance_id, p_record_source
        );
        p_inserted := p_inserted + v_written.p_inserted;
        p_updated := p_updated + v_written.p_updated;
        p_deleted := p_deleted + v_written.p_deleted;
        p_discarded := p_discarded + v_written.p_discarded;
        p_nulls := omd_lineage._add_counts(p_nulls, v_written.p_nulls);
    END LOOP;
END
$replace_block$;

COMMENT ON FUNCTION omd_lineage._replace_block IS
'Writes the block of the topic p_topic_id into p_table_code by p_merge_key, with _merge_transform '
'for each of p_transforms, or by p_recompute_key, with _recompute_transform. The other parameters '
'are those of _insert_transform. Returns the numbers of rows p_inserted, p_updated, p_deleted and '
'p_discarded, and p_nulls. Errors: OM117: several rows have one key; OM207: a transform does not '
'fit the destination. Locks: the table, against other writers.';
GRANT EXECUTE ON FUNCTION omd_lineage._replace_block TO omd_runner;
