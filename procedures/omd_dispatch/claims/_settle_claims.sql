-- A dead backend can't tell how its tasks ended, but their instances can; what still executes is
-- given up, whatever its lease, so that another worker goes on at once. Who holds one of them for
-- long, as a worker that is stopped may, does not keep the maintenance from the others, nor does
-- who changes a family: the next round tries again.

CREATE OR REPLACE FUNCTION omd_dispatch._settle_claims(
    p_backend_id text,
    p_limit bigint
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $settle_claims$
DECLARE
    v_family_code text;
    v_results jsonb;
    v_all bigint := 0::bigint;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        CONTINUE WHEN v_all >= p_limit OR NOT omd_dispatch._try_hold_model(v_family_code);
        EXECUTE format(
            'SELECT omd_dispatch.%I($1, $2)', omd_dispatch._claim_routine(v_family_code, 'lost')
        )
        INTO v_results
        USING p_backend_id, p_limit - v_all;
        v_results := omd_dispatch._give_up_runs(v_results);
        IF v_results IS NOT NULL THEN
            v_all := v_all + cardinality(omd_dispatch._end_claims(v_family_code, NULL, v_results));
        END IF;
    END LOOP;
    RETURN v_all;
END
$settle_claims$;

COMMENT ON FUNCTION omd_dispatch._settle_claims IS
'Ends the claims of the backend p_backend_id, or with NULL those of backends that are not '
'registered, at most p_limit (NULL: all), and returns their number. A task whose instance has '
'ended ends as that did. What still executes is declared dead; such a task, and one that has '
'begun nothing, is due at once, or dead when its attempts are used up, or done where its type '
'leaves retries to others. Locks: the tasks and their keys; their instances, and the state of the '
'Modules; families that are being changed, instances that are locked and, with NULL, locked tasks '
'are passed over.';
