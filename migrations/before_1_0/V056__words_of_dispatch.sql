-- V056: routines of dispatch that get another name: the words of the field are partition, spare
-- partition, backend and release. Applied once. A call that executes one goes on, under another
-- name, until sql/cleanup/drop_retired.sql drops it.

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY[
        '_empty_twin', '_exchange_slot', '_has_slot', '_let_go', '_maintain_members',
        '_require_twin', '_slot_sql', '_slots_past_retention'
    ] LOOP
        IF to_regproc('omd_dispatch.' || v_name) IS NOT NULL THEN
            EXECUTE format('COMMENT ON ROUTINE omd_dispatch.%I IS %L', v_name, 'Retired.');
            EXECUTE format('ALTER ROUTINE omd_dispatch.%I RENAME TO %I', v_name, '_former' || v_name);
        END IF;
    END LOOP;
END
$do$;
