-- This is the only place that says whose death a process may prove: a run of the same role whose
-- writers are all fenced or gone with its process, where the evidence has the same values.

CREATE OR REPLACE FUNCTION omd._may_be_proven_dead(
    p_execution_context jsonb,
    p_started_by text,
    p_evidence jsonb,
    p_keys text[]
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        coalesce(p_execution_context ->> 'writers' = 'FENCED', FALSE)
        AND coalesce(p_started_by = omd.editor(), FALSE)
        AND (
            SELECT bool_and(coalesce(p_execution_context ->> k.k = p_evidence ->> k.k, FALSE))
            FROM unnest(p_keys) AS k (k)
        );
END;

COMMENT ON FUNCTION omd._may_be_proven_dead IS
'Returns whether a run that p_started_by began with p_execution_context may be proven dead by the '
'present role: all its writers are fenced or gone with its process, and of p_keys each is there '
'and is the same in p_evidence. Locks: none.';
