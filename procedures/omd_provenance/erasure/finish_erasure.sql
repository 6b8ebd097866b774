-- The keys go with the last look at them. The first call counts; another one finds nothing to do.

CREATE OR REPLACE PROCEDURE omd_provenance.finish_erasure(
    p_pending_id bigint,
    p_key_count bigint,
    p_row_count bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $finish_erasure$
DECLARE
    v_pending omd_provenance.pending_erasure;
BEGIN
    p_pending_id := omd.require_argument('p_pending_id', p_pending_id);
    p_key_count := omd.require_argument('p_key_count', p_key_count);
    p_row_count := omd.require_argument('p_row_count', p_row_count);
    -- Two may end the last two tables at once.
    PERFORM FROM omd_provenance.erasure AS e
    INNER JOIN omd_provenance.pending_erasure AS p USING (erasure_id)
    WHERE p.pending_id = p_pending_id
    FOR NO KEY UPDATE OF e;
    DELETE FROM omd_provenance.pending_erasure AS p
    WHERE p.pending_id = p_pending_id
    RETURNING p.* INTO v_pending;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE omd_provenance.erasure_item AS i SET
        outcome = CASE
            WHEN l.is_left THEN i.outcome
            WHEN v_pending.action = 'NULL' THEN 'NULLED'
            ELSE 'DELETED'
        END,
        key_count = greatest(i.key_count, p_key_count),
        row_count = coalesce(i.row_count, 0) + p_row_count,
        text = CASE WHEN l.is_left THEN i.text END
    FROM (
        SELECT EXISTS (
            SELECT FROM omd_provenance.pending_erasure AS p
            WHERE p.erasure_id = v_pending.erasure_id AND p.table_code = v_pending.table_code
        ) AS is_left
    ) AS l
    WHERE i.erasure_id = v_pending.erasure_id
        AND i.layer = 'LAKE'
        AND i.table_code = v_pending.table_code;
    UPDATE omd_provenance.erasure AS e SET erasure_status = 'DONE'
    WHERE e.erasure_id = v_pending.erasure_id
        AND NOT EXISTS (
            SELECT FROM omd_provenance.pending_erasure AS p
            WHERE p.erasure_id = e.erasure_id
        );
END
$finish_erasure$;

COMMENT ON PROCEDURE omd_provenance.finish_erasure IS
'For the driver: Says that the lake table of p_pending_id, of omd_provenance.pending_erasures, was '
'rewritten, and that its former files are gone: p_row_count rows of p_key_count keys were in it. '
'The keys are forgotten; the erasure is DONE with its last table. Errors: OM005: an argument is '
'NULL. Locks: the erasure. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_provenance.finish_erasure TO omd_admin;
