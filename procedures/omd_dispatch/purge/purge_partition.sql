-- Each part is a transaction of its own. A procedure that commits can't set a search_path or be
-- SECURITY DEFINER, so every name is qualified, and the parts have the rights.

CREATE OR REPLACE PROCEDURE omd_dispatch.purge_partition(
    p_family_code text,
    p_partition_code integer,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_moved bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $purge_partition$
DECLARE
    v_rows bigint;
    v_until pg_catalog.timestamptz;
    v_is_exchanged boolean;
BEGIN
    CALL omd.require_no_transaction_block('omd_dispatch.purge_partition');
    p_moved := 0;
    IF NOT omd_dispatch._has_partition(p_family_code, p_partition_code) THEN
        p_outcome := 'MISSING';
        RETURN;
    END IF;
    BEGIN
        PERFORM omd_dispatch._require_spare_partition(p_family_code, p_partition_code);
    EXCEPTION
        WHEN lock_not_available THEN
            p_outcome := 'CONTENDED';
            RETURN;
    END;
    COMMIT;
    LOOP
        v_rows := omd_dispatch._move_pending(p_family_code, p_partition_code, 5000);
        COMMIT;
        p_moved := p_moved OPERATOR(pg_catalog.+) v_rows;
        EXIT WHEN v_rows OPERATOR(pg_catalog.=) 0::bigint;
    END LOOP;
    v_until := pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) '5 seconds'::pg_catalog.interval;
    LOOP
        BEGIN
            v_is_exchanged := omd_dispatch._exchange_partition(p_family_code, p_partition_code);
        EXCEPTION
            WHEN lock_not_available THEN
                v_is_exchanged := NULL;
        END;
        COMMIT;
        EXIT WHEN v_is_exchanged IS NOT NULL
            OR pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>) v_until;
        PERFORM pg_catalog.pg_sleep(
            0.05 OPERATOR(pg_catalog.+) (pg_catalog.random() OPERATOR(pg_catalog.*) 0.1)
        );
    END LOOP;
    IF v_is_exchanged THEN
        PERFORM omd_dispatch._empty_spare_partition(p_family_code);
        COMMIT;
    END IF;
    p_outcome := CASE
        WHEN v_is_exchanged THEN 'PURGED' WHEN NOT v_is_exchanged THEN 'LIVE_ROWS' ELSE 'CONTENDED'
    END;
END
$purge_partition$;

COMMENT ON PROCEDURE omd_dispatch.purge_partition IS
'Purges the partition p_partition_code of the ring of p_family_code: tasks of it that are '
'pending, or died within the retention, move to the present partition, and an empty spare '
'partition takes its place, so that the time does not depend on its size. Returns p_outcome: '
'PURGED; LIVE_ROWS, a live task is in it, or one that died within the retention; CONTENDED, no '
'lock could be had within 5 seconds; MISSING, there is no such partition; and p_moved, how many '
'tasks have moved. It commits, so call it outside a transaction block. Errors: OM005: an argument '
'is NULL; OM018: it is in a transaction block; OM070: the family is unknown; OM270: the spare '
'partition differs. Locks: the table of the family for a moment. It may take long.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.purge_partition TO omd_admin;
