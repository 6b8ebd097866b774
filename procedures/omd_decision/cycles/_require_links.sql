-- A table may have changed since the stage was defined.

CREATE OR REPLACE FUNCTION omd_decision._require_links(
    p_definition jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $require_links$
DECLARE
    v_problem record;
BEGIN
    SELECT p.link, p.problem INTO v_problem
    FROM (
        SELECT l.name AS link, 'it has no source: the job hands over a DataFrame' AS problem
        FROM omd_decision._links(p_definition) AS l
        WHERE l.source IS NULL
        UNION ALL
        SELECT p.link, p.text FROM omd_decision._link_problems(p_definition) AS p
    ) AS p
    ORDER BY 1, 2
    LIMIT 1;
    IF FOUND THEN
        PERFORM omd.raise_error(
            'OM289', jsonb_build_object('link', v_problem.link, 'problem', v_problem.problem)
        );
    END IF;
END
$require_links$;

COMMENT ON FUNCTION omd_decision._require_links IS
'Raises an error unless every link of the stage document p_definition can be read in the '
'database. Errors: OM289. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._require_links TO omd_reader, omd_runner;
