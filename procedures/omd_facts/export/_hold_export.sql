-- Begin, finish and cancel of one export follow each other.

CREATE OR REPLACE FUNCTION omd_facts._hold_export(
    p_delivery_id bigint
)
RETURNS omd_facts.export
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hold_export$
DECLARE
    v_export omd_facts.export;
BEGIN
    p_delivery_id := omd.require_argument('p_delivery_id', p_delivery_id);
    PERFORM omd.require_read_committed();
    SELECT x.* INTO v_export
    FROM omd_facts.export AS x
    WHERE x.delivery_id = p_delivery_id
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM034', jsonb_build_object('delivery_id', p_delivery_id));
    END IF;
    RETURN v_export;
END
$hold_export$;

COMMENT ON FUNCTION omd_facts._hold_export IS
'Returns the export p_delivery_id and keeps others from changing it. Errors: OM005: it is NULL; '
'OM014; OM034: there is no such export. Locks: the export.';
