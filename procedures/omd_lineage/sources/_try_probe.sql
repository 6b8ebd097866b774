-- Whatever is wrong with a source becomes a sentence in its row, so that it stops no other source.
-- A cancellation is not an error of the source. A poll raises it again when it has saved that the
-- source is slow. The function reads with the rights of the caller.

CREATE OR REPLACE FUNCTION omd_lineage._try_probe(
    p_source text,
    p_topic_id integer,
    p_table_code text,
    p_pos_column text,
    p_id_column text,
    p_is_read boolean,
    p_caller text,
    OUT p_is_moved boolean,
    OUT p_error text,
    OUT p_is_cancelled boolean
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
AS $try_probe$
DECLARE
    v_is_lake boolean := EXISTS (
        SELECT FROM omd_lineage.topic AS t
        WHERE t.topic_id = p_topic_id AND t.source_offset = 'LAKE'
    );
    -- A lake table is no relation, even where there is one of its name.
    v_table oid := CASE WHEN NOT v_is_lake THEN omd.target_relation(p_table_code) END;
    v_new omd_lineage.source_probe;
    v_old omd_lineage.source_probe;
    v_seen record;
    v_unread record;
    v_late integer;
    v_is_whole boolean := FALSE;
    v_former text;
    v_sqlstate text;
    v_detail text;
    v_whole text;
    v_shown text;
    v_problems text[] := ARRAY[]::text[];
BEGIN
    p_is_moved := FALSE;
    p_is_cancelled := FALSE;
    -- The problem is not for every role that registers a source.
    SELECT
        p.newest, p.null_id_pos, p.ahead_pos, p.null_rows, p.table_oid, p.taken, p.taken_rows,
        p.late_rows
    INTO
        v_old.newest, v_old.null_id_pos, v_old.ahead_pos, v_old.null_rows, v_old.table_oid,
        v_old.taken, v_old.taken_rows, v_old.late_rows
    FROM omd_lineage.source_probe AS p
    WHERE p.source = p_source;
    IF p_caller = 'REGISTRATION' THEN
        v_old.table_oid := NULL;
        v_old.taken := NULL;
        v_old.late_rows := NULL;
    END IF;
    v_new := v_old;
    v_new.source := p_source;
    v_new.probed_at := clock_timestamp();
    v_new.null_rows := coalesce(v_old.null_rows, 0);
    v_new.is_read := TRUE;
    BEGIN
        IF p_is_read THEN
            v_problems := ARRAY[
                omd_lineage._missing_index(p_table_code, p_pos_column, p_id_column)
            ];
        END IF;
        IF p_topic_id IS NOT NULL THEN
            v_seen := omd_lineage._probe_source(p_topic_id, FALSE);
            p_is_moved := v_seen.p_is_moved;
            v_new.newest := ROW(
                v_seen.p_newest_pos, v_seen.p_newest_id
            )::omd_lineage.row_position;
            v_new.waits_for := v_seen.p_waits_for;
            v_is_whole := v_seen.p_is_whole;
        END IF;
        IF p_is_read THEN
            IF v_new.newest IS NULL THEN
                v_new.newest := omd_lineage._newest_row(p_table_code, p_pos_column, p_id_column);
            END IF;
            v_unread := omd_lineage._unread_rows(
                p_table_code, p_pos_column, p_id_column, (v_old.newest).pos, v_old.null_id_pos
            );
            v_new.null_rows := v_unread.p_null_rows;
            v_new.null_id_pos := v_unread.p_null_id_pos;
            v_new.ahead_pos := v_unread.p_ahead_pos;
            -- What lies before the instant that was taken last is not looked at.
            IF v_old.taken IS NOT NULL AND v_old.taken_rows <= 10000 THEN
                v_late := omd_lineage._taken_rows(
                    p_table_code, p_pos_column, p_id_column, v_old.taken
                ) - v_old.taken_rows;
                IF v_late > 0 THEN
                    v_new.late_rows := coalesce(v_old.late_rows, 0) + v_late;
                    v_new.taken_rows := v_old.taken_rows + v_late;
                END IF;
            END IF;
            IF v_is_whole AND v_new.newest IS DISTINCT FROM v_old.taken THEN
                v_new.taken := v_new.newest;
                v_new.taken_rows := omd_lineage._taken_rows(
                    p_table_code, p_pos_column, p_id_column, v_new.taken
                );
            END IF;
        END IF;
    EXCEPTION
        WHEN query_canceled THEN
            IF p_caller <> 'POLL' THEN
                RAISE;
            END IF;
            p_is_cancelled := TRUE;
            p_error := sqlerrm;
        WHEN assert_failure OR OTHERS THEN
            GET STACKED DIAGNOSTICS
                v_sqlstate = RETURNED_SQLSTATE,
                p_error = MESSAGE_TEXT,
                v_detail = PG_EXCEPTION_DETAIL;
    END;
    v_new.probe_duration := clock_timestamp() - v_new.probed_at;

    IF p_is_cancelled AND v_new.probe_duration < interval '1 second' THEN
        -- It says nothing about the source.
        RETURN;
    ELSIF p_error IS NOT NULL AND p_caller = 'REGISTRATION' AND v_table IS NOT NULL THEN
        -- Who registers a source need not be able to read it.
        RETURN;
    ELSIF p_error IS NOT NULL THEN
        v_new.is_read := FALSE;
        v_new.newest := v_old.newest;
        IF p_is_cancelled THEN
            v_shown := 'its probe was cancelled after '
                || date_trunc('second', v_new.probe_duration);
        ELSIF v_sqlstate IN ('OM206', 'OM212') THEN
            v_shown := v_detail::jsonb ->> 'problem';
            v_whole := v_detail::jsonb ->> 'whole_problem';
        ELSE
            v_shown := omd_lineage._why_unreadable(
                p_table_code, p_pos_column, p_id_column, v_sqlstate,
                omd.shown_error(v_sqlstate, p_error)
            );
            v_whole := omd_lineage._why_unreadable(
                p_table_code, p_pos_column, p_id_column, v_sqlstate, p_error
            );
        END IF;
        v_problems := ARRAY[v_shown];
        BEGIN
            PERFORM omd_lineage._write_state(t.topic_id, format('%s: %s', p_table_code, v_shown))
            FROM omd_lineage.topic AS t
            WHERE t.topic_id = p_topic_id AND t.source_offset IN ('PROBE', 'CLOCK');
        EXCEPTION
            WHEN lock_not_available THEN
                NULL;
        END;
    ELSIF v_table IS NULL AND v_old.table_oid IS NOT NULL THEN
        v_new.is_read := FALSE;
        v_problems := ARRAY[
            omd_lineage._why_unreadable(p_table_code, p_pos_column, p_id_column, '42P01', '')
        ];
    ELSIF v_old.table_oid <> v_table THEN
        v_former := omd_lineage._former_name(v_old.table_oid, p_pos_column, p_id_column);
        v_problems := array_append(
            v_problems, 'it was renamed to ' || v_former || ', and another table has its name'
        );
    ELSIF v_is_lake AND NOT omd_lake.is_known(p_table_code) THEN
        v_problems := ARRAY['there is no lake table of this name'];
    END IF;
    IF v_former IS NULL THEN
        v_new.table_oid := coalesce(v_table, v_old.table_oid);
    END IF;
    -- The newest rows of such a table all have one position, and a reader stops before it.
    IF NOT v_is_lake
        AND v_table IS NOT NULL
        AND p_topic_id IS NOT NULL
        AND (omd.readable_until(p_table_code, p_pos_column)).p_until IS NOT NULL
    THEN
        v_problems := v_problems || ARRAY(
            SELECT CASE t.source_offset
                WHEN 'CLOCK'
                    THEN 'its positions are times of deliveries and not of the clock, so with CLOCK'
                    ' a later delivery is passed over'
                ELSE format(
                    'its positions are times of deliveries, so with %s the newest delivery is left'
                    ' out until a later one comes', t.source_offset
                )
            END
            FROM omd_lineage.topic AS t
            WHERE t.topic_id = p_topic_id AND t.source_offset IN ('PROBE', 'TRIGGER', 'CLOCK')
        );
    END IF;
    IF v_new.is_read AND v_new.null_rows > 0 THEN
        v_problems := array_append(
            v_problems,
            format(
                '%s a NULL position (%I), and no topic reads such a row',
                CASE v_new.null_rows
                    WHEN 1 THEN '1 row has'
                    WHEN 1000 THEN '1000 rows or more have'
                    ELSE v_new.null_rows || ' rows have'
                END,
                coalesce(nullif(p_pos_column, ''), p_id_column)
            )
        );
    END IF;
    IF v_new.is_read AND v_new.null_id_pos IS NOT NULL THEN
        v_problems := array_append(
            v_problems,
            format(
                'rows have a NULL position (%I), one of them at %s, and no topic reads such a row',
                p_id_column, v_new.null_id_pos
            )
        );
    END IF;
    IF v_new.late_rows > 0 THEN
        v_problems := array_append(
            v_problems,
            format(
                '%s at or before a position that was taken, and no block has read %s: take the '
                'range again by omd_lineage.restate, then register the source again',
                CASE v_new.late_rows
                    WHEN 1 THEN '1 row came' ELSE v_new.late_rows || ' rows came'
                END,
                CASE v_new.late_rows WHEN 1 THEN 'it' ELSE 'them' END
            )
        );
    END IF;
    SELECT string_agg(upper(left(p.problem, 1)) || substr(p.problem, 2), '. ' ORDER BY p.n) || '.'
    INTO v_new.shown_problem
    FROM unnest(v_problems) WITH ORDINALITY AS p (problem, n)
    WHERE p.problem IS NOT NULL;
    -- What an error has said is the first of the problems.
    v_new.problem := coalesce(
        upper(left(v_whole, 1)) || substr(v_whole, 2)
        || substr(v_new.shown_problem, length(v_shown) + 1),
        v_new.shown_problem
    );
    PERFORM omd_lineage._save_probe(v_new);
END
$try_probe$;

COMMENT ON FUNCTION omd_lineage._try_probe IS
'Probes the source p_source, which is the topic p_topic_id (NULL: it is no topic) with the table '
'p_table_code and its columns p_pos_column and p_id_column, moves its offset, and saves what it '
'has seen. p_is_read: it reads the table, else it only looks whether the table is there. p_caller:'
' POLL; STEP; REGISTRATION, and then a table that was renamed for another is the source from now '
'on. Returns p_is_moved, whether the offset has moved; p_error, the error that prevented it; '
'p_is_cancelled, whether the statement was cancelled meanwhile, which POLL has to raise. Locks: '
'the table, ACCESS SHARE, and the offset.';
GRANT EXECUTE ON FUNCTION omd_lineage._try_probe TO omd_runner, omd_admin;
