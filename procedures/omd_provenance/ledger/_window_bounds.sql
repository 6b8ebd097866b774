-- A window without a start begins before all positions; one without an id begins behind those of
-- its time.

CREATE OR REPLACE FUNCTION omd_provenance._window_bounds(
    p_window omd.ledger_window
)
RETURNS TABLE (
    start_pos timestamptz,
    start_id bigint,
    end_pos timestamptz,
    end_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce((p_window).start_value, '-infinity') AS start_pos,
        coalesce(
            (p_window).start_id,
            CASE
                WHEN (p_window).start_value IS NULL THEN -9223372036854775808
                ELSE 9223372036854775807
            END
        ) AS start_id,
        coalesce((p_window).end_value, '-infinity') AS end_pos,
        coalesce((p_window).end_id, 9223372036854775807) AS end_id;
END;

COMMENT ON FUNCTION omd_provenance._window_bounds IS
'Returns the positions between which the window p_window lies: behind the first, and as far as the '
'last. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._window_bounds TO omd_reader;
