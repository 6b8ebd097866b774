-- V223: lineage: what V177 has renamed has its name again, when nothing else has it. Applied once.
-- A step of before V177 that is on its way calls these by their names, which V222 gave to nothing.

DO $do$
DECLARE
    v_name text;
BEGIN
    FOREACH v_name IN ARRAY ARRAY['_next_block', '_block_limits'] LOOP
        IF to_regproc(format('omd_lineage.%I', v_name)) IS NULL
            AND to_regproc(format('omd_lineage.%I', '_former' || v_name)) IS NOT NULL
        THEN
            EXECUTE format(
                'ALTER ROUTINE omd_lineage.%I RENAME TO %I', '_former' || v_name, v_name
            );
        END IF;
    END LOOP;
END
$do$;
