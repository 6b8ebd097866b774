-- Everything is locked, so the plan made now is what happens. Who executes and has read ends first;
-- a run whose target is elsewhere is only marked. Rows of users go with the rights of
-- the caller. Constraints that can wait are checked when all is undone: rows that refer to each
-- other go together. What is in tables of OMD goes in one part for each room, since an undo of the
-- facts is one change for all loads.

CREATE OR REPLACE PROCEDURE omd_provenance._act(
    p_recall_id bigint,
    p_accept text[],
    INOUT p_runs bigint[],
    INOUT p_modules integer[],
    INOUT p_module_instance_id bigint,
    INOUT p_rows_gone bigint,
    INOUT p_rows_returned bigint
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET row_security = off
AS $act$
DECLARE
    v_recall CONSTANT omd_provenance.recall := omd_provenance._require_planned(p_recall_id);
    v_items jsonb;
    v_runs bigint[];
    v_modules integer[];
    v_difference record;
    v_part record;
    v_done jsonb := '[]'::jsonb;
    v_message text;
    v_detail text;
BEGIN
    PERFORM omd.look_at_runs();
    BEGIN
        v_items := omd_provenance._plan(
            v_recall.target, v_recall.awaits_correction, FALSE,
            omd_provenance._planned_rows(p_recall_id)
        );
    EXCEPTION
        -- Somebody has undone the target since the plan.
        WHEN SQLSTATE 'OM091' THEN
            PERFORM omd_provenance._raise_changed(p_recall_id, '[]', to_jsonb(p_runs));
    END;
    v_runs := ARRAY(
        SELECT DISTINCT (e ->> 'module_instance_id')::bigint
        FROM jsonb_array_elements(v_items) AS e
        WHERE e ->> 'module_instance_id' IS NOT NULL
    );
    v_modules := omd_provenance._modules_concerned(v_runs);
    IF NOT v_runs <@ p_runs OR NOT v_modules <@ p_modules THEN
        p_runs := v_runs;
        p_modules := v_modules;
        p_module_instance_id := NULL;
        RETURN;
    END IF;
    v_difference := omd_provenance._plan_difference(p_recall_id, v_items);
    IF v_difference.p_come <> '[]' OR v_difference.p_gone <> '[]' THEN
        IF NOT 'GROWTH' = ANY(p_accept) OR NOT v_difference.p_come @> v_difference.p_gone THEN
            PERFORM omd_provenance._raise_changed(
                p_recall_id, v_difference.p_come, v_difference.p_gone
            );
        END IF;
        v_items := omd_provenance._plan(v_recall.target, v_recall.awaits_correction, TRUE);
        PERFORM omd_provenance._save_plan(p_recall_id, v_items);
    END IF;
    PERFORM omd_provenance._require_consent(p_recall_id, v_items, p_accept);

    p_module_instance_id := omd_provenance._begin_act(p_recall_id, v_items);
    BEGIN
        SET CONSTRAINTS ALL DEFERRED;
        PERFORM FROM omd.give_up_readers(
            omd_provenance._runs_with(v_items, 'GIVE_UP'), p_module_instance_id, p_recall_id,
            v_recall.reason
        );
        PERFORM omd.ask_for_rollback(
            omd_provenance._runs_with(v_items, 'PENDING'), p_module_instance_id, p_recall_id
        );
        FOR v_part IN
            SELECT
                r.room,
                array_agg(r.module_instance_id ORDER BY r.place) AS runs
            FROM (
                SELECT
                    i.room,
                    i.level * (
                        i.room NOT IN (
                            SELECT h.room FROM omd.room_hooks('TAKE_BACK_OWN') AS h
                        )
                    )::integer AS level,
                    i.module_instance_id,
                    min(i.position) AS place
                FROM jsonb_to_recordset(v_items) AS i (
                    room text, level integer, module_instance_id bigint, position integer,
                    action text
                )
                WHERE i.action IN ('REVERT', 'REDELIVER', 'BY_HAND', 'REQUEUE', 'UNDO')
                GROUP BY 1, 2, 3
            ) AS r
            GROUP BY r.room, r.level
            ORDER BY min(r.place)
        LOOP
            v_done := v_done || (
                SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]')
                FROM omd_provenance._take_back(
                    v_part.room, v_part.runs, p_module_instance_id, p_recall_id, v_recall.reason
                ) AS t
            );
        END LOOP;
        SET CONSTRAINTS ALL IMMEDIATE;
    EXCEPTION
        WHEN integrity_constraint_violation OR SQLSTATE 'OM112' THEN
            GET STACKED DIAGNOSTICS v_message = MESSAGE_TEXT, v_detail = PG_EXCEPTION_DETAIL;
            IF SQLSTATE = 'OM112' AND v_detail::jsonb ? 'rows_left' THEN
                PERFORM omd.raise_error(
                    'OM190',
                    v_detail::jsonb || jsonb_build_object(
                        'recall_id', p_recall_id, 'problem', v_message,
                        'come', '[]'::jsonb, 'gone', '[]'::jsonb
                    )
                );
            END IF;
            v_message := 'REFERENCED: ' || split_part(v_message, E'\n', 1);
            PERFORM omd.raise_error(
                'OM191',
                jsonb_build_object(
                    'recall_id', p_recall_id,
                    'problem', v_message,
                    'items', jsonb_build_array(
                        jsonb_build_object('module_code', v_part.room, 'problem', v_message)
                    )
                )
            );
    END;
    PERFORM omd._keep_deferred();
    SELECT e.p_rows_gone, e.p_rows_returned INTO p_rows_gone, p_rows_returned
    FROM omd_provenance._end_act(p_recall_id, p_module_instance_id, v_items, v_done) AS e;
END
$act$;

COMMENT ON PROCEDURE omd_provenance._act IS
'Makes the plan of the recall p_recall_id again and takes everything back, as p_accept allows; the '
'caller has locked the runs p_runs and the Modules p_modules. Returns the run that did it, and the '
'rows that went and came back; no run, and what must be locked, when more is concerned by now. '
'Errors: OM190, OM191, OM192. Locks: rows of the targets; Modules that read something else since '
'they were looked at.';
GRANT EXECUTE ON PROCEDURE omd_provenance._act TO omd_admin;
