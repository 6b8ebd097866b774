-- Who performs a run follows from the document of the stage and from its ruleset, which is there
-- before it and keeps its kind.

CREATE OR REPLACE FUNCTION omd_decision._engine_of(
    p_stage_id integer
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $engine_of$
BEGIN
    RETURN (
        SELECT
            CASE
                WHEN r.kind IN ('JDM', 'PYTHON') OR EXISTS (
                    SELECT FROM omd_decision._links(v.definition) AS l WHERE l.source IS NULL
                ) THEN 'SPARK'
                ELSE 'POSTGRES'
            END
        FROM omd_decision.stage AS s
        INNER JOIN omd_decision.stage_version AS v
            ON s.stage_id = v.stage_id AND s.version = v.version
        INNER JOIN omd_decision.ruleset AS r ON v.definition ->> 'ruleset' = r.ruleset_code
        WHERE s.stage_id = p_stage_id
    );
END
$engine_of$;

COMMENT ON FUNCTION omd_decision._engine_of IS
'Returns who performs the runs of the stage p_stage_id: SPARK when its ruleset is JDM or PYTHON or '
'a link has no source, else POSTGRES. Locks: none.';
