-- A sample may be of a row whose key nobody could read.

CREATE OR REPLACE FUNCTION omd_delivery.erase_texts(
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
        ('omd_delivery.agreement', '{options,settings}'::text[]),
        ('omd_delivery.arrival', '{problem}'),
        ('omd_delivery.arrival_location', '{problem}'),
        ('omd_delivery.delivery', '{message,options,reasons}'),
        ('omd_delivery.delivery_event', '{reason}'),
        ('omd_delivery.entity_result', '{findings}'),
        ('omd_delivery.sample', '{raw,record_key,staged_from}'),
        ('omd_delivery.stage_result', '{reasons}')
    ) AS t (name, columns);
END
$erase_texts$;

COMMENT ON FUNCTION omd_delivery.erase_texts IS
'For rooms: Masks p_texts, as omd.mask_text does, in what people, programs and errors have written '
'into tables of the room, and returns how many rows of which table it changed. Locks: these rows.';
REVOKE ALL ON FUNCTION omd_delivery.erase_texts FROM PUBLIC;
