-- Each look is a statement of its own, so it sees what was committed before the lock on what it
-- looks at: nobody can refer to a locked row before this transaction ends. So the rows that go too
-- are locked before the next look. The counts are no search for the first row, which would read the
-- whole table where the planner expects one soon.

CREATE OR REPLACE FUNCTION omd._take_referring(
    p_relation oid,
    p_is_alone boolean,
    p_condition text,
    p_undone bigint[],
    p_instance_array bigint[],
    p_rows tid[]
)
RETURNS TABLE (
    relation oid,
    row_id tid,
    loss jsonb
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $take_referring$
DECLARE
    v_key record;
    v_strangers bigint;
    v_others bigint;
    v_stamps text[];
BEGIN
    FOR v_key IN
        SELECT r.*, k.goes_on
        FROM omd._lossy_keys(p_relation, p_is_alone) AS k
        CROSS JOIN LATERAL omd._referring_rows(k.constraint_id, k.referenced) AS r
    LOOP
        v_strangers := NULL;
        BEGIN
            EXECUTE format(
                'SELECT count(*) FILTER (WHERE %1$s), count(*) FILTER (WHERE NOT (%1$s)),'
                ' array_agg(DISTINCT %2$s) FILTER (WHERE %1$s) FROM %3$s WHERE %4$s',
                v_key.is_stranger,
                v_key.stamp,
                v_key.from_clause,
                p_condition
            )
            INTO v_strangers, v_others, v_stamps
            USING p_undone, p_instance_array, p_rows;
            IF v_strangers = 0 AND v_key.goes_on AND v_others > 0 THEN
                RETURN QUERY EXECUTE format(
                    'SELECT c.tableoid, c.ctid, NULL::jsonb FROM %1$s WHERE %2$s AND NOT (%3$s)'
                    ' FOR UPDATE OF c',
                    v_key.from_clause,
                    p_condition,
                    v_key.is_stranger
                )
                USING p_undone, p_instance_array, p_rows;
            END IF;
        EXCEPTION
            WHEN insufficient_privilege THEN
                loss := omd._unseen_reference(
                    v_key.table_name,
                    v_key.constraint_name,
                    CASE WHEN v_strangers IS NULL THEN 'SELECT' ELSE 'UPDATE' END,
                    SQLERRM
                );
        END;
        IF v_strangers > 0 THEN
            loss := jsonb_build_object(
                'table_name', v_key.table_name,
                'stamps', v_stamps,
                'problem', format(
                    '%s rows of %s, which no run that is undone wrote, refer to its rows, and the '
                    'foreign key %s would delete or change them',
                    v_strangers,
                    v_key.table_name,
                    v_key.constraint_name
                )
            );
        END IF;
        IF loss IS NOT NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;
    END LOOP;
END
$take_referring$;

COMMENT ON FUNCTION omd._take_referring IS
'Looks for rows that a foreign key deletes or changes when rows p of the relation p_relation are '
'deleted: those with p_condition, in which $2 is p_instance_array and $3 is p_rows. p_is_alone: '
'without its partitions and inheriting tables. Returns the rows (table, ctid) that go too and may '
'take others along, and locks them; or, as the last row, the loss of a row that none of the runs '
'p_undone wrote, as find_loss does. Locks: these rows.';
GRANT EXECUTE ON FUNCTION omd._take_referring TO omd_runner, omd_admin;
