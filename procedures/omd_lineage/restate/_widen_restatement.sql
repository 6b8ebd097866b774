-- The start of a range is exclusive, and the first row belongs to it. Another step upstream may
-- hold the row until its end, so it is written only when something changes.

CREATE OR REPLACE FUNCTION omd_lineage._widen_restatement(
    p_restatement_id bigint,
    p_first omd_lineage.row_position,
    p_last omd_lineage.row_position
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $widen_restatement$
DECLARE
    v_start omd_lineage.row_position;
BEGIN
    v_start.pos := p_first.pos;
    v_start.id := greatest(p_first.id, -9223372036854775807) - 1;
    UPDATE omd_lineage.restatement AS r SET
        start_position = least(r.start_position, v_start),
        end_position = greatest(r.end_position, p_last)
    WHERE r.restatement_id = p_restatement_id
        AND v_start.pos IS NOT NULL
        AND (r.start_position > v_start OR r.end_position < p_last);
END
$widen_restatement$;

COMMENT ON FUNCTION omd_lineage._widen_restatement IS
'Widens the range p_restatement_id so that it holds the positions p_first to p_last; NULLs change '
'nothing. Locks: the range.';
GRANT EXECUTE ON FUNCTION omd_lineage._widen_restatement TO omd_runner;
