-- A job tells its rejects before it writes and when it ends; both are held to the same form.

CREATE OR REPLACE FUNCTION omd_decision._require_rejects(
    p_argument text,
    p_rejects jsonb,
    p_definition jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_rejects$
BEGIN
    IF jsonb_typeof(p_rejects) <> 'array' OR EXISTS (
        SELECT FROM omd.json_items(p_rejects) AS c
        WHERE NOT coalesce(
            c.item ->> 'link' IN (
                SELECT l.item ->> 'name'
                FROM omd.json_items(p_definition -> 'links') AS l
            )
            AND c.item ->> 'code' IN ('LEFTOVER', 'KEY_MISMATCH')
            AND omd.is_count(c.item -> 'count')
            AND coalesce(jsonb_typeof(c.item -> 'arrival') IN ('number', 'null'), TRUE),
            FALSE
        )
    ) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', p_argument,
                'value', left(p_rejects::text, 60),
                'expected', 'a list of {"link", "code", "count"}, of links of the stage'
            )
        );
    END IF;
END
$require_rejects$;

COMMENT ON FUNCTION omd_decision._require_rejects IS
'Refuses p_rejects, where it is no list of {"link", "code", "count"} and the first "arrival", of '
'links of the stage document p_definition; NULL is no list to refuse. p_argument: where it stands. '
'Errors: OM013. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._require_rejects TO omd_runner;
