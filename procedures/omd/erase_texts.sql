-- The log is the last, since edits of other tables are written into it.

CREATE OR REPLACE FUNCTION omd.erase_texts(
    p_texts text[]
)
RETURNS TABLE (table_code text, row_count bigint)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_texts$
BEGIN
    RETURN QUERY
    SELECT t.name, omd.mask_columns(t.name, t.columns, p_texts)
    FROM (
        VALUES
        ('omd.batch_instance', '{execution_context}'::text[]),
        ('omd.module_instance', '{execution_context}'),
        ('omd.module_return', '{problem,drop_reason}'),
        ('omd.module_state', '{last_problem,last_text}'),
        ('omd.event_log', '{event_return_code_details,event_detail,reason}')
    ) AS t (name, columns);
END
$erase_texts$;

COMMENT ON FUNCTION omd.erase_texts IS
'For rooms: Masks p_texts, as omd.mask_text does, in what people, programs and errors have written '
'into tables of the room, and returns how many rows of which table it changed. Locks: these rows.';
REVOKE ALL ON FUNCTION omd.erase_texts FROM PUBLIC;
