-- The words are here once, for the tables of every family.

CREATE OR REPLACE PROCEDURE omd_dispatch._comment_task_tables(
    p_family_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $comment_task_tables$
DECLARE
    v_statement text;
BEGIN
    FOR v_statement IN
        SELECT
            format(
                'COMMENT ON COLUMN %s.%I IS %L',
                a.attrelid::regclass,
                a.attname,
                coalesce(
                    c.words,
                    format('The criterion %s.', upper(substr(a.attname, length('func_') + 1)))
                )
            )
        FROM (
            SELECT omd_dispatch._data_table(p_family_code)::regclass
            UNION ALL
            SELECT o.relation
            FROM omd_dispatch._task_tables(omd_dispatch._data_table(p_family_code)) AS o (relation)
        ) AS t (relation)
        INNER JOIN pg_attribute AS a
            ON t.relation = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN (
            VALUES
            ('task_id', 'The task.'),
            ('partition_code', 'The partition of the ring in which it was written.'),
            ('task_type', 'Its type.'),
            ('lane', 'The queue in which it waits.'),
            ('priority', '0 is taken first, 9 last.'),
            ('execution_time', 'When it is due.'),
            ('status', 'PENDING, CLAIMED, DONE, DEAD or CANCELLED.'),
            ('attempt', 'How often it was claimed.'),
            ('suspension_id', 'The suspension that holds it; NULL when none does.'),
            ('claimed_by', 'The worker that has it; NULL when none has.'),
            ('claimed_at', 'Since when the worker has it.'),
            ('claim_token', 'The number of the claim: a result counts only with it.'),
            ('cancel_requested', 'The worker is asked to end it.'),
            ('created_at', 'When it was created.'),
            ('pending_since', 'Since when it is pending again; NULL: since created_at.'),
            ('finished_at', 'When it was done, died or was cancelled.'),
            ('outcome', 'How its last attempt ended: S, F, A or C.'),
            ('error', 'Why its last attempt failed.'),
            ('batch_instance_id', 'The Batch Instance of its last attempt.'),
            ('module_instance_id', 'The Module Instance of its last attempt.'),
            ('schedule_code', 'The schedule that created it.'),
            ('key_hash', 'Its key in omd_dispatch.mutex; NULL when its type has none.'),
            ('payload', 'What its handler needs.')
        ) AS c (column_name, words) ON a.attname = c.column_name
        WHERE col_description(a.attrelid, a.attnum) IS NULL
    LOOP
        EXECUTE v_statement;
    END LOOP;
    CALL omd_dispatch._set_rights(p_family_code);
END
$comment_task_tables$;

COMMENT ON PROCEDURE omd_dispatch._comment_task_tables IS
'Comments the columns of the tables of p_family_code that have no comment yet, and grants them. '
'Locks: those tables, as COMMENT does.';
