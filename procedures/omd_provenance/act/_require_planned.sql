-- Whoever acts on a recall asks here, with the lock or without.

CREATE OR REPLACE FUNCTION omd_provenance._require_planned(
    p_recall_id bigint,
    p_is_locked boolean DEFAULT FALSE
)
RETURNS omd_provenance.recall
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_planned$
DECLARE
    v_recall omd_provenance.recall;
BEGIN
    PERFORM omd.require_read_committed();
    p_recall_id := omd.require_argument('p_recall_id', p_recall_id);
    IF p_is_locked THEN
        PERFORM FROM omd_provenance.recall AS r WHERE r.recall_id = p_recall_id FOR UPDATE;
    END IF;
    SELECT r.* INTO v_recall FROM omd_provenance.recall AS r WHERE r.recall_id = p_recall_id;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM090', jsonb_build_object('object', 'recall', 'key', p_recall_id)
        );
    ELSIF v_recall.recall_status <> 'PLANNED' THEN
        PERFORM omd.raise_error(
            'OM193',
            jsonb_build_object(
                'object', 'recall', 'key', p_recall_id, 'action', 'be executed',
                'status', v_recall.recall_status
            )
        );
    END IF;
    RETURN v_recall;
END
$require_planned$;

COMMENT ON FUNCTION omd_provenance._require_planned IS
'Returns the recall p_recall_id, which is planned and not executed. p_is_locked: its row is locked '
'first. Errors: OM005, OM014, OM090, OM193. Locks: its row, with p_is_locked.';
GRANT EXECUTE ON FUNCTION omd_provenance._require_planned TO omd_admin;
