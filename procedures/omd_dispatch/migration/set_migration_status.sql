-- It waits for all who write tasks of the family, and they wait for it; after it they read which
-- model is master. So a claim, a result or a new task is in one model or the other, never between.

CREATE OR REPLACE PROCEDURE omd_dispatch.set_migration_status(
    p_family_code text,
    p_migration_status integer
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $set_migration_status$
DECLARE
    v_old integer;
    v_task_id bigint;
    v_kind text;
    v_detail text;
    v_is_new_master boolean := p_migration_status >= 3;
BEGIN
    PERFORM omd.require_read_committed();
    PERFORM omd_dispatch._require_family(p_family_code);
    p_migration_status := omd.require_argument('p_migration_status', p_migration_status);
    IF p_migration_status NOT BETWEEN 0 AND 4 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_migration_status',
                'value', p_migration_status::text,
                'expected', 'from 0 to 4'
            )
        );
    END IF;
    PERFORM omd_dispatch._change_model(p_family_code, current_setting('lock_timeout'));
    v_old := omd_dispatch._migration_status(p_family_code);
    IF v_old = p_migration_status THEN
        RETURN;
    ELSIF abs(v_old - p_migration_status) > 1 THEN
        PERFORM omd.raise_error(
            'OM173',
            jsonb_build_object(
                'family_code', p_family_code,
                'status', v_old,
                'problem', format('the next one is not %s', p_migration_status)
            )
        );
    END IF;
    IF v_old + p_migration_status = 5 THEN
        SELECT c.task_id, c.kind, c.detail INTO v_task_id, v_kind, v_detail
        FROM omd_dispatch.compare_models(p_family_code) AS c
        LIMIT 1;
        IF FOUND THEN
            PERFORM omd.raise_error(
                'OM174',
                jsonb_build_object(
                    'family_code', p_family_code,
                    'task_id', v_task_id,
                    'problem', format('task %s is %s', v_task_id, concat_ws(' in ', v_kind, v_detail))
                )
            );
        END IF;
    END IF;
    INSERT INTO omd_dispatch.task_migration_status AS s (family_code, migration_status)
    VALUES (p_family_code, p_migration_status)
    ON CONFLICT (family_code) DO UPDATE SET migration_status = excluded.migration_status;
    CALL omd_dispatch._make_job_tables(p_family_code);
    CALL omd_dispatch._make_claims(p_family_code);
    -- The master that was has no mirror any more, unless it still is one.
    IF v_old BETWEEN 1 AND 3 AND NOT (v_old + p_migration_status = 3) THEN
        EXECUTE format(
            'DROP TRIGGER trg_mirror_task ON %s',
            omd_dispatch._model_table(p_family_code, v_old = 3)
        );
    END IF;
    IF v_old IN (0, 4) THEN
        PERFORM omd_dispatch._empty_model(p_family_code, v_old = 0);
        PERFORM omd_dispatch._copy_tasks(p_family_code, v_old = 0);
    ELSIF p_migration_status IN (0, 4) THEN
        PERFORM omd_dispatch._empty_model(p_family_code, p_migration_status = 0);
    END IF;
    IF p_migration_status BETWEEN 1 AND 3 AND NOT (v_old + p_migration_status = 3) THEN
        EXECUTE format(
            'CREATE TRIGGER trg_mirror_task AFTER INSERT OR UPDATE OR DELETE ON %1$s FOR EACH ROW'
            ' EXECUTE FUNCTION omd_dispatch._mirror_task(%2$L, %3$L);'
            ' COMMENT ON TRIGGER trg_mirror_task ON %1$s IS %4$L',
            omd_dispatch._model_table(p_family_code),
            p_family_code,
            CASE WHEN v_is_new_master THEN 'new' ELSE 'old' END,
            'Keeps the other model in step.'
        );
    END IF;
    PERFORM nextval('omd_dispatch.due_again');
    PERFORM omd.write_event(
        0, 0, 4, 'MIGRATION',
        format(
            '%s: migration status of family %s from %s to %s', omd.editor(), p_family_code, v_old,
            p_migration_status
        )
    );
END
$set_migration_status$;

COMMENT ON PROCEDURE omd_dispatch.set_migration_status IS
'Takes the family p_family_code one step of its migration up or down. p_migration_status: 0: the '
'old model alone; 1: the old one is master, the new one is kept in step; 2: and differences are '
'reported; 3: the new one is master, the old one is kept in step; 4: the new one alone. Errors: '
'OM005: an argument is NULL; OM013: p_migration_status; OM014: the isolation level is not read '
'committed; OM070: the family is unknown; OM173: it is no step, or another table has the name of a '
'type; OM174: the models differ: the master can''t change. Locks: the model of the family: it '
'waits, in short turns, for all who write its tasks, and then they wait for it, while it copies all'
' tasks (0 to 1, 4 to 3); claims and maintenance pass the family over. Call again when the answer '
'was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.set_migration_status TO omd_admin;
