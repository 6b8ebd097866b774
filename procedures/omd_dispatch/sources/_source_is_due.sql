-- The rule stands here, for who looks and for who then locks.

CREATE OR REPLACE FUNCTION omd_dispatch._source_is_due(
    p_source omd_dispatch.task_source,
    p_asked_at timestamptz,
    p_now timestamptz
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        (p_source).inactive_indicator = 'N'
        AND omd_dispatch._rests_until(p_source) <= p_now
        AND (
            (p_source).last_fired_at IS NULL
            OR (p_source).last_fired_at < p_asked_at
            OR (p_source).last_fired_at + (p_source).every <= p_now
        );
END;

COMMENT ON FUNCTION omd_dispatch._source_is_due IS
'Returns whether p_source is to be read at p_now: there has been news at p_asked_at, or its time '
'has come. Locks: none.';
