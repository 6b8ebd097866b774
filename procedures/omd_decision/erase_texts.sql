-- What a stage has read through tables that nobody registered is found by its texts.

CREATE OR REPLACE FUNCTION omd_decision.erase_texts(
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
        ('omd_decision.cycle', '{key,params,result,trace}'::text[]),
        ('omd_decision.reject', '{key,record,text}'),
        ('omd_decision.ruleset_test', '{input,expected}'),
        ('omd_decision.ruleset_test_result', '{actual,error}')
    ) AS t (name, columns);
END
$erase_texts$;

COMMENT ON FUNCTION omd_decision.erase_texts IS
'For rooms: Masks p_texts, as omd.mask_text does, in what people, programs and errors have written '
'into tables of the room, and returns how many rows of which table it changed. Locks: these rows.';
REVOKE ALL ON FUNCTION omd_decision.erase_texts FROM PUBLIC;
