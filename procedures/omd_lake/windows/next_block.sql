-- A commit is whole or not there, and the commits of a table appear in the order of their
-- positions, so no writer is waited for. A run that has not succeeded is: it may be undone, and
-- what has read its rows would not be. Only writes of runs have rows that a window reads; what
-- maintenance or another engine committed is passed over.

CREATE OR REPLACE FUNCTION omd_lake.next_block(
    p_table_code text,
    p_start_pos timestamptz,
    p_start_id bigint,
    p_upto timestamptz,
    p_maxstep bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_row_count bigint,
    OUT p_is_full boolean,
    OUT p_min_ts timestamptz,
    OUT p_who text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_block$
DECLARE
    v_commit record;
BEGIN
    p_row_count := 0;
    p_is_full := FALSE;
    FOR v_commit IN
        SELECT
            c.commit_datetime, c.sequence_number, c.added_rows, c.module_instance_id,
            EXISTS (
                SELECT FROM omd.open_instance AS o
                WHERE o.module_instance_id = c.module_instance_id
                    AND (o.execution_status_code = 'E' OR o.is_rollback_pending)
            ) AS is_open
        FROM omd_lake.table_commit AS c
        WHERE c.table_code = p_table_code
            AND (c.commit_datetime, c.sequence_number) > (p_start_pos, p_start_id)
            AND c.commit_datetime <= p_upto
            AND c.operation IN ('APPEND', 'OVERWRITE', 'HISTORY')
            AND c.module_instance_id IS NOT NULL
        ORDER BY c.commit_datetime, c.sequence_number
    LOOP
        IF v_commit.is_open THEN
            p_who := 'Module Instance ' || v_commit.module_instance_id;
            EXIT;
        ELSIF p_end_pos IS NOT NULL AND p_row_count + v_commit.added_rows > p_maxstep THEN
            p_is_full := TRUE;
            EXIT;
        END IF;
        p_end_pos := v_commit.commit_datetime;
        p_end_id := v_commit.sequence_number;
        p_min_ts := coalesce(p_min_ts, v_commit.commit_datetime);
        p_row_count := p_row_count + v_commit.added_rows;
    END LOOP;
END
$next_block$;

COMMENT ON FUNCTION omd_lake.next_block IS
'For rooms: Returns the block of the lake table p_table_code (in its one spelling) after '
'(p_start_pos, p_start_id), not beyond p_upto: whole commits of runs with at most p_maxstep rows, '
'but at least one. (p_end_pos, p_end_id) is its end, NULL: there is none; p_row_count the number '
'of its rows, p_min_ts the time of its first commit; p_is_full tells whether more follow. p_who: '
'the run that has not succeeded yet, at whose commit it ends; NULL: none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lake.next_block TO omd_runner, omd_admin;
