-- Without p_backend_id these are the claims whose backend has gone; what others have locked at this
-- moment is passed over.

CREATE OR REPLACE FUNCTION omd_dispatch._lost_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lost_template$
BEGIN
    RETURN $template$
CREATE OR REPLACE FUNCTION {function}(
    p_backend_id text,
    p_limit bigint
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
{settings}
AS $lost$
DECLARE
    v_lost jsonb;
BEGIN
    IF p_backend_id IS NULL THEN
        SELECT
            jsonb_agg(
                jsonb_build_object(
                    'task_id', c.task_id,
                    'claim_token', c.claim_token,
                    'claimed_by', c.claimed_by,
                    'outcome', 'LOST',
                    'error', format('its worker %s is gone', c.claimed_by)
                )
            )
        INTO v_lost
        FROM (
            SELECT t.task_id, t.claim_token, t.claimed_by FROM {table} AS t
            WHERE t.status = 'CLAIMED' AND NOT EXISTS (
                SELECT FROM omd_dispatch.backend_registration AS b
                WHERE b.backend_id = t.claimed_by AND b.first_token < t.claim_token
            )
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        ) AS c;
    ELSE
        SELECT
            jsonb_agg(
                jsonb_build_object(
                    'task_id', c.task_id,
                    'claim_token', c.claim_token,
                    'claimed_by', c.claimed_by,
                    'outcome', 'LOST',
                    'error', format('its worker %s is gone', c.claimed_by)
                )
            )
        INTO v_lost
        FROM (
            SELECT t.task_id, t.claim_token, t.claimed_by FROM {table} AS t
            WHERE t.status = 'CLAIMED' AND t.claimed_by = p_backend_id
            LIMIT p_limit
        ) AS c;
    END IF;
    IF v_lost IS NOT NULL THEN
        PERFORM nextval('omd_dispatch.due_again');
    END IF;
    RETURN v_lost;
END
$lost$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns the claims that _settle_claims is to settle.';
$template$;
END
$lost_template$;

COMMENT ON FUNCTION omd_dispatch._lost_template IS
'Returns the template of the function of a family that finds claims without a backend. '
'Locks: none.';
