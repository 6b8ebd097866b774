-- Usually nothing must come again, and then nobody plans the large view that says what does.

CREATE OR REPLACE FUNCTION omd_provenance._returns_by_hand()
RETURNS TABLE (
    recall_id bigint,
    "position" integer, -- noqa: RF06
    code text,
    problem text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
ROWS 5
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $returns_by_hand$
BEGIN
    IF EXISTS (SELECT FROM omd.awaited_return AS a WHERE a.ended_datetime IS NULL) THEN
        RETURN QUERY
        SELECT r.recall_id, r.position, r.code, r.problem
        FROM omd_report.recall_returns AS r
        WHERE r.return_status = 'BY_HAND';
    END IF;
END
$returns_by_hand$;

COMMENT ON FUNCTION omd_provenance._returns_by_hand IS
'Returns what recalls took back and a person must bring again. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._returns_by_hand TO omd_reader;
