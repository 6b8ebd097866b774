-- V010: in lineage a position is named (pos, id), in parameters, answers and views alike, and
-- answers of internal routines begin with p_ too. Applied once. A view keeps what depends on it,
-- since its columns are renamed; a routine with another signature is retired, and its file creates
-- it again. A step that runs meanwhile goes on: no table that it reads is locked, and what it still
-- calls keeps its name and parameters. For the same reason the column last_ts of
-- omd_lineage.offsets stays.

ALTER TYPE omd_lineage.row_position RENAME ATTRIBUTE ts TO pos;
COMMENT ON TYPE omd_lineage.row_position IS
'A position in a base table: rows are in the order of pos, then of id.';

ALTER VIEW IF EXISTS omd_lineage.dependency_offsets RENAME COLUMN ts TO pos;
ALTER VIEW IF EXISTS omd_report.lineage_lag RENAME COLUMN last_ts TO last_pos;
ALTER VIEW IF EXISTS omd_report.lineage_gaps RENAME COLUMN previous_end_value TO previous_end_pos;
ALTER VIEW IF EXISTS omd_report.lineage_gaps RENAME COLUMN start_value TO start_pos;
ALTER VIEW IF EXISTS omd_report.lineage_errors RENAME COLUMN start_value TO start_pos;
ALTER VIEW IF EXISTS omd_report.lineage_errors RENAME COLUMN end_value TO end_pos;

DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'begin_step', 'note_error', 'plan', 'register_topic', 'set_offset'
    ] LOOP
        IF to_regproc('omd_lineage.' || v_routine) IS NOT NULL THEN
            EXECUTE format(
                'COMMENT ON ROUTINE omd_lineage.%1$I IS %3$L; '
                'ALTER ROUTINE omd_lineage.%1$I RENAME TO %2$I',
                v_routine, '_former_' || v_routine, 'Retired.'
            );
        END IF;
    END LOOP;
END
$do$;

-- A step that runs or begins meanwhile still calls these, whose text reads ts. The rest of what it
-- calls does not.
DO $do$
BEGIN
    IF to_regproc('omd_lineage.advance_offset') IS NOT NULL THEN
        CREATE OR REPLACE FUNCTION omd_lineage.advance_offset(
            p_module_instance_id bigint,
            p_plan_number bigint,
            p_rows bigint,
            p_nulls jsonb
        )
        RETURNS void
        LANGUAGE plpgsql
        VOLATILE
        PARALLEL UNSAFE
        SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
        AS $advance_offset$
        BEGIN
            PERFORM omd_lineage._advance_offset(
                p_module_instance_id, p_plan_number, p_rows, p_nulls
            );
        END
        $advance_offset$;

        CREATE OR REPLACE PROCEDURE omd_lineage.write_block(
            p_topic text,
            p_start_position omd_lineage.row_position,
            p_end_position omd_lineage.row_position,
            p_is_local boolean DEFAULT TRUE
        )
        LANGUAGE plpgsql
        SECURITY INVOKER
        SET search_path = pg_catalog, pg_temp
        AS $write_block$
        BEGIN
            CALL omd_lineage._write_block(p_topic, p_start_position, p_end_position, p_is_local);
        END
        $write_block$;

        CREATE OR REPLACE FUNCTION omd_lineage.next_block(
            p_topic_id integer,
            p_is_preview boolean,
            OUT start_value timestamptz,
            OUT start_id bigint,
            OUT end_value timestamptz,
            OUT end_id bigint,
            OUT row_count bigint,
            OUT is_full boolean,
            OUT min_ts timestamptz,
            OUT max_id bigint,
            OUT upto timestamptz,
            OUT blocker text,
            OUT waited_for text,
            OUT is_quiet boolean,
            OUT detail text
        )
        RETURNS record
        LANGUAGE plpgsql
        VOLATILE
        PARALLEL UNSAFE
        SECURITY INVOKER
        SET search_path = pg_catalog, pg_temp
        AS $next_block$
        BEGIN
            SELECT b.*
            INTO
                start_value, start_id, end_value, end_id, row_count, is_full, min_ts, max_id, upto,
                blocker, waited_for, is_quiet, detail
            FROM omd_lineage._next_block(p_topic_id, p_is_preview) AS b;
        END
        $next_block$;

        CREATE OR REPLACE FUNCTION omd_lineage.note_no_jobs(
            p_topic_id integer,
            p_upto timestamptz,
            p_is_quiet boolean,
            p_detail text
        )
        RETURNS void
        LANGUAGE plpgsql
        VOLATILE
        PARALLEL UNSAFE
        SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
        AS $note_no_jobs$
        BEGIN
            PERFORM omd_lineage._note_no_jobs(p_topic_id, p_upto, p_is_quiet, p_detail);
        END
        $note_no_jobs$;
    END IF;
END
$do$;

-- Views that read block_start and block_end follow by themselves; statements of topics are texts.
UPDATE omd_lineage.topic AS t SET
    before_sql = ARRAY(
        SELECT
            regexp_replace(
                s.statement,
                '(omd_lineage\.block_(?:start|end)\(\)\s*\)\s*\.\s*)ts\M',
                '\1pos',
                'gi'
            )
        FROM unnest(t.before_sql) WITH ORDINALITY AS s (statement, n)
        ORDER BY s.n
    ),
    after_sql = ARRAY(
        SELECT
            regexp_replace(
                s.statement,
                '(omd_lineage\.block_(?:start|end)\(\)\s*\)\s*\.\s*)ts\M',
                '\1pos',
                'gi'
            )
        FROM unnest(t.after_sql) WITH ORDINALITY AS s (statement, n)
        ORDER BY s.n
    )
WHERE array_to_string(t.before_sql || t.after_sql, ' ') ~* 'omd_lineage\.block_(start|end)';

-- Words of V004.
COMMENT ON TABLE omd_lineage.offsets IS
'How far each topic has come, sources included, and which step holds it. Administrators may write '
'hostid ('''' frees the topic), last, next, attempts and state.';
COMMENT ON COLUMN omd_lineage.offsets.attempts IS
'How often the planned block was tried, or the topic could not begin; when it is too often, the '
'topic waits for omd_lineage.retry.';
COMMENT ON COLUMN omd_lineage.offsets.last_ts IS 'The pos in last, for indexes and reports.';
COMMENT ON COLUMN omd_lineage.offsets.state IS 'How the last step ended.';
COMMENT ON COLUMN omd_lineage.offsets.hostid IS 'The holder of the topic; '''': none.';
COMMENT ON COLUMN omd_lineage.dependency.topic_id IS 'The topic that depends.';
COMMENT ON TABLE omd_lineage.seen_position IS
'The newest row of each base table, as seen at a moment. A transaction that began later writes '
'behind it, so a plan may go up to it while that transaction is open.';
