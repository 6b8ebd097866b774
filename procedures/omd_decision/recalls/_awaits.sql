-- A stage waits for what is to come again in any source of its links, buffer links too.

CREATE OR REPLACE FUNCTION omd_decision._awaits(
    p_stage_code text
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $awaits$
BEGIN
    IF NOT EXISTS (SELECT FROM omd.awaited()) THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT 'waits for ' || a.waits_for
        FROM omd_decision.awaiting_stages AS a
        INNER JOIN omd_decision.stage AS s USING (stage_id)
        WHERE s.stage_code = p_stage_code
    );
END
$awaits$;

COMMENT ON FUNCTION omd_decision._awaits IS
'Returns what a recall took back and the stage p_stage_code must not read past; NULL: nothing. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._awaits TO omd_runner;
