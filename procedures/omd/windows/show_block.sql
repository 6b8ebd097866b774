-- It takes no lock and changes nothing, so that a read-only transaction over the snapshot of
-- another one may call it. Rows are shown by the views alone, to whoever may read them.

CREATE OR REPLACE PROCEDURE omd.show_block(
    p_source_code text,
    p_start_pos timestamptz,
    p_start_id bigint,
    p_end_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $show_block$
DECLARE
    v_way record;
BEGIN
    v_way := omd.block_routine(p_source_code, p_start_pos, p_start_id);
    IF v_way.p_routine IS NOT NULL THEN
        EXECUTE format('SELECT %s($1, $2, $3)', v_way.p_routine)
        USING p_source_code, v_way.p_after_id, p_end_id;
    END IF;
END
$show_block$;

COMMENT ON PROCEDURE omd.show_block IS
'For the driver: Lets the views of the source p_source_code show the block behind p_start_pos and '
'p_start_id up to p_end_id, until the transaction ends. Errors: those of the room. Locks: none.';
GRANT EXECUTE ON PROCEDURE omd.show_block TO omd_runner;
