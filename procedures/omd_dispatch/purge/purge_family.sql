-- A partition that can't be purged now does not keep the others.

CREATE OR REPLACE PROCEDURE omd_dispatch.purge_family(
    p_family_code text,
    INOUT p_purged integer[] DEFAULT NULL,
    INOUT p_left integer[] DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $purge_family$
DECLARE
    v_partition integer;
    v_outcome pg_catalog.text;
    v_moved bigint;
BEGIN
    CALL omd.require_no_transaction_block('omd_dispatch.purge_family');
    p_purged := '{}';
    p_left := '{}';
    FOREACH v_partition IN ARRAY omd_dispatch._partitions_past_retention(p_family_code) LOOP
        CALL omd_dispatch.purge_partition(p_family_code, v_partition, v_outcome, v_moved);
        IF v_outcome OPERATOR(pg_catalog.=) 'PURGED' THEN
            p_purged := p_purged OPERATOR(pg_catalog.||) v_partition;
        ELSE
            p_left := p_left OPERATOR(pg_catalog.||) v_partition;
        END IF;
    END LOOP;
END
$purge_family$;

COMMENT ON PROCEDURE omd_dispatch.purge_family IS
'Purges all partitions of p_family_code that are past its retention. Returns p_purged and p_left, '
'those that were purged and those that hold live tasks or could not be locked. It commits, so '
'call it outside a transaction block. Errors: OM005: p_family_code is NULL; OM018: it is in a '
'transaction block; OM070: the family is unknown; OM270: the spare partition differs. Locks: as '
'purge_partition. It may take long.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.purge_family TO omd_admin;
