-- The files are published by then. A run whose answer was lost finishes again, and a later run
-- finishes what an earlier one has published.

CREATE OR REPLACE PROCEDURE omd_facts.finish_export(
    p_delivery_id bigint,
    p_module_instance_id bigint,
    p_manifest jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $finish_export$
DECLARE
    v_export omd_facts.export := omd_facts._hold_export(p_delivery_id);
    v_rows bigint;
BEGIN
    p_manifest := omd.require_argument('p_manifest', p_manifest);
    p_module_instance_id := omd.require_argument('p_module_instance_id', p_module_instance_id);
    IF v_export.exported_datetime IS NOT NULL
        AND v_export.module_instance_id = p_module_instance_id
    THEN
        RETURN;
    END IF;
    PERFORM omd_facts._require_unended(p_delivery_id);
    CALL omd.fence(p_module_instance_id);
    IF v_export.module_instance_id IS DISTINCT FROM p_module_instance_id THEN
        PERFORM omd_facts._raise_export(
            'p_module_instance_id', p_module_instance_id::text, 'it is no run of this export'
        );
    ELSIF jsonb_typeof(p_manifest) <> 'object' THEN
        PERFORM omd_facts._raise_export('p_manifest', p_manifest::text, 'it must be an object');
    END IF;
    SELECT sum(r.value::text::bigint)::bigint INTO v_rows
    FROM jsonb_path_query(p_manifest, 'lax $.entities[*].rows ? (@.type() == "number")') AS r (value)
    WHERE r.value::text ~ '^\d{1,18}$';
    UPDATE omd_facts.export AS x SET
        manifest = p_manifest,
        exported_datetime = clock_timestamp()
    WHERE x.delivery_id = p_delivery_id;
    PERFORM omd_delivery.move_delivery(p_delivery_id, 'EXPORTED');
    CALL omd.module_success(
        p_module_instance_id, p_rows_input => v_rows, p_rows_inserted => v_rows
    );
END
$finish_export$;

COMMENT ON PROCEDURE omd_facts.finish_export IS
'For the driver: '
'Ends the export p_delivery_id as EXPORTED, and its run p_module_instance_id with success; the '
'manifest p_manifest is published by then. Again, by the same run, it changes nothing. Errors: '
'OM004, OM005, OM014, OM034: there is no such export, OM060: it is another run, or the manifest is'
' no object, OM101, OM102, OM107: the run has ended, OM130, OM155: the export has ended. Locks: '
'the export, the delivery, the instance row. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_facts.finish_export TO omd_runner;
