-- V117: dispatch: a task says since when it is pending again. Applied once.
-- sql/prepare/task_columns.sql has added the column to the families that were there already.

DO $do$
DECLARE
    v_table text;
    v_part regclass;
BEGIN
    FOR v_table IN
        SELECT format('omd_dispatch.%I', n.name)
        FROM omd_dispatch.task_conf_family_desc AS f
        CROSS JOIN LATERAL (
            VALUES
            ('task_data_' || lower(f.family_code)),
            ('task_data_' || lower(f.family_code) || '_swap'),
            ('old_task_data_' || lower(f.family_code))
        ) AS n (name)
        WHERE to_regclass(format('omd_dispatch.%I', n.name)) IS NOT NULL
        ORDER BY f.family_code
    LOOP
        EXECUTE format(
            'ALTER TABLE %s ADD COLUMN IF NOT EXISTS pending_since timestamptz', v_table
        );
        FOR v_part IN
            SELECT v_table::regclass
            UNION ALL
            SELECT h.inhrelid::regclass FROM pg_inherits AS h
            WHERE h.inhparent = v_table::regclass
        LOOP
            EXECUTE format(
                'COMMENT ON COLUMN %1$s.pending_since IS'
                ' ''Since when it is pending again; NULL: since created_at.'';'
                ' GRANT SELECT (pending_since) ON %1$s TO omd_reader',
                v_part
            );
        END LOOP;
    END LOOP;
END
$do$;
