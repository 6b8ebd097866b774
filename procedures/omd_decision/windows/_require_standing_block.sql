-- A run on Spark holds nothing while it reads, so its commit looks. The lock comes with the look:
-- an undo that is not committed yet waits for this commit, or this one for the undo.

CREATE OR REPLACE FUNCTION omd_decision._require_standing_block(
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
    v_block record;
BEGIN
    SELECT b.source_code, b.end_id INTO v_block
    FROM omd_decision._run_block(p_module_instance_id) AS b;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF NOT (omd.hold_source(v_block.source_code)).p_is_held
        OR NOT omd.block_stands(v_block.source_code, v_block.end_id)
    THEN
        PERFORM omd.raise_error(
            'OM114',
            jsonb_build_object(
                'source_code', v_block.source_code,
                'problem', format(
                    'rows of it are being taken back, or an undo has reached over its end %s',
                    v_block.end_id
                )
            )
        );
    END IF;
END
$require_standing_block$;

COMMENT ON FUNCTION omd_decision._require_standing_block IS
'Holds the facts that the run p_module_instance_id has read by changes, until the transaction '
'ends. Errors: OM114: rows of its block were taken back, or are being taken back. Locks: the '
'source, beside readers.';
