-- While it waits it holds no lock, so nobody stands still. The runs of the plan say which locks are
-- taken. With these it looks again: who began in between, and what has come since, is waited for
-- and locked too, with all locks released before. To find all readers is what costs most, so it is
-- done once, under the locks.

CREATE OR REPLACE PROCEDURE omd_provenance.recall(
    p_recall_id bigint,
    p_accept text[] DEFAULT '{}',
    p_wait interval DEFAULT interval '1 minute',
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_rows_gone bigint DEFAULT NULL,
    INOUT p_rows_returned bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $recall$
DECLARE
    v_former CONSTANT text := current_setting('lock_timeout');
    v_until CONSTANT timestamptz := clock_timestamp() + coalesce(p_wait, interval '0');
    v_accept CONSTANT text[] := coalesce(p_accept, '{}');
    v_runs bigint[];
    v_modules integer[];
    v_left jsonb;
    v_is_again boolean;
    v_tries integer := 0;
BEGIN
    PERFORM omd_provenance._require_accept(v_accept);
    PERFORM omd_provenance._require_planned(p_recall_id);
    v_runs := ARRAY(
        SELECT DISTINCT i.module_instance_id
        FROM omd_provenance.recall_item AS i
        WHERE i.recall_id = p_recall_id AND i.module_instance_id IS NOT NULL
    );
    v_modules := omd_provenance._modules_concerned(v_runs);
    LOOP
        v_left := omd_provenance._wait_for_runs(v_modules, v_until);
        EXIT WHEN v_left <> '[]';
        v_is_again := FALSE;
        BEGIN
            PERFORM set_config(
                'lock_timeout',
                least(
                    2e9, greatest(1000, extract(EPOCH FROM v_until - clock_timestamp()) * 1000)
                )::integer::text,
                TRUE
            );
            PERFORM omd_provenance._lock_recall(p_recall_id, v_runs, v_modules);
            PERFORM set_config('lock_timeout', v_former, TRUE);
            v_left := omd_provenance._wait_for_runs(v_modules, '-infinity');
            -- NULL: nothing is at work; an empty array: only runs on Spark are.
            v_is_again := v_left IS NOT NULL AND (v_left <> '[]' OR clock_timestamp() < v_until);
            IF NOT v_is_again THEN
                CALL omd_provenance._act(
                    p_recall_id, v_accept, v_runs, v_modules, p_module_instance_id, p_rows_gone,
                    p_rows_returned
                );
                v_is_again := p_module_instance_id IS NULL;
            END IF;
            IF v_is_again THEN
                RAISE triggered_action_exception;
            END IF;
            RETURN;
        EXCEPTION
            WHEN triggered_action_exception THEN
                IF NOT v_is_again THEN
                    RAISE;
                END IF;
            WHEN lock_not_available OR deadlock_detected THEN
                v_left := jsonb_build_array(jsonb_build_object('problem', sqlerrm));
        END;
        v_tries := v_tries + 1;
        EXIT WHEN clock_timestamp() >= v_until AND (v_tries >= 10 OR v_left <> '[]');
    END LOOP;
    PERFORM omd.raise_error(
        'OM194',
        jsonb_build_object(
            'recall_id', p_recall_id,
            'problem', coalesce(
                (
                    SELECT string_agg(
                        coalesce(
                            w ->> 'problem',
                            format(
                                'Module Instance %s of %s%s',
                                w ->> 'module_instance_id', w ->> 'module_code',
                                ' in backend ' || (w ->> 'backend_pid')
                            )
                        ),
                        ', '
                    )
                    FROM jsonb_array_elements(v_left) AS w
                ),
                'others begin again and again'
            ),
            'runs', coalesce(v_left, '[]')
        )
    );
END
$recall$;

COMMENT ON PROCEDURE omd_provenance.recall IS
'Executes the recall p_recall_id: in this transaction all that its plan names is taken back, with '
'the rights of the caller, and what must come again is noted (omd_report.recall_returns). It waits '
'for at most p_wait, without locks, until no run of the Modules concerned executes: those of the '
'plan and all that may read its tables. p_accept: the actions of the plan that the caller consents '
'to, of BY_HAND, GIVE_UP, WITHDRAW, PENDING and UNKNOWN; and GROWTH: what has come since the plan '
'goes too. Returns p_module_instance_id, the run of the Module provenance.recall that undid it, '
'p_rows_gone and p_rows_returned. Errors: OM002: as in plan_recall; OM003, OM004, OM033, OM034: '
'the target is there no more; OM005; OM013: p_accept has another word; OM014; OM090; OM190: other '
'runs are concerned than were planned (DETAIL: come, gone), or other rows went; OM191: something '
'can''t be taken back; OM101, OM102, OM130, OM133, OM135, OM153, OM159, OM217, OM218: a room finds '
'that only in the act; OM192: p_accept does not name an action; OM193: it was executed; OM194: '
'runs in the database are still at work. Locks: the recall; interfaces, offsets, positions, '
'Modules, instances, in this order and each by id; the rows that go.';
GRANT EXECUTE ON PROCEDURE omd_provenance.recall TO omd_admin;
