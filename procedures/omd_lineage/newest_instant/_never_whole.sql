-- A row that is still to come is behind the newest one only where the server itself gives it the
-- time and the number: by a DEFAULT that is no earlier than the start of its transaction, rounded
-- to nothing, and by a sequence of which no session holds a stock.

CREATE OR REPLACE FUNCTION omd_lineage._never_whole(
    p_table oid,
    p_pos_column text,
    p_id_column text
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $never_whole$
DECLARE
    v_is_table boolean;
    v_has_time boolean;
    v_tables oid[];
BEGIN
    -- One look is enough for most tables that can't be whole.
    SELECT
        c.relkind IN ('r', 'p'),
        EXISTS (
            SELECT
            FROM pg_attribute AS a
            INNER JOIN pg_attrdef AS d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
            WHERE a.attrelid = c.oid
                AND a.attname = p_pos_column
                AND a.atttypmod = -1
                AND pg_get_expr(d.adbin, d.adrelid) IN (
                    'now()', 'CURRENT_TIMESTAMP', 'transaction_timestamp()',
                    'statement_timestamp()', 'clock_timestamp()'
                )
        )
    INTO v_is_table, v_has_time
    FROM pg_class AS c
    WHERE c.oid = p_table;
    IF v_is_table IS NOT TRUE THEN
        RETURN 'its writers can''t be seen';
    ELSIF NOT v_has_time THEN
        RETURN format(
            '%I has no DEFAULT of now(), statement_timestamp() or clock_timestamp()', p_pos_column
        );
    END IF;
    v_tables := omd.table_family(p_table);
    IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = ANY(v_tables) AND c.relkind = 'f') THEN
        RETURN 'its writers can''t be seen';
    ELSIF EXISTS (SELECT FROM pg_subscription_rel AS r WHERE r.srrelid = ANY(v_tables)) THEN
        RETURN 'a subscription writes it';
    ELSIF NOT EXISTS (
        SELECT
        FROM pg_attribute AS a
        LEFT JOIN pg_attrdef AS d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
        INNER JOIN pg_depend AS k
            ON (
                k.classid = 'pg_class'::regclass
                AND k.refclassid = 'pg_class'::regclass
                AND a.attrelid = k.refobjid
                AND a.attnum = k.refobjsubid
                AND k.deptype = 'i'
            )
            OR (
                k.classid = 'pg_attrdef'::regclass
                AND d.oid = k.objid
                AND k.refclassid = 'pg_class'::regclass
            )
        INNER JOIN pg_sequence AS s
            ON s.seqrelid = CASE k.deptype WHEN 'i' THEN k.objid ELSE k.refobjid END
        WHERE a.attrelid = p_table
            AND a.attname = p_id_column
            AND s.seqcache = 1
            AND s.seqincrement > 0
            AND NOT s.seqcycle
    ) THEN
        RETURN format('%I is no identity or sequence with CACHE 1', p_id_column);
    END IF;
    RETURN NULL;
END
$never_whole$;

COMMENT ON FUNCTION omd_lineage._never_whole IS
'Returns why nobody can say of the table p_table, by its columns p_pos_column and p_id_column, '
'that all rows of its newest instant are there; NULL: it can be said. Locks: none.';
