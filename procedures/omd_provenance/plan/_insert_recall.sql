-- The Module of recalls is there from the first plan on, so that no act has to register it.

CREATE OR REPLACE FUNCTION omd_provenance._insert_recall(
    p_target jsonb,
    p_reason text,
    p_awaits_correction boolean
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $insert_recall$
DECLARE
    v_recall_id bigint;
BEGIN
    IF EXISTS (SELECT FROM omd.unready_for_id()) THEN
        PERFORM omd.get_ready_for_id();
    END IF;
    PERFORM omd_provenance._register_recall();
    INSERT INTO omd_provenance.recall AS r (target, reason, awaits_correction, planned_by)
    VALUES (p_target, p_reason, p_awaits_correction, omd.editor())
    RETURNING r.recall_id INTO v_recall_id;
    PERFORM omd.write_event(
        0, 0, 4, 'PLANNED',
        format(
            '%s: recall %s was planned: %s',
            omd.editor(), v_recall_id, p_reason
        )
    );
    RETURN v_recall_id;
END
$insert_recall$;

COMMENT ON FUNCTION omd_provenance._insert_recall IS
'Inserts a recall of p_target that is planned, for p_reason, and returns its id. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._insert_recall TO omd_admin;
