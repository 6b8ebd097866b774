-- Nothing is registered where nothing was recalled. What the Module writes belongs to OMD, so it is
-- no target in this database; and no rollback of it is ever due: its runs succeed or have never
-- been.

CREATE OR REPLACE FUNCTION omd_provenance._register_recall()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_recall$
DECLARE
    v_messages CONSTANT text := current_setting('client_min_messages');
    v_module_id integer;
BEGIN
    IF EXISTS (SELECT FROM omd.module_target AS m WHERE m.module_code = 'provenance.recall') THEN
        RETURN;
    END IF;
    -- save_module would warn that no rollback is registered, which happens only below.
    PERFORM set_config('client_min_messages', 'error', TRUE);
    CALL omd.save_module(
        'provenance.recall',
        'HELPER',
        'omd_provenance.recall_item',
        'HELPER',
        'SPARK',
        p_module_description => 'Recalls: what was taken back with all that was made of it.',
        p_module_id => v_module_id
    );
    PERFORM set_config('client_min_messages', v_messages, TRUE);
    CALL omd.register_rollback(
        p_module_code => 'provenance.recall',
        p_statement_template => 'SELECT 0'
    );
    PERFORM omd.set_module_kind(v_module_id, 'PART');
END
$register_recall$;

COMMENT ON FUNCTION omd_provenance._register_recall IS
'Registers the built-in Module provenance.recall, if it is not there. Locks: its row.';
