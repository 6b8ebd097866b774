-- DELETE is the one way that every table and every reader can bear: TRUNCATE and SWAP leave a
-- transaction with an older snapshot an empty table, and a foreign key refuses them. They are
-- faster for a large table, so they can be registered, and are used where nothing hangs on the
-- table.

CREATE OR REPLACE FUNCTION omd_lineage._reload_way(
    p_table regclass,
    p_reload_method text,
    OUT p_method text,
    OUT p_reason text,
    OUT p_key text[]
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $reload_way$
DECLARE
    v_foreign_key record;
BEGIN
    -- Where several keys are referred to, the primary key tells which row is which.
    SELECT k.conname, k.conrelid::regclass AS referrer, k.conindid INTO v_foreign_key
    FROM pg_constraint AS k
    INNER JOIN pg_index AS i ON k.conindid = i.indexrelid
    WHERE k.contype = 'f' AND k.confrelid = p_table AND k.conrelid <> k.confrelid
    ORDER BY NOT i.indisprimary, k.oid
    LIMIT 1;
    IF FOUND THEN
        p_method := 'DELETE';
        p_reason := format(
            'the foreign key %I of %s refers to it', v_foreign_key.conname, v_foreign_key.referrer
        );
        p_key := ARRAY(
            SELECT a.attname::text
            FROM pg_index AS i
            CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS c (attnum, n)
            INNER JOIN pg_attribute AS a ON a.attrelid = p_table AND a.attnum = c.attnum
            WHERE i.indexrelid = v_foreign_key.conindid AND c.n <= i.indnkeyatts
            ORDER BY c.n
        );
    ELSIF p_reload_method = 'SWAP' AND NOT omd_lineage._may_be_swapped(p_table) THEN
        p_method := 'TRUNCATE';
        p_reason := 'something hangs on the table that a swap would lose';
    ELSE
        p_method := p_reload_method;
    END IF;
END
$reload_way$;

COMMENT ON FUNCTION omd_lineage._reload_way IS
'Returns how a reload replaces the content of p_table for which p_reload_method is registered: '
'p_method (DELETE, TRUNCATE or SWAP), p_reason, why it is another one or must be this one, and '
'p_key, the columns that foreign keys refer to; NULL when there are none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._reload_way TO omd_runner, omd_admin;
