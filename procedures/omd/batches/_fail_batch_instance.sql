-- A run that is declared dead ends by the same failure event as any other, so that every failure
-- reads the same.

CREATE OR REPLACE FUNCTION omd._fail_batch_instance(
    p_batch_instance_id bigint,
    p_event_detail text,
    p_event_return_code_details text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fail_batch_instance$
BEGIN
    PERFORM omd._close_batch_instance(p_batch_instance_id, 'F');
    PERFORM omd.write_event(0, p_batch_instance_id, 2, p_event_return_code_details, p_event_detail);
    PERFORM omd.count_failure(m.module_id, NULL, p_event_detail, p_event_return_code_details)
    FROM omd.batch_instance AS bi
    INNER JOIN omd.batch AS b USING (batch_id)
    INNER JOIN omd.module AS m ON b.batch_code = m.module_code
    INNER JOIN omd.module_kind AS k ON m.module_kind_code = k.module_kind_code AND k.is_batch
    WHERE bi.batch_instance_id = p_batch_instance_id;
END
$fail_batch_instance$;

COMMENT ON FUNCTION omd._fail_batch_instance IS
'Ends a Batch Instance with status F and writes one event. Where a Module stands for the Batch, '
'the failure counts for it. It is accepted from E only. Errors: '
'OM003, OM005, OM101. Locks: the instance row.';
