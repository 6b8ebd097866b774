-- A step on Spark holds nothing while it reads, so its commit looks. It waits for an undo that is
-- not committed yet, and an undo that comes later waits for it.

CREATE OR REPLACE FUNCTION omd_lineage._require_standing_block(
    p_module_instance_id bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_standing_block$
DECLARE
    v_window record;
BEGIN
    SELECT i.end_id, t.topic_id, omd_lineage._block_source(t.topic_id) AS source_code
    INTO v_window
    FROM omd.instance_state(p_module_instance_id) AS i
    INNER JOIN omd_lineage.topic AS t USING (module_id);
    IF v_window.source_code IS NULL THEN
        RETURN;
    END IF;
    IF NOT (omd.hold_source(v_window.source_code, FALSE)).p_is_held
        OR NOT omd.block_stands(v_window.source_code, v_window.end_id)
    THEN
        PERFORM omd.raise_error(
            'OM114',
            jsonb_build_object(
                'source_code', v_window.source_code,
                'problem', format(
                    'rows of it are being taken back, or an undo has reached over its end %s',
                    v_window.end_id
                )
            )
        );
    END IF;
END
$require_standing_block$;

COMMENT ON FUNCTION omd_lineage._require_standing_block IS
'Holds what the step p_module_instance_id has read of facts, until the transaction ends. Errors: '
'OM114: rows of its block were taken back, or are being taken back. Locks: the source, beside '
'readers.';
