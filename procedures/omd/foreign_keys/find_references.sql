-- A plan says what is in the way before anything is locked, so this looks one step far, at every
-- kind of foreign key; the act looks at all of them again, with locks (omd.find_loss).

CREATE OR REPLACE FUNCTION omd.find_references(
    p_relation oid,
    p_stamp text,
    p_instance_array bigint[],
    p_undone bigint[]
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $find_references$
DECLARE
    v_key record;
    v_count bigint;
BEGIN
    FOR v_key IN
        SELECT r.*, k.confdeltype IN ('a', 'r') AS is_refused
        FROM pg_constraint AS k
        CROSS JOIN LATERAL omd._referring_rows(k.oid, k.confrelid) AS r
        WHERE k.contype = 'f' AND k.conparentid = 0 AND k.confrelid = p_relation
        ORDER BY k.conname
    LOOP
        BEGIN
            EXECUTE format(
                'SELECT count(*) FROM %s WHERE p.%s = ANY ($2) AND (%s%s)',
                v_key.from_clause,
                p_stamp,
                v_key.is_stranger,
                CASE WHEN v_key.is_refused THEN format(' OR %s IS NULL', v_key.stamp) END
            )
            INTO v_count
            USING p_undone, p_instance_array;
        EXCEPTION
            WHEN insufficient_privilege THEN
                RETURN format('NO_RIGHT: %s can''t be read, which refers to it', v_key.table_name);
        END;
        IF v_count > 0 THEN
            RETURN format(
                'REFERENCED: %s rows of %s that stay refer to it (%s)',
                v_count, v_key.table_name, v_key.constraint_name
            );
        END IF;
    END LOOP;
    RETURN NULL;
END
$find_references$;

COMMENT ON FUNCTION omd.find_references IS
'For rooms: Returns what refers by a foreign key to rows of p_relation that bear a stamp of '
'p_instance_array in the column p_stamp (quoted), and is of no run of p_undone: a text that begins '
'with REFERENCED, or with NO_RIGHT where the caller may not look; NULL: nothing does. It reads '
'with the rights of the caller. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.find_references TO omd_admin;
