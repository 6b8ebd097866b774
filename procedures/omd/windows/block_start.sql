-- A Module goes on where its newest window has ended. One that has read by a time until now has
-- read everything that was written up to then; one that has read another source has read nothing
-- of this one.

CREATE OR REPLACE FUNCTION omd.block_start(
    p_module_id integer,
    p_source_code text,
    OUT p_start_pos timestamptz,
    OUT p_start_id bigint
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $block_start$
DECLARE
    v_newest CONSTANT record := omd.load_window_start(p_module_id);
    v_source_code text;
BEGIN
    SELECT sc.source_code INTO v_source_code
    FROM omd.source_control AS sc
    WHERE sc.module_id = p_module_id
        AND sc.end_value = v_newest.p_start_value
        AND sc.end_id IS NOT DISTINCT FROM v_newest.p_start_id
    ORDER BY sc.module_instance_id DESC
    LIMIT 1;
    IF v_source_code = p_source_code OR v_source_code IS NULL THEN
        p_start_pos := v_newest.p_start_value;
        p_start_id := CASE WHEN v_source_code IS NOT NULL THEN v_newest.p_start_id END;
    END IF;
    p_start_id := coalesce(p_start_id, -9223372036854775808);
END
$block_start$;

COMMENT ON FUNCTION omd.block_start IS
'For rooms: Returns the position p_start_pos and p_start_id that the next block of the source '
'p_source_code begins after, which the Module p_module_id reads: where its newest window that '
'counts has ended. NULL and the least bigint: at the beginning; a time and the least bigint: it '
'has read by a time until now. Locks: none.';
