-- One procedure both adds a Module and changes its place, so that a script can be run again.

CREATE OR REPLACE PROCEDURE omd.add_module_to_batch(
    p_batch_code text,
    p_module_code text,
    p_sequence integer DEFAULT NULL,
    p_inactive_indicator text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $add_module_to_batch$
DECLARE
    v_batch_id integer := omd._require_batch(p_batch_code);
    v_module_id integer := omd._require_module(p_module_code);
    v_inactive_indicator text := omd.require_code('inactive indicator', p_inactive_indicator);
BEGIN
    INSERT INTO omd.batch_module AS bm (batch_id, module_id, sequence, inactive_indicator)
    VALUES (
        v_batch_id,
        v_module_id,
        coalesce(
            p_sequence,
            (SELECT max(o.sequence) + 1 FROM omd.batch_module AS o WHERE o.batch_id = v_batch_id),
            1
        ),
        coalesce(v_inactive_indicator, 'N')
    )
    ON CONFLICT (batch_id, module_id) DO UPDATE SET
        sequence = coalesce(p_sequence, bm.sequence),
        inactive_indicator = coalesce(v_inactive_indicator, bm.inactive_indicator);
END
$add_module_to_batch$;

COMMENT ON PROCEDURE omd.add_module_to_batch IS
'Puts the Module p_module_code into the Batch p_batch_code, or changes its place; a NULL argument '
'keeps the present value. p_sequence: order, lowest first; a new Module goes last. '
'p_inactive_indicator: Y skips the Module in this Batch. Errors: OM001, OM002, OM005, OM006. '
'Locks: the batch_module row. DIRECT, "Batch Processing". Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.add_module_to_batch TO omd_admin;
