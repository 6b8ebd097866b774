-- A dead member can't tell how its tasks ended, but their instances can. Who holds one of them for
-- long does not keep the maintenance from the others.

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
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $settle_claims$
DECLARE
    v_family_code text;
    v_results jsonb;
    v_all bigint := 0::bigint;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        PERFORM omd_dispatch._hold_model(v_family_code);
        EXECUTE format(
            $sql$
            SELECT
                jsonb_agg(
                    jsonb_build_object(
                        'task_id', c.task_id,
                        'claim_token', c.claim_token,
                        'claimed_by', c.claimed_by,
                        'outcome', 'LOST',
                        'error', format('its worker %%s is gone', c.claimed_by)
                    )
                )
            FROM (
                SELECT t.task_id, t.claim_token, t.claimed_by FROM %s AS t
                WHERE t.status = 'CLAIMED'
                    AND CASE
                        WHEN $1 IS NULL THEN NOT EXISTS (
                            SELECT FROM omd_dispatch.backend_registration AS b
                            WHERE b.backend_id = t.claimed_by
                        )
                        ELSE t.claimed_by = $1
                    END
                LIMIT $2
                %s
            ) AS c
            $sql$,
            omd_dispatch._model_table(v_family_code),
            CASE WHEN p_backend_id IS NULL THEN 'FOR UPDATE SKIP LOCKED' ELSE '' END
        )
        INTO v_results
        USING p_backend_id, p_limit;
        IF v_results IS NOT NULL THEN
            v_all := v_all + cardinality(omd_dispatch._end_claims(v_family_code, NULL, v_results));
            PERFORM nextval('omd_dispatch.due_again');
        END IF;
    END LOOP;
    RETURN v_all;
END
$settle_claims$;

COMMENT ON FUNCTION omd_dispatch._settle_claims IS
'Ends the claims of the member p_backend_id, or with NULL those of members that are not '
'registered, at most p_limit of each family (NULL: all), and returns their number. A task whose '
'instance has ended ends as that did; another one is due at once, or dead when its attempts are '
'used up. Locks: the tasks and their keys; with NULL, locked tasks are passed over.';
REVOKE ALL ON FUNCTION omd_dispatch._settle_claims FROM PUBLIC;
