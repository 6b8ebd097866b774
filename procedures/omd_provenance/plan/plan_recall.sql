-- A plan changes nothing but itself, so it may be made while everything runs. It looks first at
-- what those read that have run since the last look: a view may have been replaced.

CREATE OR REPLACE PROCEDURE omd_provenance.plan_recall(
    p_module_instance_id bigint DEFAULT NULL,
    p_delivery_id bigint DEFAULT NULL,
    p_batch_instance_id bigint DEFAULT NULL,
    p_agreement_code text DEFAULT NULL,
    p_since timestamptz DEFAULT NULL,
    p_is_stale boolean DEFAULT NULL,
    p_reason text DEFAULT NULL,
    p_awaits_correction boolean DEFAULT FALSE,
    INOUT p_recall_id bigint DEFAULT NULL,
    INOUT p_items bigint DEFAULT NULL,
    INOUT p_blocked bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $plan_recall$
DECLARE
    v_target CONSTANT jsonb := omd_provenance._target(
        p_module_instance_id, p_delivery_id, p_batch_instance_id, p_agreement_code, p_since,
        p_is_stale
    );
    v_awaits_correction CONSTANT boolean := coalesce(p_awaits_correction, FALSE);
    v_items jsonb;
BEGIN
    IF coalesce(p_reason, '') !~ '\S' THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_reason'));
    END IF;
    PERFORM omd.look_at_runs();
    v_items := omd_provenance._plan(v_target, v_awaits_correction, TRUE);
    p_recall_id := omd_provenance._insert_recall(v_target, p_reason, v_awaits_correction);
    PERFORM omd_provenance._save_plan(p_recall_id, v_items);
    p_items := jsonb_array_length(v_items)::bigint;
    SELECT count(*) INTO p_blocked
    FROM jsonb_array_elements(v_items) AS e
    WHERE e ->> 'action' = 'BLOCKED';
END
$plan_recall$;

COMMENT ON PROCEDURE omd_provenance.plan_recall IS
'Plans to take something back with all that was made of it, and changes nothing else. Exactly one '
'target is given: p_module_instance_id, a run, where that of an entity means its delivery; '
'p_delivery_id; p_batch_instance_id, the runs of a Batch Instance; p_agreement_code, the '
'deliveries of an agreement from the snapshot p_since on; or p_is_stale, all runs of '
'omd_report.stale_runs. p_reason: why, for the record. p_awaits_correction: the target itself is '
'to come again, by hand, and what stands on it waits for it. Returns p_recall_id, p_items (rows of '
'the plan, omd_report.recall_items) and p_blocked (how many are in the way). Rows of users are '
'counted with the rights of the caller. Errors: OM002: a Module gets another name meanwhile; '
'OM003, OM004, OM033, OM034: there is no such target; OM005: a target, p_reason or p_since is '
'missing; OM013: more than one target; OM091: nothing of the target stands. Locks: Modules that '
'read something else since they were looked at.';
GRANT EXECUTE ON PROCEDURE omd_provenance.plan_recall TO omd_admin;
